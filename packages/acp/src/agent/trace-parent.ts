import { type Context, context, propagation } from '@opentelemetry/api';

/** What is active, below the span that a request names in its metadata. Without an SDK there is none. */
export function contextOf(meta: Readonly<Record<string, unknown>> | null | undefined): Context {
  const carrier: Record<string, string> = {};
  for (const field of ['traceparent', 'tracestate', 'baggage']) {
    const value = meta?.[field];
    if (typeof value === 'string') carrier[field] = value;
  }
  return propagation.extract(context.active(), carrier);
}
