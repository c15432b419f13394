import { Agent, serveAgent, type Skill } from '@parley/agent';
import { createLogger } from '@parley/service-kit';
import { z } from 'zod';

const registryUrl = process.env['REGISTRY_URL'] ?? 'http://127.0.0.1:8000';
const [askerPort, counterPort] = [Number(process.env['PORT_A'] ?? 8101), Number(process.env['PORT_B'] ?? 8102)];
const logger = createLogger({ service: 'two-agents', format: 'text' });

// Something an agent can do, and what can be negotiated about it.
const count: Skill<{ text: string }> = {
  capability: 'count',
  detail: {
    version: '1.0.0',
    parameters: {
      unit: { type: 'string', enum: ['words', 'characters'], default: 'words' },
      limit: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
    },
  },
  input: z.strictObject({ text: z.string() }),
  run: ({ text }, { parameters }) => {
    const found = parameters['unit'] === 'words' ? text.split(/\s+/u).filter(Boolean).length : text.length;
    return Promise.resolve({ count: Math.min(found, Number(parameters['limit'])) });
  },
};

const counter = new Agent({
  manifest: { agentId: 'counter', endpoint: `http://127.0.0.1:${String(counterPort)}` },
  skills: [count],
  logger,
});
const asker = new Agent({
  manifest: { agentId: 'asker', endpoint: `http://127.0.0.1:${String(askerPort)}`, capabilities: ['ask'] },
  logger,
});
const served = [await serveAgent(counter, { httpPort: counterPort }), await serveAgent(asker, { httpPort: askerPort })];

try {
  // Both stay registered until they stop; a registry that is away is waited for.
  await Promise.all([counter.register(registryUrl), asker.register(registryUrl)]);

  const [partner] = await asker.discover(registryUrl, ['count@^1.0.0']);
  if (partner === undefined) throw new Error('nobody can count');

  // 5,000 is more than `counter` allows: it offers 1,000, and that is welcome.
  const result = await asker.negotiate(
    partner.endpoint,
    ['count'],
    { limit: 5_000 },
    { agentId: partner.agent_id, acceptable: { limit: { minimum: 500 } } },
  );
  if (!result.accepted) throw new Error(`no agreement: ${result.outcome}, ${result.reason.detail}`);

  const answer = await asker.invoke(result.agreement, 'count', { text: 'one two three' });
  console.log(answer.output, answer.applied); // { count: 3 } { limit: 1000, unit: 'words' }
  await result.agreement.end('completed');
} finally {
  await Promise.all([asker.stop(), counter.stop()]);
  await Promise.all(served.map((server) => server.close()));
}
