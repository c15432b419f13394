import { A2AError, InvalidAgentResponseError } from '@a2a-js/sdk/errors';
import { AppError } from '@parley/service-kit';

const INTERNAL = 'The agent could not finish the task because of an internal error.';

/** What a failed task says of why: nothing that was not meant to be told. */
export function failureText(error: unknown): string {
  return error instanceof AppError ? error.message : INTERNAL;
}

/** For an executor that ended before it published anything: whether the call itself is what failed. */
export function failureBeforeTask(error: unknown): Error | undefined {
  if (error === undefined) return new InvalidAgentResponseError('The agent ended its work without an answer.');
  return error instanceof A2AError || error instanceof AppError ? error : undefined;
}

export function stopping(): AppError {
  return new AppError('unavailable', 'The agent is stopping.', { code: 'stopping' });
}

export function tooManyTasks(): AppError {
  return new AppError('unavailable', 'The agent is at work on as many tasks as it can.', { code: 'too_many_tasks' });
}

/** From a store that knows the task as ended, whatever this process thought. */
export function isTaskEnded(error: unknown): boolean {
  return error instanceof AppError && error.code === 'task_ended';
}
