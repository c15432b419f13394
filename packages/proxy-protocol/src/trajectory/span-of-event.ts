import type { Json, JsonObject } from '../json/index.js';
import { GEN_AI, PROXY } from './attribute-names.js';
import { cutText } from './cut-text.js';
import { completionOf, promptOf, resultText, textOf } from './event-content.js';
import { eventKind } from './event-kind.js';
import { unixNanos } from './event-time.js';
import type { OtlpSpan } from './otlp-types.js';
import { otlpAttribute } from './otlp-value.js';
import { instructions, outputMessages, userMessages } from './span-messages.js';
import type { TrajectoryEvent } from './trajectory-event.js';

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
}

export interface SpanOptions {
  /** Messages, arguments, results and texts of errors. Default true. */
  readonly content?: boolean;
  /** Of one text, in UTF-8; longer ones are cut between characters. Default 32,768. */
  readonly maxTextBytes?: number;
  /** Put on every span: the agent, the conversation, the task. */
  readonly common?: JsonObject;
}

export const DEFAULT_MAX_TEXT_BYTES = 32_768;

/** Already cut, from inside: cut again they would be no JSON. */
const CUT_INSIDE: ReadonlySet<string> = new Set([
  GEN_AI.inputMessages,
  GEN_AI.outputMessages,
  GEN_AI.systemInstructions,
]);

const MAX_NAME_BYTES = 128;
const MAX_STATUS_BYTES = 1_024;

/**
 * An event as a span: `invoke_agent {agent}` for a turn, `chat {model}` for a recorded call, `execute_tool {tool}` for
 * an action.
 */
export function spanOfEvent(event: TrajectoryEvent, ids: SpanIds, options: SpanOptions = {}): OtlpSpan {
  const maxTextBytes = options.maxTextBytes ?? DEFAULT_MAX_TEXT_BYTES;
  const content = options.content ?? true;
  const { [GEN_AI.prompt]: _prompt, [GEN_AI.completion]: _completion, ...told } = event.attributes;
  const attributes: Record<string, Json> = {
    ...options.common,
    ...told,
    ...ofKind(event, content ? maxTextBytes : undefined),
  };
  const failed = event.status.status_code === 'ERROR';
  if (failed) attributes[PROXY.errorType] ??= '_OTHER';
  const error = content && failed ? completionOf(event)['error'] : undefined;
  return {
    traceId: ids.traceId,
    spanId: ids.spanId,
    ...(ids.parentSpanId === undefined ? {} : { parentSpanId: ids.parentSpanId }),
    name: spanName(event, options.common),
    kind: eventKind(event) === 'chat' ? 3 : 1,
    startTimeUnixNano: unixNanos(event.start_time).toString(),
    endTimeUnixNano: endOf(unixNanos(event.start_time), unixNanos(event.end_time)).toString(),
    attributes: Object.entries(attributes)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => otlpAttribute(key, value, CUT_INSIDE.has(key) ? Number.POSITIVE_INFINITY : maxTextBytes)),
    status: {
      code: failed ? 2 : 0,
      ...(error === undefined ? {} : { message: cutText(textOf(error), Math.min(MAX_STATUS_BYTES, maxTextBytes)) }),
    },
  };
}

/** The span of no length below which everything of a turn hangs, so that a turn is seen while it runs. */
export function turnOpenedSpan(ids: SpanIds, atNanos: bigint, common: JsonObject): OtlpSpan {
  return {
    traceId: ids.traceId,
    spanId: ids.spanId,
    ...(ids.parentSpanId === undefined ? {} : { parentSpanId: ids.parentSpanId }),
    name: 'turn opened',
    kind: 1,
    startTimeUnixNano: atNanos.toString(),
    endTimeUnixNano: endOf(atNanos, atNanos).toString(),
    attributes: Object.entries(common).map(([key, value]) => otlpAttribute(key, value, DEFAULT_MAX_TEXT_BYTES)),
    status: { code: 0 },
  };
}

/** At least a microsecond after the start: Jaeger takes a shorter span for a mistake, and warns of it. */
function endOf(startNanos: bigint, endNanos: bigint): bigint {
  const earliest = startNanos + 1_000n;
  return endNanos < earliest ? earliest : endNanos;
}

function spanName(event: TrajectoryEvent, common: JsonObject | undefined): string {
  const { [GEN_AI.agentName]: agent = common?.[GEN_AI.agentName], [GEN_AI.requestModel]: model } = event.attributes;
  switch (eventKind(event)) {
    case 'turn':
      return named('invoke_agent', agent);
    case 'chat':
      return named('chat', model);
    case 'action':
      return named('execute_tool', event.name);
    default:
      return cutText(event.name, MAX_NAME_BYTES);
  }
}

function named(operation: string, name: Json | undefined): string {
  return name === undefined ? operation : `${operation} ${cutText(textOf(name), MAX_NAME_BYTES)}`;
}

/** @param maxTextBytes Undefined for no content. */
function ofKind(event: TrajectoryEvent, maxTextBytes: number | undefined): JsonObject {
  switch (eventKind(event)) {
    case 'turn':
      return { [GEN_AI.operationName]: 'invoke_agent', ...turnContent(event, maxTextBytes) };
    case 'chat':
      if (maxTextBytes === undefined) return {};
      return { [GEN_AI.outputMessages]: outputMessages(completionOf(event), maxTextBytes) };
    case 'action':
      return {
        [GEN_AI.toolName]: cutText(event.name, MAX_NAME_BYTES),
        [GEN_AI.toolType]: 'function',
        ...actionContent(event, maxTextBytes),
      };
    default:
      return {};
  }
}

function turnContent(event: TrajectoryEvent, maxTextBytes: number | undefined): JsonObject {
  if (maxTextBytes === undefined) return {};
  const { prompt, system_prompt: systemPrompt } = promptOf(event);
  return {
    [GEN_AI.inputMessages]: userMessages(textOf(prompt), maxTextBytes),
    [GEN_AI.outputMessages]: outputMessages(completionOf(event), maxTextBytes),
    ...(typeof systemPrompt === 'string'
      ? { [GEN_AI.systemInstructions]: instructions(systemPrompt, maxTextBytes) }
      : {}),
  };
}

function actionContent(event: TrajectoryEvent, maxTextBytes: number | undefined): JsonObject {
  if (maxTextBytes === undefined) return { [PROXY.otherContent]: null };
  return {
    [GEN_AI.toolCallArguments]: JSON.stringify(promptOf(event)['input'] ?? {}),
    [GEN_AI.toolCallResult]: resultText(completionOf(event)),
  };
}
