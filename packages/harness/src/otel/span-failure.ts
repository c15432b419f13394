import { SpanStatusCode, type Span } from '@opentelemetry/api';
import { HarnessError } from '../errors.js';
import { cutText } from './content-capture.js';

const MAX_MESSAGE_CHARS = 500;

/** Marks a span as failed. Only texts that are made to be shown may be given. */
export function failSpan(span: Span, type: string, message?: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({
    code: SpanStatusCode.ERROR,
    ...(message === undefined ? {} : { message: cutText(message, MAX_MESSAGE_CHARS) }),
  });
}

/** What was thrown: the harness's own errors say something that can be shown, of others only the kind is told. */
export function failSpanWith(span: Span, error: unknown): void {
  if (isCancellation(error)) {
    span.setAttribute('parley.cancelled', true);
  } else if (error instanceof HarnessError) {
    failSpan(span, error.code, error.message);
  } else {
    failSpan(span, error instanceof Error ? error.name : 'unknown');
  }
}

/** An abort that somebody asked for is no failure. */
function isCancellation(error: unknown): boolean {
  if (error instanceof HarnessError) return error.code === 'agent_cancelled';
  return error instanceof Error && error.name === 'AbortError';
}
