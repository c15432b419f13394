import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../json/index.js';
import { GEN_AI, PROXY } from './attribute-names.js';
import { canonicalJson } from './canonical-json.js';
import { eventKind, turnsOf } from './event-kind.js';
import { unixNanos } from './event-time.js';
import type { OtlpSpan, OtlpTraces } from './otlp-types.js';
import { otlpAttribute } from './otlp-value.js';
import { DEFAULT_MAX_TEXT_BYTES, spanOfEvent, turnOpenedSpan, type SpanOptions } from './span-of-event.js';
import type { TrajectoryEvent } from './trajectory-event.js';

const SCOPE = { name: 'parley.proxy' };

/** What is said of every span of a turn, taken from the event of the turn. */
const COMMON = [GEN_AI.agentName, GEN_AI.conversationId, PROXY.taskId];

/**
 * A trajectory as an OTLP/JSON `ExportTraceServiceRequest`: the spans that the proxy itself sends, with the same ids.
 * Events without ids get some that follow from what they hold, so that two exports of one record are the same.
 *
 * @param resource `service.name` and the like.
 */
export function toOtlp(
  events: readonly TrajectoryEvent[],
  resource: JsonObject,
  options: SpanOptions = {},
): OtlpTraces {
  return otlpTraces(
    turnsOf(events).flatMap((turn) => turnSpans(turn, options)),
    resource,
  );
}

/** Spans of one resource as a request. */
export function otlpTraces(spans: readonly OtlpSpan[], resource: JsonObject): OtlpTraces {
  const attributes = Object.entries(resource).map(([key, value]) => otlpAttribute(key, value, DEFAULT_MAX_TEXT_BYTES));
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: SCOPE, spans }] }] };
}

function turnSpans(events: readonly TrajectoryEvent[], options: SpanOptions): readonly OtlpSpan[] {
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return [];
  const turn = eventKind(last) === 'turn' ? last : undefined;
  const traceId = first.trace_id ?? derivedId('trace', first).slice(0, 32);
  const rootId = last.parent_span_id ?? derivedId('root', first).slice(0, 16);
  const caller = turn?.attributes[PROXY.callerSpanId];
  const common: JsonObject = { ...options.common, ...picked(turn?.attributes ?? {}) };
  const root = turnOpenedSpan(
    { traceId, spanId: rootId, parentSpanId: typeof caller === 'string' ? caller : undefined },
    turn === undefined ? earliest(events) : unixNanos(turn.start_time),
    common,
  );
  const spans = events.map((event, index) => {
    const spanId = event.span_id ?? derivedId(`${String(index)} ${traceId}`, event).slice(0, 16);
    return spanOfEvent(
      event,
      { traceId, spanId, parentSpanId: event.parent_span_id ?? rootId },
      { ...options, common },
    );
  });
  return [root, ...spans];
}

function picked(attributes: JsonObject): JsonObject {
  return Object.fromEntries(
    COMMON.map((name): [string, Json | undefined] => [name, attributes[name]]).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined,
    ),
  );
}

function earliest(events: readonly TrajectoryEvent[]): bigint {
  return events.map((event) => unixNanos(event.start_time)).reduce((left, right) => (right < left ? right : left));
}

function derivedId(salt: string, event: TrajectoryEvent): string {
  return createHash('sha256')
    .update(`${salt}\n${canonicalJson(event)}`)
    .digest('hex');
}
