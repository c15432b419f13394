import { setTimeout as delay } from 'node:timers/promises';
import type { A2aAnswer, A2aConnection, A2aTask } from '@parley/agent';
import { isEnded, isSettled } from './states.js';

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 3_000;
const MAX_LOST_ANSWERS = 3;

export interface PollOptions {
  readonly signal: AbortSignal;
  /** True if the message answers what the task asked for: it may take a moment until the task has noticed. */
  readonly isFollowUp: boolean;
  /** Resolves after so long, rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal });

/** Asks for the state of a task, less and less often, until it is settled. Gives what is new. */
export async function* pollTask(
  connection: Pick<A2aConnection, 'getTask'>,
  first: A2aTask,
  { signal, isFollowUp, wait = waitFor }: PollOptions,
): AsyncGenerator<A2aAnswer> {
  let task = first;
  let shown: string | undefined;
  let isBelieved = !isFollowUp;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS)) {
    const written = JSON.stringify(task);
    if (written !== shown) yield { kind: 'task', task };
    shown = written;
    if (isEnded(task.state) || (isSettled(task.state) && isBelieved)) return;
    isBelieved = true;
    await wait(waitMs, signal);
    task = await getPatiently(connection, task.taskId, signal, wait);
  }
}

/** Asking again does no harm, so a lost answer is not the end. */
async function getPatiently(
  connection: Pick<A2aConnection, 'getTask'>,
  taskId: string,
  signal: AbortSignal,
  wait: typeof waitFor,
): Promise<A2aTask> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await connection.getTask(taskId, { signal, historyLength: 0 });
    } catch (error) {
      const { reason } = error as { readonly reason?: unknown };
      const isPassing = reason === 'unavailable' || reason === 'deadline_exceeded';
      if (!isPassing || lost === MAX_LOST_ANSWERS || signal.aborted) throw error;
      await wait(MAX_WAIT_MS, signal);
    }
  }
}
