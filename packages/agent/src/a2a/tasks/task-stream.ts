import type { StreamResponse } from '@a2a-js/sdk';
import { AppError } from '@parley/service-kit';

/** A reader this far behind is let go: it may come back and begin with a snapshot. */
const MAX_UNREAD = 10_000;

type Shape = (item: StreamResponse) => StreamResponse;
type Waiting = (result: IteratorResult<StreamResponse, void>) => void;

/**
 * What one reader of a task is sent.
 *
 * Not a generator function: `return()` of one that waits for its next event is only heard after that event, and a
 * client that left a quiet task would keep its place until then.
 */
export class TaskStream implements AsyncGenerator<StreamResponse, void, undefined> {
  readonly #open: (stream: TaskStream) => Promise<void>;
  readonly #shape: Shape;
  readonly #unread: StreamResponse[] = [];
  #opening: Promise<void> | undefined;
  #waiting: { readonly resolve: Waiting; readonly reject: (error: unknown) => void } | undefined;
  #hasBegun = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #whenClosed: (() => void)[] = [];

  /**
   * @param open Called by the first `next()`; puts the reader where it is sent something, or throws.
   * @param shape What the reader wants of an item. Default: all of it.
   */
  constructor(open: (stream: TaskStream) => Promise<void>, shape: Shape = (item) => item) {
    this.#open = open;
    this.#shape = shape;
  }

  /** True: nothing that is sent from now on is read. */
  get isClosed(): boolean {
    return this.#ended;
  }

  /** Something was sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get unreadCount(): number {
    return this.#unread.length;
  }

  /** Called once, when the stream has ended, failed or was left. */
  onClosed(listener: () => void): void {
    if (this.#ended) listener();
    else this.#whenClosed.push(listener);
  }

  send(told: StreamResponse): void {
    if (this.#ended) return;
    this.#hasBegun = true;
    const item = this.#shape(told);
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: item });
    } else if (this.#unread.length < MAX_UNREAD) {
      this.#unread.push(item);
    } else {
      this.#unread.length = 0;
      this.fail(new AppError('unavailable', 'The stream was read too slowly.', { code: 'reader_too_slow' }));
    }
  }

  /** What was sent is still read. */
  end(): void {
    if (!this.#close()) return;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = undefined;
  }

  /** What was sent is still read, then the error. */
  fail(error: unknown): void {
    if (!this.#close()) return;
    if (this.#waiting === undefined) this.#failure = { error };
    else this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  async next(): Promise<IteratorResult<StreamResponse, void>> {
    if (!this.#ended) await (this.#opening ??= this.#openOrEnd());
    const item = this.#unread.shift();
    if (item !== undefined) return { done: false, value: item };
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
    if (this.#ended) return { done: true, value: undefined };
    return await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<StreamResponse, void>> {
    this.end();
    this.#unread.length = 0;
    this.#failure = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  async throw(error: unknown): Promise<IteratorResult<StreamResponse, void>> {
    await this.return();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #openOrEnd(): Promise<void> {
    try {
      await this.#open(this);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  #close(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    for (const listener of this.#whenClosed.splice(0)) listener();
    return true;
  }
}
