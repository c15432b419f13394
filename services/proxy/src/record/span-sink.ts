import type { OtlpSpan } from '@parley/proxy-protocol';

/** Takes ended spans, each once. */
export interface SpanSink {
  add(span: OtlpSpan): void;
  /** Sends what is left, within the time; takes nothing after. */
  close(timeoutMs: number): Promise<void>;
}
