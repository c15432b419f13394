import { context, SpanKind, trace, type Attributes, type Context, type Span, type Tracer } from '@opentelemetry/api';
import type { ToolCallResult } from '../events.js';
import type { ModelResponse } from '../model/model-adapter.js';
import type { AgentRunResult } from '../result.js';
import type { ObservedModelRequest, ObservedRun, ObservedToolCall, RunObserver } from '../run-observer.js';
import { capturesContent, cutText, inputMessages, outputMessages, systemInstructions } from './content-capture.js';
import { failSpan, failSpanWith } from './span-failure.js';
import { usageAttributes } from './usage-attributes.js';

export interface OpenTelemetryObserverOptions {
  /** Default the tracer `parley.harness` of the provider that is registered when a span begins. */
  readonly tracer?: Tracer;
  /** `gen_ai.provider.name`. Default `openai`, whose protocol the harness's own adapter speaks. */
  readonly providerName?: string;
  /** True for a model behind which there is none. Default: the one named `offline`. */
  readonly isOffline?: (modelName: string) => boolean;
  /**
   * Puts tasks, messages, arguments and results into spans. Default false, unless the environment variable
   * OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says `true`.
   */
  readonly captureContent?: boolean;
  /** Of one content attribute. Default 16,384. */
  readonly maxContentChars?: number;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface OpenRun {
  readonly context: Context;
  readonly sessionId: string | null;
}

const MAX_NAME_CHARS = 128;

/**
 * Turns runs into spans after OpenTelemetry's conventions for generative AI: `invoke_agent`, and below it `chat` and
 * `execute_tool`. Spans of tools are active while the tool runs, so what a tool does is found below it, a subagent
 * too. Needs the API package only; without an SDK nothing is recorded and next to nothing is spent.
 */
export class OpenTelemetryObserver implements RunObserver {
  readonly #options: OpenTelemetryObserverOptions;
  readonly #capture: boolean;
  readonly #maxChars: number;
  readonly #runs = new Map<string, OpenRun>();

  constructor(options: OpenTelemetryObserverOptions = {}) {
    this.#options = options;
    this.#capture = options.captureContent ?? capturesContent(options.env ?? process.env);
    this.#maxChars = options.maxContentChars ?? 16_384;
  }

  aroundRun(run: ObservedRun, work: () => Promise<AgentRunResult>): Promise<AgentRunResult> {
    const attributes: Attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      ...this.#modelAttributes(run.modelName),
      ...agentAttributes(run),
      ...conversation(run.sessionId),
      'parley.run.intent': run.intent,
    };
    return this.#span(
      `invoke_agent ${run.agentId}`,
      SpanKind.INTERNAL,
      attributes,
      context.active(),
      async (span, own) => {
        if (run.task !== null && this.#records(span)) {
          span.setAttribute('gen_ai.input.messages', this.#messages('user', run.task));
        }
        this.#runs.set(run.runId, { context: own, sessionId: run.sessionId });
        try {
          const result = await work();
          this.#endRun(span, result);
          return result;
        } finally {
          this.#runs.delete(run.runId);
        }
      },
    );
  }

  aroundModelRequest(request: ObservedModelRequest, work: () => Promise<ModelResponse>): Promise<ModelResponse> {
    const { modelName, runId, turn } = request;
    const attributes: Attributes = {
      'gen_ai.operation.name': 'chat',
      ...this.#modelAttributes(modelName),
      ...agentAttributes(request),
      ...conversation(this.#runs.get(runId)?.sessionId),
      'parley.turn': turn,
    };
    return this.#span(`chat ${modelName}`, SpanKind.CLIENT, attributes, this.#parent(runId), async (span) => {
      if (this.#records(span)) this.#captureRequest(span, request);
      const response = await work();
      if (span.isRecording()) this.#endRequest(span, response);
      return response;
    });
  }

  aroundToolCall(call: ObservedToolCall, work: () => Promise<ToolCallResult>): Promise<ToolCallResult> {
    const { runId, toolCall, tool } = call;
    // A name that nobody offers is whatever the model wrote: it is no part of the span's name.
    const name = tool?.name ?? cutText(toolCall.name, MAX_NAME_CHARS);
    const attributes: Attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': cutText(toolCall.id, MAX_NAME_CHARS),
      'gen_ai.tool.type': 'function',
      ...agentAttributes(call),
      ...conversation(this.#runs.get(runId)?.sessionId),
      ...(tool === undefined ? {} : { 'parley.tool.effect': tool.effect }),
      'parley.turn': call.turn,
    };
    const title = tool === undefined ? 'execute_tool' : `execute_tool ${name}`;
    return this.#span(title, SpanKind.INTERNAL, attributes, this.#parent(runId), async (span) => {
      if (this.#records(span)) {
        span.setAttribute('gen_ai.tool.call.arguments', cutText(toolCall.arguments, this.#maxChars));
      }
      const result = await work();
      if (span.isRecording()) this.#endToolCall(span, result, tool === undefined);
      return result;
    });
  }

  /** The span ends with the work, whatever becomes of it, and never changes its outcome. */
  async #span<T>(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    parent: Context,
    work: (span: Span, own: Context) => Promise<T>,
  ): Promise<T> {
    const tracer = this.#options.tracer ?? trace.getTracer('parley.harness');
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    const own = trace.setSpan(parent, span);
    try {
      return await context.with(own, () => work(span, own));
    } catch (error) {
      failSpanWith(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** What is active, or the run's own span where the host has no context manager. */
  #parent(runId: string): Context {
    const active = context.active();
    return trace.getSpan(active) === undefined ? (this.#runs.get(runId)?.context ?? active) : active;
  }

  #records(span: Span): boolean {
    return this.#capture && span.isRecording();
  }

  #modelAttributes(modelName: string): Attributes {
    const offline = this.#options.isOffline?.(modelName) ?? modelName === 'offline';
    return {
      'gen_ai.request.model': modelName,
      'gen_ai.provider.name': offline ? 'parley.offline' : (this.#options.providerName ?? 'openai'),
      'parley.offline': offline,
    };
  }

  #endRun(span: Span, result: AgentRunResult): void {
    if (!span.isRecording()) return;
    span.setAttributes({
      ...usageAttributes(result.usage),
      'parley.run.status': result.status,
      'parley.run.stop_reason': result.stopReason,
      'parley.run.turns': result.turns,
      ...(result.phase === undefined ? {} : { 'parley.run.phase': result.phase }),
    });
    if (this.#capture && result.output !== null) {
      span.setAttribute('gen_ai.output.messages', this.#messages('assistant', result.output));
    }
    // The text of a failure may quote what a tool or a provider said, which is content.
    if (result.status === 'failed' || result.status === 'rejected') {
      failSpan(span, result.stopReason, this.#capture && result.error !== null ? result.error : undefined);
    }
  }

  #captureRequest(span: Span, { request }: ObservedModelRequest): void {
    span.setAttribute('gen_ai.input.messages', inputMessages(request.messages, this.#maxChars));
    const instructions = systemInstructions(request.messages, this.#maxChars);
    if (instructions !== undefined) span.setAttribute('gen_ai.system_instructions', instructions);
  }

  #endRequest(span: Span, { message, usage, finishReason }: ModelResponse): void {
    span.setAttributes({
      'gen_ai.response.finish_reasons': [finishReason],
      'parley.tool_calls': message.toolCalls.length,
      ...usageAttributes(usage),
    });
    if (this.#capture)
      span.setAttribute('gen_ai.output.messages', outputMessages(message, finishReason, this.#maxChars));
  }

  #endToolCall(span: Span, result: ToolCallResult, unknown: boolean): void {
    span.setAttributes({ 'parley.tool.control': result.control, 'parley.cancelled': result.cancelled });
    if (this.#capture) {
      span.setAttribute('gen_ai.tool.call.result', cutText(result.message.content, this.#maxChars));
    }
    if (result.cancelled) return;
    if (unknown) failSpan(span, 'unknown_tool');
    else if (result.error !== null) failSpan(span, 'tool_error', this.#capture ? result.error : undefined);
  }

  #messages(role: 'user' | 'assistant', text: string): string {
    return JSON.stringify([{ role, parts: [{ type: 'text', content: cutText(text, this.#maxChars) }] }]);
  }
}

function agentAttributes({ agentId, runId }: { readonly agentId: string; readonly runId: string }): Attributes {
  return { 'gen_ai.agent.id': agentId, 'gen_ai.agent.name': agentId, 'parley.run.id': runId };
}

function conversation(sessionId: string | null | undefined): Attributes {
  return sessionId === null || sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId };
}
