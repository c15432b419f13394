import { AppError, withSignal } from '@parley/service-kit';

/** Tasks of one context one after the other, in the order in which they came. */
export class ContextLines {
  readonly #lines = new Map<string, { tail: Promise<void>; count: number }>();
  readonly #maxWaiting: number;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * @throws the signal's reason when it is aborted before it is this one's turn.
   */
  async run<T>(context: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(context) ?? { tail: Promise.resolve(), count: 0 };
    const before = line.tail;
    const { promise: done, resolve } = Promise.withResolvers<undefined>();
    this.#lines.set(context, line);
    line.count += 1;
    // Whoever left the line is passed when those before it are through.
    line.tail = Promise.all([before, done]).then(() => undefined);
    try {
      if (line.count > 1) await withSignal(before, signal);
      return await work();
    } finally {
      line.count -= 1;
      if (line.count === 0) this.#lines.delete(context);
      resolve(undefined);
    }
  }

  /** @throws AppError `too_many_requests`, code `context_busy`. */
  checkRoom(context: string): void {
    if ((this.#lines.get(context)?.count ?? 0) <= this.#maxWaiting) return;
    throw new AppError('too_many_requests', 'Too many tasks of this context are waiting.', { code: 'context_busy' });
  }
}
