import { TaskState, type CancelTaskRequest, type Task } from '@a2a-js/sdk';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { AppError } from '@parley/service-kit';
import { checkTaskId } from './check-request.js';
import type { EngineParts } from './engine-parts.js';
import { pushItem } from './open-turn.js';
import { statusEvent, withStatus } from './task-changes.js';
import { isEndState, stateName, stateOf } from './task-states.js';
import type { Ending } from './task-turn.js';
import { isTaskEnded } from './turn-failures.js';

const TEXT = 'The task was cancelled.';

/** Has the executor stop, and answers when the task has ended. Who cancels what has ended, or twice, is told so. */
export async function cancelTask(
  parts: EngineParts,
  { id }: CancelTaskRequest,
  call: ServerCallContext,
): Promise<Task> {
  checkTaskId(id);
  const stored = await loadOwn(parts, id, call);
  const turn = parts.slots.turnOf(id);
  if (turn !== undefined && !turn.isOver) {
    if (turn.isEnding) throw notCancelable(id, 'is being ended already');
    await turn.endBy(cancelled(), parts.cancelGraceMs);
    const task = turn.task ?? stored;
    if (stateOf(task) !== TaskState.TASK_STATE_CANCELED) throw hasEnded(task);
    return task;
  }
  await turn?.over;
  const now = turn?.task ?? stored;
  if (isEndState(stateOf(now))) throw hasEnded(now);
  return await cancelIdle(parts, id, call);
}

/** Nobody works on it here: it waits for its client, or another replica has it. */
async function cancelIdle(parts: EngineParts, id: string, call: ServerCallContext): Promise<Task> {
  const { slots, store, channels, now, newId } = parts;
  const slot = await slots.claim(id).catch(() => {
    throw notCancelable(id, 'is being given another message');
  });
  try {
    const before = await loadOwn(parts, id, call);
    if (isEndState(stateOf(before))) throw hasEnded(before);
    const { contextId } = before;
    const words = { text: TEXT, at: now(), messageId: newId() };
    const event = statusEvent({ taskId: id, contextId }, TaskState.TASK_STATE_CANCELED, words);
    const task = withStatus(before, event);
    await store.save(task, call);
    channels.emit(id, { payload: { $case: 'statusUpdate', value: event } });
    channels.end(id);
    pushItem(parts, { payload: { $case: 'statusUpdate', value: event } }, task, call);
    return task;
  } catch (error) {
    throw isTaskEnded(error) ? notCancelable(id, 'has ended') : error;
  } finally {
    slot.free();
  }
}

async function loadOwn({ store }: EngineParts, id: string, call: ServerCallContext): Promise<Task> {
  const task = await store.load(id, call);
  if (task === undefined) throw new TaskNotFoundError(`Task not found: ${id}`);
  return task;
}

function cancelled(): Ending {
  return { state: TaskState.TASK_STATE_CANCELED, text: TEXT, reason: new AppError('cancelled', TEXT) };
}

function hasEnded(task: Task): Error {
  return notCancelable(task.id, `has ended (${stateName(stateOf(task))})`);
}

function notCancelable(id: string, why: string): Error {
  return new TaskNotCancelableError(`The task ${id} ${why}.`);
}
