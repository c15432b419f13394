import { context, propagation } from '@opentelemetry/api';

/** `traceparent` and its companions of the span under way; empty without one. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}
