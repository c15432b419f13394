import { TaskState, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { context as otel } from '@opentelemetry/api';
import { AppError } from '@parley/service-kit';
import type { AdmittedWork } from '../agreement/agreement-gate.js';
import type { EngineParts, OpenedTurn } from './engine-parts.js';
import { AGREEMENT_EXTENSION } from '../agreement/agreement-extension.js';
import { withMessage } from './task-changes.js';
import { isEndState, stateName, stateOf } from './task-states.js';
import { TaskTurn, type Ending } from './task-turn.js';
import { TaskWriter } from './task-writer.js';
import type { TurnContextInit } from './turn-context.js';
import { isTaskEnded, stopping } from './turn-failures.js';
import type { TurnSlot } from './turn-slots.js';

/** Tasks that a message refers to and that are looked up for its executor. */
const MAX_REFERENCES = 16;

/**
 * Everything that can refuse a message, in an order in which a refusal leaves nothing behind: room, the task it is
 * for, the right to work on it, the agreement. The turn that comes back has not been started.
 */
export async function openTurn(
  parts: EngineParts,
  request: SendMessageRequest,
  message: Message,
  call: ServerCallContext,
): Promise<OpenedTurn> {
  parts.running.enter();
  let slot: TurnSlot | undefined;
  let admitted: AdmittedWork | undefined;
  try {
    if (message.taskId !== '') await loadFor(parts, message, call);
    const claimed =
      message.taskId === '' ? parts.slots.claimNew(parts.newId()) : await parts.slots.claim(message.taskId);
    slot = claimed;
    // Once more: it may have ended while this message waited for its turn.
    const task = message.taskId === '' ? undefined : await loadFor(parts, message, call);
    const referenceTasks = await loadReferences(parts, message, call);
    admitted = await parts.gate?.admit(message, call);
    if (admitted !== undefined) call.addActivatedExtension(AGREEMENT_EXTENSION);
    const init = makeInit({ parts, request, message, call, slot: claimed, task, referenceTasks, admitted });
    await savePushConfig(parts, request, init.taskId, call);
    if (parts.running.isClosed) throw stopping();
    const turn: TaskTurn = makeTurn(parts, init, () => {
      claimed.free();
      parts.running.leave();
      void dropPushConfig(parts, turn, request);
    });
    claimed.fill(turn);
    return { turn, usesAgreement: admitted !== undefined };
  } catch (error) {
    await admitted?.release();
    slot?.free();
    parts.running.leave();
    throw error;
  }
}

/** There was no task in the end of which somebody could be told. */
async function dropPushConfig(
  { push, logger }: EngineParts,
  turn: TaskTurn,
  { message, configuration }: SendMessageRequest,
): Promise<void> {
  const hadConfig = message?.taskId === '' && configuration?.taskPushNotificationConfig !== undefined;
  if (push === undefined || turn.task !== undefined || !hadConfig) return;
  try {
    // By their ids: what deleting without one means is each store's own business.
    const configs = await push.store.load(turn.taskId, turn.call);
    await Promise.all(configs.map(({ id }) => push.store.delete(turn.taskId, turn.call, id)));
  } catch (error) {
    logger.warn('a push configuration could not be deleted', { task_id: turn.taskId, error });
  }
}

async function loadFor(parts: EngineParts, message: Message, call: ServerCallContext): Promise<Task> {
  const task = await parts.store.load(message.taskId, call);
  if (task === undefined) throw new TaskNotFoundError(`Task not found: ${message.taskId}`);
  const state = stateOf(parts.slots.turnOf(task.id)?.task ?? task);
  if (isEndState(state)) {
    throw new UnsupportedOperationError(`The task ${task.id} has ended (${stateName(state)}) and takes no message.`);
  }
  if (message.contextId !== '' && message.contextId !== task.contextId) {
    throw new RequestMalformedError(`message.contextId is not the context of the task ${task.id}`);
  }
  if (parts.slots.turnOf(task.id) === undefined && isAtWork(state)) {
    // Another replica's, or left behind by a process that died: either way nothing here may begin a second one.
    throw new UnsupportedOperationError(`The task ${task.id} is being worked on.`);
  }
  return task;
}

function isAtWork(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_WORKING || state === TaskState.TASK_STATE_SUBMITTED;
}

async function loadReferences(
  parts: EngineParts,
  message: Message,
  call: ServerCallContext,
): Promise<Task[] | undefined> {
  if (message.referenceTaskIds.length === 0) return undefined;
  const ids = [...new Set(message.referenceTaskIds)].slice(0, MAX_REFERENCES);
  const tasks = await Promise.all(ids.map((id) => parts.store.load(id, call)));
  return tasks.filter((task) => task !== undefined);
}

interface InitOf {
  readonly parts: EngineParts;
  readonly request: SendMessageRequest;
  readonly message: Message;
  readonly call: ServerCallContext;
  readonly slot: TurnSlot;
  readonly task: Task | undefined;
  readonly referenceTasks: Task[] | undefined;
  readonly admitted: AdmittedWork | undefined;
}

function makeInit({ parts, request, message, call, slot, task, referenceTasks, admitted }: InitOf): TurnContextInit {
  const { taskId } = slot;
  const contextId = task?.contextId ?? (message.contextId === '' ? parts.newId() : message.contextId);
  const placed: Message = { ...message, taskId, contextId };
  return {
    request: { ...request, message: placed },
    taskId,
    contextId,
    call,
    task: task === undefined ? undefined : { ...task, history: withMessage(task.history, placed) },
    referenceTasks,
    admitted,
  };
}

async function savePushConfig(
  parts: EngineParts,
  request: SendMessageRequest,
  taskId: string,
  call: ServerCallContext,
): Promise<void> {
  const config = request.configuration?.taskPushNotificationConfig;
  if (config !== undefined) await parts.push?.store.save(taskId, call, { ...config, taskId });
}

function makeTurn(parts: EngineParts, init: TurnContextInit, onSettled: () => void): TaskTurn {
  const { store, channels, logger, executor, now, newId } = parts;
  const { call, taskId } = init;
  const writer = new TaskWriter({
    save: (task) => store.save(task, call),
    onFailure: (error) => {
      if (isTaskEnded(error)) void turn.endedElsewhere();
      else logger.warn('progress of a task could not be stored', { task_id: taskId, error });
    },
  });
  const turn: TaskTurn = new TaskTurn({
    init,
    executor,
    writer,
    deadlineMs: parts.taskDeadlineMs,
    trace: otel.active(),
    now,
    newId,
    logger,
    onEvent: (item, task, updates) => {
      channels.emit(taskId, item, updates);
      pushItem(parts, item, task, call);
    },
    onOver: () => {
      channels.end(taskId);
    },
    onSettled,
    onDeadline,
    load: () => store.load(taskId, call),
    onUnstored: (task) => {
      parts.unstored.keep(task, call);
    },
  });
  return turn;
}

/** Webhooks are told, not waited for. */
export function pushItem(
  { push, logger }: EngineParts,
  item: StreamResponse,
  task: Task | undefined,
  call: ServerCallContext,
): void {
  if (push === undefined || task === undefined) return;
  push.sender.send(item, call, task).catch((error: unknown) => {
    logger.warn('a push notification could not be sent', { task_id: task.id, error });
  });
}

function onDeadline(): Ending {
  const text = 'The task took longer than it may.';
  return { state: TaskState.TASK_STATE_FAILED, text, reason: new AppError('deadline_exceeded', text) };
}
