import { TaskState, type Task } from '@a2a-js/sdk';

/** What the store does with a task depends on this alone. */
export type TaskPhase = 'running' | 'waiting' | 'ended';

const PHASES: ReadonlyMap<TaskState, TaskPhase> = new Map([
  [TaskState.TASK_STATE_COMPLETED, 'ended'],
  [TaskState.TASK_STATE_FAILED, 'ended'],
  [TaskState.TASK_STATE_CANCELED, 'ended'],
  [TaskState.TASK_STATE_REJECTED, 'ended'],
  [TaskState.TASK_STATE_INPUT_REQUIRED, 'waiting'],
  [TaskState.TASK_STATE_AUTH_REQUIRED, 'waiting'],
]);

export function stateOf(task: Task): TaskState {
  return task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

export function phaseOf(task: Task): TaskPhase {
  return PHASES.get(stateOf(task)) ?? 'running';
}

/** When its status was recorded, in ms since the epoch; `savedAt` for a status that does not say so. */
export function updatedAt(task: Task, savedAt: number): number {
  const at = Date.parse(task.status?.timestamp ?? '');
  return Number.isNaN(at) ? savedAt : at;
}
