import { TaskState, type AgentCard } from '@a2a-js/sdk';
import { ExtendedAgentCardNotConfiguredError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, AgentExecutor, ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import { AppError, silentLogger, within, type Logger } from '@parley/service-kit';
import type { AgreementGate } from '../agreement/agreement-gate.js';
import { cancelTask } from './cancel-task.js';
import type { EngineParts, PushParts } from './engine-parts.js';
import { MessageMemory } from './message-memory.js';
import { isTaskEnded } from './turn-failures.js';
import { UnstoredEndings } from './unstored-endings.js';
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from './push-configs.js';
import { getTask, listTasks } from './read-tasks.js';
import { RunningCount } from './running-count.js';
import { sendMessage, streamMessage } from './send-message.js';
import { subscribe } from './subscribe.js';
import { TaskChannels } from './task-channels.js';
import type { Ending, TaskTurn } from './task-turn.js';
import { TurnSlots } from './turn-slots.js';

export interface TaskLimits {
  /** How long one turn of a task may take, and a stream may wait for one. Default 600,000. */
  readonly taskDeadlineMs?: number;
  /** Executors at work at the same time; beyond it a message is refused and may be sent again. Default 64. */
  readonly maxRunningTasks?: number;
  /** How long a cancelled executor may take to end by itself. Default 5,000. */
  readonly cancelGraceMs?: number;
  /** Messages to one task that may wait for an executor that is about to return. Default 4. */
  readonly maxQueuedPerTask?: number;
  /**
   * How long the same message, sent again, leads to the task that it led to before; 0: each time to a task of its own.
   * Default 600,000.
   */
  readonly rememberMessagesMs?: number;
}

export interface TaskEngineOptions {
  readonly card: () => AgentCard;
  /** Default: there is none. */
  readonly extendedCard?: (context: ServerCallContext) => AgentCard;
  readonly executor: AgentExecutor;
  /** Also asked for `failInterrupted` if it has one. */
  readonly store: TaskStore;
  readonly push?: PushParts;
  /** Default: everything is admitted, and agreements mean nothing. */
  readonly gate?: AgreementGate;
  readonly limits?: TaskLimits;
  readonly logger?: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
  /** Default: random UUIDs. */
  readonly newId?: () => string;
}

export interface TaskEngine {
  /**
   * What every binding calls. Throws A2A errors, and AppErrors `unavailable` with the codes `too_many_tasks` and
   * `stopping`, `reader_too_slow` on a stream, and what the store throws.
   */
  readonly requestHandler: A2ARequestHandler;
  /** Executors at work now. */
  readonly running: number;
  /**
   * Ends tasks as failed that a process left unfinished when it died. To be called before the first message, and with
   * a shared store now and then.
   *
   * @returns how many there were; 0 for a store that cannot tell.
   */
  recover(): Promise<number>;
  /**
   * Takes no more messages, has all executors stop, ends what still runs as failed and closes all streams.
   *
   * @param graceMs How long executors may take; after it, this resolves in any case.
   */
  close(graceMs: number): Promise<void>;
}

const REMEMBERED = { maxPerCaller: 1_000, maxCallers: 1_000 };
const REMEMBER_MS = 600_000;

/** Tasks from their first message to their end, the same for every binding. */
export function createTaskEngine(options: TaskEngineOptions): TaskEngine {
  const parts = partsOf(options);
  return {
    requestHandler: handlerOf(parts),
    get running() {
      return parts.running.count;
    },
    recover: () => recover(parts),
    close: (graceMs) => close(parts, graceMs),
  };
}

function partsOf(options: TaskEngineOptions): EngineParts {
  const { limits = {}, now = Date.now, newId = (): string => crypto.randomUUID() } = options;
  const cancelGraceMs = limits.cancelGraceMs ?? 5_000;
  return {
    card: options.card,
    extendedCard: options.extendedCard,
    executor: options.executor,
    store: options.store,
    push: options.push,
    gate: options.gate,
    taskDeadlineMs: limits.taskDeadlineMs ?? 600_000,
    cancelGraceMs,
    logger: options.logger ?? silentLogger,
    now,
    newId,
    channels: new TaskChannels(),
    slots: new TurnSlots({ maxWaiting: limits.maxQueuedPerTask ?? 4, maxWaitMs: cancelGraceMs }),
    running: new RunningCount(limits.maxRunningTasks ?? 64),
    unstored: new UnstoredEndings(),
    memory: new MessageMemory({ now, keepMs: limits.rememberMessagesMs ?? REMEMBER_MS, ...REMEMBERED }),
  };
}

function handlerOf(parts: EngineParts): A2ARequestHandler {
  return {
    getAgentCard: () => Promise.resolve(parts.card()),
    getAuthenticatedExtendedAgentCard: async (_params, call) => await Promise.resolve(extendedCard(parts, call)),
    sendMessage: (params, call) => sendMessage(parts, params, call),
    sendMessageStream: (params, call) => streamMessage(parts, params, call),
    getTask: (params, call) => getTask(parts, params, call),
    listTasks: (params, call) => listTasks(parts, params, call),
    cancelTask: (params, call) => cancelTask(parts, params, call),
    resubscribe: (params, call) => subscribe(parts, params, call),
    createTaskPushNotificationConfig: (params, call) => createPushConfig(parts, params, call),
    getTaskPushNotificationConfig: (params, call) => getPushConfig(parts, params, call),
    listTaskPushNotificationConfigs: (params, call) => listPushConfigs(parts, params, call),
    deleteTaskPushNotificationConfig: (params, call) => deletePushConfig(parts, params, call),
  };
}

function extendedCard(parts: EngineParts, call: ServerCallContext): AgentCard {
  if (parts.card().capabilities?.extendedAgentCard !== true) {
    throw new UnsupportedOperationError('The agent has no extended card.');
  }
  if (parts.extendedCard === undefined) throw new ExtendedAgentCardNotConfiguredError();
  return parts.extendedCard(call);
}

async function recover({ store, unstored }: EngineParts): Promise<number> {
  await unstored.store(store, isTaskEnded);
  const recoverable: TaskStore & { failInterrupted?: (reason: string) => Promise<number> } = store;
  return (await recoverable.failInterrupted?.('The agent restarted before the task was done.')) ?? 0;
}

async function close({ running, slots, channels }: EngineParts, graceMs: number): Promise<void> {
  running.close();
  await within(graceMs, Promise.all(slots.turns().map((turn) => endTurn(turn, graceMs))));
  channels.endAll();
}

/** The last fifth is for storing that it was ended. */
async function endTurn(turn: TaskTurn, graceMs: number): Promise<void> {
  await turn.endBy(stopped(), graceMs * 0.8);
  await turn.settled;
}

function stopped(): Ending {
  const text = 'The agent was stopped before the task was done.';
  return { state: TaskState.TASK_STATE_FAILED, text, reason: new AppError('unavailable', text, { code: 'stopping' }) };
}
