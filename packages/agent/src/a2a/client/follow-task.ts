import { AppError, type Logger } from '@parley/service-kit';
import { wait } from '../../peer/wait.js';
import { isResting, isTerminal, type A2aTask, type A2aTaskState, type A2aUpdate } from './a2a-connection.js';

export type OpenStream = () => AsyncIterable<A2aUpdate>;

export interface FollowOptions {
  readonly open: OpenStream;
  readonly reopen: (taskId: string) => AsyncIterable<A2aUpdate>;
  readonly look: (taskId: string) => Promise<A2aTask>;
  readonly toError: (error: unknown) => AppError;
  /** The task, if it is known before anything was told. */
  readonly taskId?: string;
  /** Whether a task that waits for an answer is the end; otherwise somebody else may give the answer. */
  readonly untilRest: boolean;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Before a broken stream is taken up again: what broke it is seldom over in the same moment. */
const REOPEN_AFTER_MS = 250;

/**
 * Tells what a stream tells, until the task rests or a message is the answer. A stream that ends before is taken up once
 * more; when that fails too, the task is looked at, and what is still open then is an error.
 */
export async function* followTask(options: FollowOptions): AsyncGenerator<A2aUpdate, void, undefined> {
  const seen = new Seen(options.taskId);
  const failure = yield* told(options.open, seen, options);
  if (seen.mayEnd()) return;
  const { taskId } = seen;
  // Nothing was told yet: whether the message arrived is for the caller to find out.
  if (taskId === undefined || (!seen.anything && failure !== undefined) || !isBreak(failure)) throw failure ?? broken();
  options.logger.info('The stream of a task broke off; it is taken up again', { task_id: taskId, error: failure });
  await wait(REOPEN_AFTER_MS, options.signal);
  const again = yield* told(() => options.reopen(taskId), seen, options);
  if (seen.mayEnd()) return;
  yield { kind: 'task', task: await settled(taskId, options, again) };
}

/** @returns why it stopped before its end; undefined if it simply ended. Only an abort is thrown. */
async function* told(
  open: OpenStream,
  seen: Seen,
  { toError, signal, untilRest }: FollowOptions,
): AsyncGenerator<A2aUpdate, AppError | undefined, undefined> {
  try {
    for await (const update of open()) {
      seen.note(update);
      yield update;
      // Some agents leave the stream open.
      if (seen.isOver() || (untilRest && seen.mayEnd())) return undefined;
    }
    return undefined;
  } catch (thrown) {
    const error = toError(thrown);
    if (signal.aborted) throw error;
    return error;
  }
}

/** The last resort: a stream of a task that has ended meanwhile is refused, but its outcome is kept. */
async function settled(taskId: string, options: FollowOptions, cause: AppError | undefined): Promise<A2aTask> {
  let task: A2aTask;
  try {
    task = await options.look(taskId);
  } catch (thrown) {
    const error = options.toError(thrown);
    throw options.signal.aborted ? error : broken(cause ?? error);
  }
  if (!isResting(task.state)) throw broken(cause);
  return task;
}

/** What has been told so far. */
class Seen {
  taskId: string | undefined;
  anything = false;
  #state: A2aTaskState = 'unknown';
  #isMessage = false;

  constructor(taskId: string | undefined) {
    this.taskId = taskId;
  }

  isOver(): boolean {
    return this.#isMessage || isTerminal(this.#state);
  }

  /** Whether a stream that ends now ends as it should. */
  mayEnd(): boolean {
    return this.isOver() || isResting(this.#state);
  }

  note(update: A2aUpdate): void {
    this.anything = true;
    if (update.kind === 'message') {
      this.#isMessage = true;
      return;
    }
    this.taskId = update.kind === 'task' ? update.task.taskId : update.taskId;
    if (update.kind === 'task') this.#state = update.task.state;
    else if (update.kind === 'status') this.#state = update.state;
  }
}

/** Whether the stream itself failed, rather than the agent having said no. */
function isBreak(failure: AppError | undefined): boolean {
  return failure === undefined || ['unavailable', 'bad_gateway', 'internal'].includes(failure.reason);
}

function broken(cause?: AppError): AppError {
  return new AppError('bad_gateway', 'The stream of the task broke off; what became of the task is not known.', {
    code: 'stream_broken',
    cause,
  });
}
