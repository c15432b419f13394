import { context, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import { AppError } from '@parley/service-kit';
import type { NegotiationAttempt } from '../../registry-client/index.js';
import type { DelegateRequest } from './delegate.js';

/** Of what a model may have written. */
const MAX_NAME_CHARS = 128;
/** More were never asked; the first ones say enough. */
const MAX_ATTEMPTS = 32;

/** What a span says of a delegation: whom it went to, and who was asked in vain. */
export class DelegateSpan {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  /** Again for the next one, when this one has not begun. */
  chose({ agentId, agreementId }: { readonly agentId: string; readonly agreementId: string }): void {
    this.#span.setAttributes({ 'parley.delegate.agent_id': agentId, 'parley.agreement_id': agreementId });
  }

  attempted(attempts: readonly NegotiationAttempt[]): void {
    const shown = attempts.slice(0, MAX_ATTEMPTS).map(({ agent_id, outcome }) => `${agent_id} ${outcome}`);
    this.#span.setAttributes({ 'parley.delegate.attempt_count': attempts.length, 'parley.delegate.attempts': shown });
  }
}

/**
 * A span around work that is handed on: the parent of discovery, negotiation and the call. It ends with the work and
 * never changes what becomes of it. What a partner says stays out of it: that is content.
 */
export async function inDelegateSpan<T>(
  tracer: Tracer | undefined,
  { capability, hops, signal }: DelegateRequest,
  work: (span: DelegateSpan) => Promise<T>,
): Promise<T> {
  const wanted = capability.slice(0, MAX_NAME_CHARS).toWellFormed();
  const parent = context.active();
  const span = (tracer ?? trace.getTracer('parley.agent')).startSpan(
    `delegate ${wanted.replace(/@.*$/u, '')}`,
    { kind: SpanKind.INTERNAL, attributes: { 'parley.capability': wanted, 'parley.hops': hops } },
    parent,
  );
  try {
    const result = await context.with(trace.setSpan(parent, span), () => work(new DelegateSpan(span)));
    span.setAttribute('parley.delegate.outcome', 'done');
    return result;
  } catch (error) {
    if (signal.aborted) span.setAttribute('parley.delegate.outcome', 'cancelled');
    else fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

function fail(span: Span, error: unknown): void {
  const type = error instanceof AppError ? error.code : error instanceof Error ? error.name : 'unknown';
  span.setAttributes({ 'parley.delegate.outcome': 'failed', 'error.type': type });
  span.setStatus({ code: SpanStatusCode.ERROR });
}
