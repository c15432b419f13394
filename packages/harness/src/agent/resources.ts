import { messageOf } from '../errors.js';
import type { HarnessLogger } from '../logger.js';
import { abortable } from '../model/abortable.js';

/** Something that has to run before the agent can. */
export interface Resource {
  readonly name: string;
  /** Ends soon after `signal` is aborted. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** How long its stop is waited for, in milliseconds; absent: as long as it takes, because it has limits itself. */
  readonly stopTimeoutMs?: number;
}

/** What an agent stands on: started in order, stopped in reverse, all of it or nothing. */
export class Resources {
  readonly #started: Resource[] = [];
  #isStarted = false;

  constructor(
    private readonly resources: readonly Resource[],
    private readonly logger: HarnessLogger,
  ) {}

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /**
   * Starts what is not started; can be tried again after a failure. Not to be called twice at the same time.
   *
   * @throws the first failure or the signal's reason, after what had started was stopped in reverse order.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#isStarted) return;
    try {
      for (const resource of this.resources) {
        signal.throwIfAborted();
        await resource.start(signal);
        this.#started.push(resource);
      }
      signal.throwIfAborted();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#isStarted = true;
  }

  /** Stops everything, whatever fails: a failure is logged, so that it neither hides another one nor skips the rest. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    for (let resource = this.#started.pop(); resource !== undefined; resource = this.#started.pop()) {
      await this.#stopOne(resource);
    }
  }

  async #stopOne(resource: Resource): Promise<void> {
    try {
      await within(resource.stop(), resource.stopTimeoutMs);
    } catch (error) {
      this.logger.warn('a part of the agent did not stop well', { part: resource.name, error: messageOf(error) });
    }
  }
}

async function within(work: Promise<void>, timeoutMs: number | undefined): Promise<void> {
  if (timeoutMs === undefined) return work;
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new Error(`it did not stop within ${String(timeoutMs)} ms`));
  }, timeoutMs);
  try {
    await abortable(work, deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}
