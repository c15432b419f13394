import { TaskState, taskStateToJSON, type Task } from '@a2a-js/sdk';

const ENDED: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

const KNOWN: ReadonlySet<TaskState> = new Set([
  ...ENDED,
  TaskState.TASK_STATE_UNSPECIFIED,
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);

export function stateOf(task: Pick<Task, 'status'>): TaskState {
  return task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

/** Nothing changes such a task any more. */
export function isEndState(state: TaskState): boolean {
  return ENDED.has(state);
}

/** The task waits for its client. */
export function isInterruptedState(state: TaskState): boolean {
  return state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
}

/**
 * What an executor publishes after such a state belongs to no turn: the next message begins another one. A task that
 * waits for credentials is not among them, as its executor goes on by itself once it has them.
 */
export function isTurnEnd(state: TaskState): boolean {
  return ENDED.has(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function isKnownState(state: TaskState): boolean {
  return KNOWN.has(state);
}

/** `working`, as a person reads it. */
export function stateName(state: TaskState): string {
  return taskStateToJSON(state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', ' ');
}
