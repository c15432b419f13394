// An agent as a process that reviews code as it is told to: it asks STAGE_URL at each moment of a task that its text
// names after "hold:", and goes on when that answers. Started by stage.ts.
import { createAgentService, readAgentConfig } from '@parley/agent';
import { createLogger, runService } from '@parley/service-kit';
import { z } from 'zod';

const stageUrl = process.env.STAGE_URL;
const OUTPUT = { findings: [], verdict: 'approve', summary: 'Nothing was found in this file. It is short and clear.' };

const review = {
  capability: 'code_review',
  detail: { version: '1.0.0', description: 'Reviews as it is told.' },
  input: z.unknown(),
  run: async () => OUTPUT,
};

function heldAt(parts) {
  const texts = parts.map((part) => (part.kind === 'bytes' ? Buffer.from(part.bytes).toString() : (part.text ?? '')));
  return /hold:(\w+)\/([\w-]+)/u.exec(texts.join('\n')) ?? [];
}

const executor = {
  execute: async ({ parts, signal, taskId }, reporter) => {
    const [, wanted, label = 'none'] = heldAt(parts);
    const moment = async (name) => {
      signal.throwIfAborted();
      const query = new URLSearchParams({ agent: config.AGENT_ID, moment: name, label, task: taskId });
      if (name === 'begun' || name === wanted) await fetch(`${stageUrl}/?${query}`, { signal });
    };
    await moment('begun');
    await moment('submitted');
    reporter.working('reading');
    await moment('working');
    reporter.artifact({
      artifactId: 'report',
      name: 'code_review',
      parts: [
        { kind: 'text', text: 'Nothing was found in this file. It is short and clear.', mediaType: 'text/markdown' },
        { kind: 'data', data: OUTPUT, mediaType: 'application/json' },
      ],
    });
    await moment('artifact');
    reporter.working('tidying up');
    await moment('ending');
    return { state: 'completed', text: 'reviewed' };
  },
};

const config = readAgentConfig({ agentId: 'agent_S', name: 'Scripted', httpPort: 0, grpcPort: 0 }, process.env);

runService(config.AGENT_ID, () => {
  const logger = createLogger({
    service: config.AGENT_ID,
    format: config.AGENT_LOG_FORMAT,
    level: config.AGENT_LOG_LEVEL,
  });
  return createAgentService({ config, logger, skills: [review], tasks: () => executor });
});
