// One agent as a process: `node server.mjs ours|bare`. Prints where it listens.
import { createServer } from 'node:http';
import express from 'express';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import {
  buildAgentCard,
  createA2aServer,
  createMemoryPushStore,
  createMemoryTaskStore,
  createPushSender,
  createTaskEngine,
} from '@parley/agent';
import { createHttpServer, createLogger, createMetrics } from '@parley/service-kit';
import { freePorts } from '../../scripts/lib/free-ports.mjs';
import { BenchExecutor } from './executor.mjs';

const HOST = '127.0.0.1';
const [port] = await freePorts(1);
const cardOptions = {
  agentId: 'bench',
  name: 'Bench agent',
  description: 'Does next to nothing.',
  version: '1.0.0',
  publicUrl: `http://${HOST}:${port}`,
  skills: [
    {
      id: 'nothing',
      name: 'Nothing',
      description: 'Does next to nothing.',
      tags: ['bench'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
    },
  ],
  extensions: [],
  streaming: true,
  pushNotifications: true,
  compat: false,
};
const executor = new BenchExecutor();

/** As every agent serves, with the stores in memory. */
async function ours() {
  const logger = createLogger({ service: 'bench', format: 'json', level: 'warn' });
  const metrics = createMetrics({ service: 'bench', processMetrics: false });
  const rules = { allowPlainHttp: true, allowPrivateAddresses: true };
  const pushStore = createMemoryPushStore({ rules });
  const engine = createTaskEngine({
    card: () => server.card,
    executor,
    store: createMemoryTaskStore(),
    push: { store: pushStore, sender: createPushSender({ store: pushStore, logger, rules }) },
    limits: { maxRunningTasks: 10_000 },
    logger,
  });
  const server = createA2aServer({
    card: cardOptions,
    requestHandler: engine.requestHandler,
    logger,
    metrics,
    compat: false,
  });
  const http = createHttpServer({ routes: [], logger, metrics, extend: (app) => server.mount(app) });
  await http.listen(port, HOST);
}

/** The protocol's own library as its documentation shows it. */
async function bare() {
  const card = { ...buildAgentCard(cardOptions) };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  for (const { protocolBinding, url } of card.supportedInterfaces) {
    const { pathname } = new URL(url);
    if (protocolBinding === 'JSONRPC') app.use(pathname, jsonRpcHandler(options));
    else app.use(pathname, restHandler(options));
  }
  await new Promise((resolve) => createServer(app).listen(port, HOST, resolve));
}

process.on('SIGTERM', () => process.exit(0));
await (process.argv[2] === 'ours' ? ours() : bare());
console.log(`listening on ${port}`);
