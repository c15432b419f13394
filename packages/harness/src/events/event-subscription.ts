import type { AgentEvent } from '../events.js';

/** Events that a reader may be behind before it is cut off. */
export const DEFAULT_SUBSCRIPTION_CAPACITY = 10_000;

export interface SubscriptionOptions {
  /** Aborting it ends the reader. */
  readonly signal?: AbortSignal;
  /** Default {@link DEFAULT_SUBSCRIPTION_CAPACITY}. */
  readonly capacity?: number;
}

type Waiter = PromiseWithResolvers<IteratorResult<AgentEvent, undefined>>;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One reader of an agent's events. It never slows the agent down: its buffer is bounded, and a reader that falls
 * further behind is cut off with a RangeError after what the buffer holds.
 */
export class EventSubscription implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #capacity: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onClose: () => void;
  readonly #end = (): void => this.end();
  #buffer: AgentEvent[] = [];
  /** Index of the oldest unread event: shifting an array of thousands at every read would be slow. */
  #head = 0;
  #waiters: Waiter[] = [];
  #closed = false;
  #failure: RangeError | null = null;

  constructor(options: SubscriptionOptions & { readonly onClose: () => void }) {
    this.#capacity = options.capacity ?? DEFAULT_SUBSCRIPTION_CAPACITY;
    if (!Number.isInteger(this.#capacity) || this.#capacity < 1) {
      throw new RangeError('the capacity of an event reader must be a whole number from 1 up');
    }
    this.#signal = options.signal;
    this.#onClose = options.onClose;
    if (this.#signal?.aborted === true) this.#closed = true;
    else this.#signal?.addEventListener('abort', this.#end, { once: true });
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(event: AgentEvent): void {
    if (this.#closed) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value: event });
    } else if (this.#buffer.length - this.#head >= this.#capacity) {
      this.#failure = new RangeError(`the reader is more than ${String(this.#capacity)} events behind`);
      this.end();
    } else {
      this.#buffer.push(event);
    }
  }

  /** No more events; what is in the buffer can still be read. Idempotent. */
  end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#end);
    this.#onClose();
    for (const waiter of this.#waiters) waiter.resolve(DONE);
    this.#waiters = [];
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const event = this.#take();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#failure !== null) {
      const failure = this.#failure;
      this.#failure = null;
      return Promise.reject(failure);
    }
    if (this.#closed) return Promise.resolve(DONE);
    const waiter: Waiter = Promise.withResolvers();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#buffer = [];
    this.#head = 0;
    this.#failure = null;
    this.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): AgentEvent | undefined {
    const event = this.#buffer[this.#head];
    if (event === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#buffer.length) {
      this.#buffer = [];
      this.#head = 0;
    } else if (this.#head > this.#capacity) {
      this.#buffer = this.#buffer.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }
}
