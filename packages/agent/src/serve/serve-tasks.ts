import type { Logger, Metrics } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import { agreementExtension, createAgreementGate } from '../a2a/agreement/index.js';
import { connectA2a } from '../a2a/client/index.js';
import { createDelegate, type Delegate } from '../a2a/delegate/index.js';
import { createMemoryPushStore, createPushSender, createRedisPushStore } from '../a2a/push/index.js';
import {
  buildExtendedAgentCard,
  createA2aServer,
  type A2aCardOptions,
  type A2aServer,
  type CardSkill,
} from '../a2a/server/index.js';
import { createMemoryTaskStore, createRedisTaskStore } from '../a2a/stores/index.js';
import type { TaskExecutor } from '../a2a/task-executor.js';
import { createTaskEngine, taskExecutorAdapter, type TaskEngine } from '../a2a/tasks/index.js';
import type { Agent } from '../agent/agent.js';
import { offeredCapabilities } from '../negotiation/index.js';
import type { Skill } from '../skill.js';
import type { AgentConfig } from './agent-config.js';

/** Makes whoever does tasks and calls, given a way to hand work on and the metrics of the service. */
export type TaskExecutorFactory = (deps: { readonly delegate: Delegate; readonly metrics: Metrics }) => TaskExecutor;

export interface ServeTasksOptions {
  readonly agent: Agent;
  readonly config: AgentConfig;
  readonly skills: readonly Skill[];
  readonly executor: TaskExecutor;
  /** True if no model is behind the work. */
  readonly offline: boolean;
  readonly version: string;
  /** Base URL under which others reach the agent. */
  readonly publicUrl: string;
  /** `host:port`; undefined: A2A is not served over gRPC. */
  readonly grpcTarget: string | undefined;
  readonly redis: Redis | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The A2A side of an agent service. */
export interface ServedTasks {
  readonly server: A2aServer;
  readonly engine: TaskEngine;
  /** Hands work on in the name of the agent. */
  readonly delegate: Delegate;
  /** Ends what runs as failed and closes the streams, then gives the stores free. */
  close(graceMs: number): Promise<void>;
}

/** Puts the tasks of an agent together: stores in memory or in Redis, agreements, push, delegation, three bindings. */
export function serveTasks(options: ServeTasksOptions): ServedTasks {
  const { agent, config, redis, logger, metrics } = options;
  const allowPrivateAddresses = config.AGENT_ALLOW_PRIVATE_TARGETS;
  const store = redis === undefined ? createMemoryTaskStore() : createRedisTaskStore({ redis, agentId: agent.agentId });
  const pushRules = { allowPrivateAddresses, allowPlainHttp: allowPrivateAddresses };
  const pushStore =
    redis === undefined
      ? createMemoryPushStore({ rules: pushRules })
      : createRedisPushStore({ redis, agentId: agent.agentId, rules: pushRules });
  const sender = createPushSender({ store: pushStore, rules: pushRules, logger });
  const delegate = createDelegate({
    agent,
    registryUrl: config.AGENT_REGISTRY_URL,
    logger,
    connect: ({ endpoint }, signal) => connectA2a({ url: endpoint, signal, peer: { allowPrivateAddresses }, logger }),
  });
  const cardOptions: A2aCardOptions = {
    agentId: agent.agentId,
    name: config.AGENT_NAME,
    description: describe(agent),
    version: options.version,
    publicUrl: options.publicUrl,
    ...(options.grpcTarget === undefined ? {} : { grpcTarget: options.grpcTarget }),
    skills: options.skills.map(cardSkill),
    extensions: [
      agreementExtension({
        capabilities: offeredCapabilities(agent.manifest),
        required: config.AGENT_REQUIRE_AGREEMENT,
      }),
    ],
    offline: options.offline,
    streaming: true,
    pushNotifications: true,
    compat: config.AGENT_A2A_COMPAT,
    extendedCard: { description: extendedDescription(describe(agent), config) },
  };
  const extendedCard = buildExtendedAgentCard(cardOptions);
  const engine = createTaskEngine({
    card: () => server.card,
    ...(extendedCard === undefined ? {} : { extendedCard: () => extendedCard }),
    executor: taskExecutorAdapter(options.executor, { logger }),
    store,
    push: { store: pushStore, sender },
    gate: createAgreementGate({ keeper: agent.keeper, required: config.AGENT_REQUIRE_AGREEMENT }),
    limits: {
      taskDeadlineMs: config.AGENT_TASK_DEADLINE_SECONDS * 1_000,
      maxRunningTasks: config.AGENT_MAX_RUNNING_TASKS,
    },
    logger,
  });
  const server: A2aServer = createA2aServer({
    card: cardOptions,
    requestHandler: engine.requestHandler,
    logger,
    metrics,
  });
  const recovery = redis === undefined ? undefined : recoverNowAndThen(engine, logger);
  metrics.gauge('parley_tasks_running', 'Tasks that this agent works on.', () => engine.running);
  return {
    server,
    engine,
    delegate,
    close: async (graceMs) => {
      clearInterval(recovery);
      await engine.close(graceMs);
      server.close();
      await sender.close();
      await store.close();
    },
  };
}

function describe({ manifest }: Agent): string {
  return `Does ${manifest.capabilities.join(', ')}, under agreements that are negotiated before.`;
}

/** What a caller who means to stay wants to know beyond the card: the bounds of this instance. */
function extendedDescription(description: string, config: AgentConfig): string {
  const agreements = config.AGENT_REQUIRE_AGREEMENT
    ? 'Tasks without an agreement are refused.'
    : 'Tasks are taken with and without an agreement.';
  const { AGENT_TASK_DEADLINE_SECONDS: seconds, AGENT_MAX_RUNNING_TASKS: tasks } = config;
  return `${description} ${agreements} One turn of a task may take ${seconds} s; ${tasks} tasks are worked on at a time.`;
}

/**
 * The store may come later than the agent, and a replica that died is known as dead a while later: whoever lives then
 * tells of its tasks.
 */
const RECOVER_EVERY_MS = 2_000;

function recoverNowAndThen(engine: TaskEngine, logger: Logger): NodeJS.Timeout {
  const timer = setInterval(() => {
    engine.recover().catch((error: unknown) => {
      logger.debug('Unfinished tasks could not be looked for', { error });
    });
  }, RECOVER_EVERY_MS);
  return timer.unref();
}

/** Words, structured input, and files of text under the names that programs give them. */
const INPUT_MODES = [
  'text/plain',
  'text/*',
  'application/json',
  'application/javascript',
  'application/typescript',
  'application/octet-stream',
];

function cardSkill({ capability, detail }: Skill): CardSkill {
  const words = capability.replaceAll('_', ' ');
  return {
    id: capability,
    name: words,
    description: detail.description ?? words,
    tags: [...new Set([capability, ...words.split(' ')])],
    inputModes: INPUT_MODES,
    outputModes: ['text/markdown', 'application/json'],
  };
}
