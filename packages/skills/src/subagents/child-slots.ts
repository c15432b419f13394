import { AppError } from '@parley/service-kit';

export interface ChildSlotsOptions {
  /** Children at the same time. */
  readonly max: number;
  /** Pieces of work that wait for one to end. Default 256. */
  readonly maxWaiting?: number;
}

/** Bounds how many children there are: each of them is a process with a memory of its own. */
export class ChildSlots {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor({ max, maxWaiting = 256 }: ChildSlotsOptions) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
  }

  /** First come, first served. @throws AppError `too_many_requests` with code `subagents_busy`; the reason of `signal`. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new AppError('too_many_requests', 'Too many pieces of work wait already.', { code: 'subagents_busy' });
    }
    await this.#wait(signal);
  }

  free(): void {
    // The place goes on to the one that has waited longest, so that nobody slips in between.
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
    });
  }
}
