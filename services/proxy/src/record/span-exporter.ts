import { AsyncLocalStorage } from 'node:async_hooks';
import { otlpTraces, type OtlpSpan } from '@parley/proxy-protocol';
import type { Logger } from '@parley/service-kit';
import { encodeSpan, type EncodedSpan } from './encode-span.js';
import { postTraces, type PostOutcome } from './post-traces.js';
import type { SpanSink } from './span-sink.js';
import type { TraceTarget } from './trace-target.js';

export interface SpanExporterOptions {
  readonly target: TraceTarget;
  readonly logger: Logger;
  /** From a span to the request that sends it. Default 100. */
  readonly delayMs?: number;
  /** Of one request's body. Default 1 MiB. */
  readonly maxBatchBytes?: number;
  /** Of spans that wait. Default 16 MiB; what comes on top is dropped. */
  readonly maxQueueBytes?: number;
  /** Default 8,192. */
  readonly maxQueueSpans?: number;
  /** Before a batch that was not taken is sent again; doubles up to 30 s. Default 1,000. */
  readonly retryDelayMs?: number;
}

export function createSpanExporter(options: SpanExporterOptions): SpanSink {
  return new OtlpSpanExporter(options);
}

const MAX_RETRY_DELAY_MS = 30_000;
const MAX_NAMES_SAID = 5;

/**
 * Sends spans as OTLP/HTTP JSON, each once: one request at a time, none larger than the bound, and a batch again only
 * where it was surely not taken. What cannot be sent is counted and said once.
 */
class OtlpSpanExporter implements SpanSink {
  readonly #options: Required<SpanExporterOptions>;
  readonly #frame: readonly [string, string];
  /** What runs later must not count as part of the request that happened to begin it. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  #queue: EncodedSpan[] = [];
  #queuedBytes = 0;
  #droppedCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #isClosed = false;
  readonly #abort = new AbortController();
  #wake: (() => void) | undefined;

  constructor(options: SpanExporterOptions) {
    this.#options = {
      delayMs: 100,
      maxBatchBytes: 1024 * 1024,
      maxQueueBytes: 16 * 1024 * 1024,
      maxQueueSpans: 8_192,
      retryDelayMs: 1_000,
      ...options,
    };
    this.#frame = frameOf(options.target);
  }

  add(span: OtlpSpan): void {
    if (this.#isClosed) return;
    const { maxQueueBytes, maxQueueSpans, logger } = this.#options;
    const encoded = encodeSpan(span, this.#roomBytes);
    if (encoded === undefined) {
      logger.warn('a span is too large to be sent: it is dropped', { span: span.name });
      this.#droppedCount += 1;
      return;
    }
    if (this.#queue.length >= maxQueueSpans || this.#queuedBytes + encoded.bytes > maxQueueBytes) {
      this.#drop([encoded], 'more spans came than could be sent');
      return;
    }
    this.#queue.push(encoded);
    this.#queuedBytes += encoded.bytes;
    this.#schedule();
  }

  async close(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const deadline = setTimeout(() => {
      this.#abort.abort();
      this.#wake?.();
    }, timeoutMs);
    try {
      this.#wake?.();
      this.#start();
      await this.#work;
    } finally {
      clearTimeout(deadline);
      clearTimeout(this.#timer);
    }
    if (this.#queue.length > 0) this.#drop(this.#take(this.#queue.length), 'the proxy ended');
    if (this.#droppedCount > 0) this.#options.logger.warn('spans were dropped', { count: this.#droppedCount });
  }

  /** What the spans of a request may have: the frame goes with them. */
  get #roomBytes(): number {
    return this.#options.maxBatchBytes - Buffer.byteLength(this.#frame[0]) - Buffer.byteLength(this.#frame[1]);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#work !== undefined) return;
    this.#timer = this.#inOwnContext(() => setTimeout(() => this.#start(), this.#options.delayMs));
    this.#timer.unref();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work ??= this.#inOwnContext(() => this.#run()).finally(() => {
      this.#work = undefined;
      if (this.#queue.length > 0 && !this.#isClosed) this.#schedule();
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#abort.signal.aborted) {
      if (!(await this.#send(this.#nextBatch()))) return;
    }
  }

  /** @returns False if it is no use to go on. */
  async #send(batch: readonly EncodedSpan[]): Promise<boolean> {
    const { logger, retryDelayMs } = this.#options;
    const body = this.#bodyOf(batch);
    for (let delayMs = retryDelayMs; ; delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS)) {
      const outcome = await this.#post(body);
      if (outcome.kind === 'taken') {
        if (outcome.rejected > 0) logger.warn('the collector rejected spans', { count: outcome.rejected });
        return true;
      }
      // Who is not there at the end will not be.
      const isOver =
        this.#abort.signal.aborted || (outcome.kind === 'not_taken' && this.#isClosed && !outcome.wasReached);
      if (isOver || outcome.kind === 'lost') {
        this.#drop(batch, outcome.reason);
        return !isOver;
      }
      await this.#pause(Math.min(outcome.retryAfterMs ?? delayMs, MAX_RETRY_DELAY_MS));
    }
  }

  async #post(body: Buffer): Promise<PostOutcome> {
    const { target } = this.#options;
    const request = new AbortController();
    const giveUp = (): void => request.abort();
    const timer = setTimeout(giveUp, target.timeoutMs);
    const { signal } = this.#abort;
    signal.addEventListener('abort', giveUp);
    try {
      if (signal.aborted) return { kind: 'lost', reason: 'the proxy ended' };
      return await postTraces(target, body, request.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#abort.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      if (!this.#isClosed) timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** As many as a request has room for, one at least. */
  #nextBatch(): readonly EncodedSpan[] {
    let bytes = 0;
    let count = 0;
    for (const span of this.#queue) {
      bytes += span.bytes + (count === 0 ? 0 : 1);
      if (bytes > this.#roomBytes && count > 0) break;
      count += 1;
    }
    return this.#take(count);
  }

  #take(count: number): readonly EncodedSpan[] {
    const taken = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    this.#queuedBytes -= taken.reduce((sum, { bytes }) => sum + bytes, 0);
    return taken;
  }

  #bodyOf(batch: readonly EncodedSpan[]): Buffer {
    const [before, after] = this.#frame;
    return Buffer.from(`${before}${batch.map(({ text }) => text).join(',')}${after}`);
  }

  #drop(spans: readonly EncodedSpan[], reason: string): void {
    const isFirst = this.#droppedCount === 0;
    this.#droppedCount += spans.length;
    if (!isFirst) return;
    const names = [...new Set(spans.map(({ name }) => name))].slice(0, MAX_NAMES_SAID);
    this.#options.logger.warn('spans could not be sent and are dropped: said once, their number at the end', {
      reason,
      spans: names,
    });
  }
}

/** A request's text before and after its spans. */
function frameOf({ resource }: TraceTarget): readonly [string, string] {
  const text = JSON.stringify(otlpTraces([], resource));
  const at = text.lastIndexOf(']}]}]}');
  return [text.slice(0, at), text.slice(at)];
}
