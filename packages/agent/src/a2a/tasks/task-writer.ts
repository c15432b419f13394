import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '@a2a-js/sdk';
import { AppError } from '@parley/service-kit';

/** How long progress may wait to be stored together with what follows. */
const LAZY_MS = 50;
const RETRY_AFTER_MS = [50, 250];

export interface TaskWriterOptions {
  readonly save: (task: Task) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Stores one task, one write after the other. Each write holds the whole task, so that those which come while another
 * is under way become one.
 */
export class TaskWriter {
  readonly #options: TaskWriterOptions;
  #latest: Task | undefined;
  #planned: Promise<void> | undefined;
  #tail: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TaskWriterOptions) {
    this.#options = options;
  }

  /** Stores soon. A failure is told to `onFailure` only: the next write holds the same and more. */
  writeLater(task: Task): void {
    this.#latest = task;
    if (this.#timer !== undefined || this.#planned !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#plan().catch(this.#options.onFailure);
    }, LAZY_MS);
  }

  /** @throws what the store threw, after some attempts. */
  async write(task: Task): Promise<void> {
    this.#latest = task;
    await this.#plan();
  }

  /** Resolves when all is stored that was given, or could not be. */
  async flush(): Promise<void> {
    if (this.#latest === undefined && this.#planned === undefined) {
      await this.#tail.catch(() => undefined);
      return;
    }
    await this.#plan().catch(this.#options.onFailure);
  }

  #plan(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#planned !== undefined) return this.#planned;
    const planned = this.#tail.then(
      () => this.#saveLatest(),
      () => this.#saveLatest(),
    );
    this.#planned = planned;
    this.#tail = planned;
    return planned;
  }

  async #saveLatest(): Promise<void> {
    this.#planned = undefined;
    const task = this.#latest;
    this.#latest = undefined;
    if (task === undefined) return;
    for (const waitMs of RETRY_AFTER_MS) {
      try {
        await this.#options.save(task);
        return;
      } catch (error) {
        if (!mayPass(error)) throw error;
      }
      await delay(waitMs);
    }
    await this.#options.save(task);
  }
}

/** What a store decided stays decided; anything else may be a short trouble. */
function mayPass(error: unknown): boolean {
  return !(error instanceof AppError) || error.reason === 'unavailable';
}
