import type { SubagentUpdate } from './subagent-types.js';

/** Updates that wait for a reader; the oldest are dropped, and their number is told instead. */
const CAPACITY = 1_000;

type Reading = IteratorResult<SubagentUpdate, undefined>;

/** What a child did, for one reader. Whoever writes never waits. */
export class UpdateChannel implements AsyncIterableIterator<SubagentUpdate, undefined> {
  readonly #waiting: ((reading: Reading) => void)[] = [];
  #buffer: SubagentUpdate[] = [];
  #head = 0;
  #dropped = 0;
  #ended = false;

  constructor(private readonly capacity = CAPACITY) {}

  push(update: SubagentUpdate): void {
    if (this.#ended) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting({ done: false, value: update });
      return;
    }
    this.#buffer.push(update);
    if (this.#buffer.length - this.#head > this.capacity) {
      this.#head += 1;
      this.#dropped += 1;
      this.#compact();
    }
  }

  /** No more updates; what waits can still be read. Idempotent. */
  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<Reading> {
    const value = this.#take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<Reading> {
    this.end();
    this.#buffer = [];
    this.#head = 0;
    this.#dropped = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): SubagentUpdate | undefined {
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      return { kind: 'dropped', count };
    }
    const value = this.#buffer[this.#head];
    if (value === undefined) return undefined;
    this.#head += 1;
    this.#compact();
    return value;
  }

  /** Shifting a long array at every step would be slow. */
  #compact(): void {
    if (this.#head <= this.capacity) return;
    this.#buffer = this.#buffer.slice(this.#head);
    this.#head = 0;
  }
}
