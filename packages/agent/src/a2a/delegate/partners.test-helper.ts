import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net';
import { AppError, silentLogger } from '@parley/service-kit';
import { freePort, onTestsEnd } from '@parley/testkit';
import { Agent } from '../../agent/index.js';
import { serveAgent, type ServedAgent } from '../../serve/serve-agent.js';
import { offeredCapabilities } from '../../negotiation/index.js';
import { agreementExtension, createAgreementGate, type AgreementGate } from '../agreement/index.js';
import { createA2aServer, type A2aServer } from '../server/index.js';
import { createMemoryTaskStore } from '../stores/index.js';
import type { TaskExecutor, TaskOutcome, TaskReporter, TaskRequest } from '../task-executor.js';
import { createTaskEngine, taskExecutorAdapter, type TaskEngine } from '../tasks/index.js';

export interface Partner {
  readonly agent: Agent;
  readonly url: string;
  readonly engine: TaskEngine;
  /** What it was asked to do. */
  readonly work: readonly TaskRequest[];
  /** Gone, as a process that was killed. */
  kill(): Promise<void>;
}

export type Work = (request: TaskRequest, reporter: TaskReporter) => Promise<TaskOutcome> | TaskOutcome;

export interface PartnerOptions {
  readonly work: Work;
  readonly registryUrl?: string;
  /** What it says of agreements; default: the truth. */
  readonly gate?: (gate: AgreementGate) => AgreementGate;
  readonly required?: boolean;
}

/** What every partner offers. */
export const CAPABILITIES = {
  code_review: {
    version: '1.2.0',
    parameters: {
      style: { type: 'string' as const, enum: ['short', 'long'], default: 'short' },
      depth: { type: 'integer' as const, minimum: 1, maximum: 3, default: 1 },
    },
  },
  translate: {},
};

/** An agent that negotiates and does tasks, served as the services are. */
export async function startPartner(agentId: string, options: PartnerOptions): Promise<Partner> {
  const work: TaskRequest[] = [];
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  const agent = new Agent({
    manifest: { agentId, endpoint: url, capabilities: CAPABILITIES },
    settings: { drainMs: 0 },
  });
  const gate = createAgreementGate({ keeper: agent.keeper, required: options.required ?? false });
  const executor: TaskExecutor = {
    execute: async (request, reporter) => {
      work.push(request);
      return options.work(request, reporter);
    },
  };
  const engine = createTaskEngine({
    card: () => server.card,
    executor: taskExecutorAdapter(executor),
    store: createMemoryTaskStore(),
    gate: options.gate?.(gate) ?? gate,
    limits: { cancelGraceMs: 100 },
  });
  const server: A2aServer = createA2aServer({
    card: {
      agentId,
      name: agentId,
      description: 'a partner',
      version: '1.0.0',
      publicUrl: url,
      skills: [],
      extensions: [agreementExtension({ capabilities: offeredCapabilities(agent.manifest) })],
      streaming: true,
      pushNotifications: false,
      compat: true,
    },
    requestHandler: engine.requestHandler,
    logger: silentLogger,
  });
  const served: ServedAgent = await serveAgent(agent, { httpPort: port, a2a: server });
  const close = async (): Promise<void> => {
    server.close();
    await Promise.all([engine.close(0), served.close(0)]);
  };
  onTestsEnd(async () => {
    await agent.stop();
    await close();
  });
  if (options.registryUrl !== undefined) await agent.register(options.registryUrl);
  return {
    agent,
    url,
    engine,
    work,
    kill: async () => {
      await served.close(0);
    },
  };
}

export interface Wire {
  readonly url: string;
  /** Breaks all connections; with `stay`, new ones go through. */
  cut(how: 'stay' | 'gone'): Promise<void>;
}

/** A wire to a server that a test can cut. */
export async function wireTo(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectSocket(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    breakAll();
    await closed;
  };
  onTestsEnd(stop);
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cut: async (how) => {
      if (how === 'gone') await stop();
      else breakAll();
    },
  };
}

/** Waits for the abort of a task's signal, as work does that hears it. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => {
      reject(new AppError('cancelled', 'stopped', { cause: signal.reason }));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
