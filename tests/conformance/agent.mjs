// The conformance agent: the serving code of every agent, with an executor that does what message ids ask for.
//   npm run conformance:agent -- --port 9999 [--grpc-port 10000] [--host 127.0.0.1] [--no-compat] [--keep-alive-ms 15000]
// Leaves something out: --no-streaming, --no-push, --no-extended-card; asks for more: --require-extension; declares what it
// does not have: --forget-extended-card.
// Ports that are not given are free ones. Needs `npm run build`.
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import {
  buildAgentCard,
  buildExtendedAgentCard,
  createA2aServer,
  createMemoryPushStore,
  createMemoryTaskStore,
  createPushSender,
  createTaskEngine,
} from '@parley/agent';
import { createGrpcServer, createHttpServer, createLogger, createMetrics } from '@parley/service-kit';
import { ECHO_EXTENSION, ScenarioExecutor } from './support/scenarios.mjs';

const GRACE_MS = 2_000;
/** Judges run on this machine. */
const PUSH_RULES = { allowPlainHttp: true, allowPrivateAddresses: true };

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'grpc-port': { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    compat: { type: 'boolean', default: true },
    streaming: { type: 'boolean', default: true },
    push: { type: 'boolean', default: true },
    'extended-card': { type: 'boolean', default: true },
    'forget-extended-card': { type: 'boolean', default: false },
    'require-extension': { type: 'boolean', default: false },
    'keep-alive-ms': { type: 'string', default: '15000' },
  },
  allowNegative: true,
});

const { host, compat } = values;
// The card names both ports, so they are known before anything listens.
const port = await portOr(values.port);
const grpcPort = await portOr(values['grpc-port']);
const logger = createLogger({ service: 'conformance', format: 'text', level: 'warn' });
const metrics = createMetrics({ service: 'conformance', processMetrics: false });

const skill = { inputModes: ['text/plain'], outputModes: ['text/plain', 'application/json'] };
const cardOptions = {
  agentId: 'conformance',
  name: 'Conformance agent',
  description: 'Does what the message id asks for.',
  version: '1.0.0',
  publicUrl: `http://${host}:${port}`,
  grpcTarget: `${host}:${grpcPort}`,
  skills: [{ id: 'obey', name: 'Obey', description: 'Does what the message id asks for.', tags: ['test'], ...skill }],
  extensions: [
    { uri: ECHO_EXTENSION, description: 'Changes nothing.', required: values['require-extension'], params: undefined },
  ],
  streaming: values.streaming,
  pushNotifications: values.push,
  ...(values['extended-card']
    ? { extendedCard: { description: 'Does what the message id asks for, for those who ask politely.' } }
    : {}),
  compat,
};

const card = buildAgentCard(cardOptions);
const extendedCard = values['forget-extended-card'] ? undefined : buildExtendedAgentCard(cardOptions);
const store = createMemoryTaskStore();
const pushStore = createMemoryPushStore({ rules: PUSH_RULES });
const pushSender = createPushSender({ store: pushStore, logger, rules: PUSH_RULES });
const engine = createTaskEngine({
  card: () => card,
  ...(extendedCard === undefined ? {} : { extendedCard: () => extendedCard }),
  executor: new ScenarioExecutor(),
  store,
  ...(values.push ? { push: { store: pushStore, sender: pushSender } } : {}),
  // The official kit gives all messages of a scenario the same id, and wants a task for each.
  limits: { rememberMessagesMs: 0 },
  logger,
});
const server = createA2aServer({
  card: cardOptions,
  requestHandler: engine.requestHandler,
  logger,
  metrics,
  keepAliveMs: Number(values['keep-alive-ms']),
  compat,
});

const http = createHttpServer({
  routes: [],
  logger,
  metrics,
  extend: (app) => {
    server.mount(app);
  },
});
const grpc = createGrpcServer({
  services: [],
  extraServices: server.grpc.services,
  interceptors: server.grpc.interceptors,
  maxMessageBytes: server.grpc.maxMessageBytes,
  logger,
  metrics,
});

process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
await http.listen(port, host);
await grpc.listen(grpcPort, host);
grpc.setServing(true);
console.log(`conformance agent listens on http ${port} and grpc ${grpcPort}`);

async function stop() {
  await engine.close(GRACE_MS);
  server.close();
  await pushSender.close();
  await Promise.all([http.close(GRACE_MS), grpc.close(GRACE_MS)]);
}

/** @returns the port that is named, or one that is free now. */
async function portOr(given) {
  if (given !== '0') return Number(given);
  const probe = createServer();
  await new Promise((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, host, resolve);
  });
  const { port: free } = probe.address();
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return free;
}
