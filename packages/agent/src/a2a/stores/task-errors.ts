import { AppError } from '@parley/service-kit';

export function taskEnded(): AppError {
  return new AppError('conflict', 'The task has ended and cannot be changed any more.', { code: 'task_ended' });
}

export function taskChanged(): AppError {
  return new AppError('conflict', 'The task is being changed by others; try again.', { code: 'task_changed' });
}

export function taskStoreFull(): AppError {
  return new AppError('too_many_requests', 'There are too many unfinished tasks.', {
    code: 'task_store_full',
    retryAfterSeconds: 5,
  });
}
