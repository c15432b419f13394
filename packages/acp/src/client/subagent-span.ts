import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { HarnessError, type JsonObject, type SubagentResult } from '@parley/harness';
import type { AcpChild } from './acp-child.js';

export interface SubagentSpanOptions {
  readonly tracer: Tracer | undefined;
  /** Of the provider. */
  readonly name: string;
  /** Of the run. */
  readonly id: string;
}

/** A span around a run. What is asked and answered stays out of it: that is content. */
export class SubagentSpan {
  readonly #span: Span;
  readonly #context: Context;
  #endedAt: number | undefined;

  constructor({ tracer, name, id }: SubagentSpanOptions) {
    const parent = context.active();
    this.#span = (tracer ?? trace.getTracer('parley.acp')).startSpan(
      `subagent ${name}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'parley.subagent.provider': name,
          'parley.subagent.id': id,
        },
      },
      parent,
    );
    this.#context = trace.setSpan(parent, this.#span);
  }

  /** Work whose own spans are below this one. */
  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  /** What the child needs to go on with the trace; empty where nothing is traced. */
  carrier(): JsonObject {
    const carrier: Record<string, string> = {};
    propagation.inject(this.#context, carrier);
    return carrier;
  }

  /** Which child it is. */
  childIs(agentName: string | undefined, isWarm: boolean): void {
    this.#span.setAttribute('parley.subagent.warm', isWarm);
    if (agentName !== undefined) this.#span.setAttribute('gen_ai.agent.name', agentName);
  }

  /** The start failed. */
  failed(error: unknown): void {
    const type = error instanceof HarnessError ? error.code : error instanceof Error ? error.name : 'unknown';
    if (type === 'subagent_cancelled') this.#span.setAttribute('parley.cancelled', true);
    else this.#fail(type);
    this.#span.end();
  }

  /** The result is known; what becomes of the child is still to be told. */
  ended({ stopReason }: SubagentResult, foreignUpdates: number): void {
    this.#span.setAttribute('parley.subagent.stop_reason', stopReason);
    if (foreignUpdates > 0) this.#span.setAttribute('parley.subagent.foreign_updates', foreignUpdates);
    if (stopReason === 'error') this.#fail('subagent_failed');
    this.#endedAt = Date.now();
  }

  /** The child has ended, or is kept for another run. The span ends with the time of the result. */
  released(exit: AcpChild['exit']): void {
    if (exit !== undefined) this.#span.setAttribute('parley.subagent.exit', exit.signal ?? `code ${exit.code ?? '?'}`);
    this.#span.end(this.#endedAt);
  }

  #fail(type: string): void {
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }
}
