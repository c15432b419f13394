// A tool that tells how far it is. Progress is shown, never stored.
import { Agent, call, defineTool, modelFromEnv, say, ScriptedModel, toolHandler } from '@parley/harness';
import { z } from 'zod';

const index = defineTool({
  name: 'index_files',
  description: 'Indexes files.',
  parameters: z.strictObject({}),
  run: async (_args, { progress }) => {
    for (const completed of [10, 20, 40]) {
      await progress.report({ message: 'indexing files', data: { completed, total: 40 } });
    }
    return { indexed: 40 };
  },
});

const script = new ScriptedModel([say(null, call('c1', 'index_files', {})), say('40 files are indexed.')]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  handlers: [toolHandler(index)],
  sinks: [
    {
      emit({ payload }) {
        if (payload.kind === 'tool_progressed')
          console.log(payload.update.message, JSON.stringify(payload.update.data));
      },
    },
  ],
});

console.log((await agent.run('Index the files.')).output); // 40 files are indexed.
await agent.shutdown();
