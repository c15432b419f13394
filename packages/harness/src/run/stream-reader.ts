import { reasonOf } from '../model/abortable.js';
import type { ModelStreamEvent } from '../model/model-adapter.js';
import { ModelTimeoutError } from '../model/model-errors.js';

export interface StreamLimits {
  /** From the request to its end, in milliseconds. */
  readonly totalMs: number;
  /** The longest wait for one event, in milliseconds. */
  readonly idleMs: number;
}

/**
 * Reads a model's stream so that the reader is never stuck with it: an abort of the run or a time-out ends the wait
 * at once, also if the adapter does not listen to its signal. Call `close` at the end.
 */
export class StreamReader {
  readonly #controller = new AbortController();
  readonly #runSignal: AbortSignal;
  readonly #iterator: AsyncIterator<ModelStreamEvent>;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#break(reasonOf(this.#runSignal));
  /** Set while somebody waits for an event. */
  #interrupt: ((reason: Error) => void) | null = null;
  #isBroken = false;

  constructor(
    open: (signal: AbortSignal) => AsyncIterable<ModelStreamEvent>,
    signal: AbortSignal,
    limits: StreamLimits,
  ) {
    signal.throwIfAborted();
    this.#runSignal = signal;
    this.#iterator = open(this.#controller.signal)[Symbol.asyncIterator]();
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#idle = setTimeout(() => this.#onSilence(limits.idleMs), limits.idleMs);
    this.#total = setTimeout(() => {
      this.#break(new ModelTimeoutError(`the model took longer than ${String(limits.totalMs)} ms`));
    }, limits.totalMs);
  }

  /** @throws what the stream throws, the run's abort reason, or ModelTimeoutError. */
  async next(): Promise<IteratorResult<ModelStreamEvent, unknown>> {
    if (this.#isBroken) throw reasonOf(this.#controller.signal);
    // A promise for each wait: one for the whole stream would collect a reaction with every event.
    const interruption = Promise.withResolvers<never>();
    this.#interrupt = interruption.reject;
    this.#idle.refresh();
    try {
      return await Promise.race([this.#iterator.next(), interruption.promise]);
    } finally {
      this.#interrupt = null;
    }
  }

  /** Ends the stream if it has not ended, without waiting for it: it may never answer. */
  close(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    this.#runSignal.removeEventListener('abort', this.#onAbort);
    this.#iterator.return?.().catch(() => undefined);
  }

  #onSilence(idleMs: number): void {
    // Slow sinks are no silence of the model: the clock counts only while an event is waited for, and the next wait
    // winds it up again.
    if (this.#interrupt === null) return;
    this.#break(new ModelTimeoutError(`the model was silent for ${String(idleMs)} ms`));
  }

  #break(reason: Error): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#controller.abort(reason);
    this.#interrupt?.(reason);
  }
}
