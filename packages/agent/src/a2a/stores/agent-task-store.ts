import type { TaskStore } from '@a2a-js/sdk/server';

/**
 * Where tasks are kept. What is saved and what is loaded are copies: changing one changes nothing that is stored.
 *
 * `save` throws an AppError: `task_ended` (conflict) when the task has ended meanwhile, however the writer sees it;
 * `task_store_full` (too_many_requests) for a new task when nothing may be forgotten for it; `store_unavailable`.
 * Changes of a task since it was loaded are joined with those that somebody else saved in between.
 */
export interface AgentTaskStore extends TaskStore {
  /**
   * Ends tasks as failed that a process left submitted or working when it died; `reason` becomes the message of each.
   * Tasks that wait for input stay. To be called at the start, and now and then when there are replicas.
   * @returns how many there were
   */
  failInterrupted(reason: string): Promise<number>;
  /** Ends what the store does in the background. What it was given (a connection) stays open. */
  close(): Promise<void>;
}

export interface TaskStoreBounds {
  /** Tasks kept at once: beyond it ended ones are forgotten, then waiting ones, oldest first; running ones never. */
  readonly maxTasks?: number;
  /** How long a task can be read after its end. */
  readonly keepEndedMs?: number;
  /** How long a task waits for input or for authentication before it is forgotten. Default 604,800,000. */
  readonly keepWaitingMs?: number;
}

export const DEFAULT_KEEP_WAITING_MS = 604_800_000;
