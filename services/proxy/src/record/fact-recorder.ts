import {
  GEN_AI,
  PROXY,
  spanOfEvent,
  turnOpenedSpan,
  type OtlpSpan,
  type TrajectoryEvent,
} from '@parley/proxy-protocol';
import type { Logger } from '@parley/service-kit';
import type { Fact, JsonObject, TurnFact } from '../domain/facts.js';
import type { RecorderOptions } from './create-recorder.js';
import { otherContent } from './describe-content.js';
import type { TurnClosed } from './event-of-fact.js';
import { wholeTrajectory, trajectoryPage } from './read-trajectory.js';
import type { Recorder, TrajectoryPage, TrajectorySubject } from './recorder-types.js';
import type { SpanSink } from './span-sink.js';
import type { TaskRecord } from './task-record.js';
import { TrajectoryStore } from './trajectory-store.js';

const DEFAULT_AGENT = 'agentenv-proxy';
const DEFAULT_MAX_CONTEXTS = 1_024;
const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;

/** Facts as trajectory events, and the events of this life as spans. Made by `createRecorder`. */
export class FactRecorder implements Recorder {
  readonly #store: TrajectoryStore;
  readonly #spans: SpanSink | undefined;
  readonly #content: boolean;
  readonly #logger: Logger;
  #agentName: string;

  constructor(options: RecorderOptions) {
    this.#store = new TrajectoryStore({
      maxContexts: options.maxContexts ?? DEFAULT_MAX_CONTEXTS,
      maxBytes: options.maxTrajectoryBytes ?? DEFAULT_MAX_BYTES,
    });
    this.#spans = options.spans;
    this.#content = options.traceContent ?? true;
    this.#logger = options.logger;
    this.#agentName = options.agentName ?? DEFAULT_AGENT;
  }

  observe(fact: Fact, { replayed = false }: { readonly replayed?: boolean } = {}): void {
    switch (fact.kind) {
      case 'started':
      case 'claimed':
      case 'released':
      case 'server_added':
      case 'server_removed':
      case 'skill_added':
        return;
      case 'agent_configured': {
        const { name } = fact.changes;
        if (typeof name === 'string') this.#agentName = name;
        return;
      }
      case 'turn_submitted':
        this.#store.add(fact);
        return;
      case 'turn_forgotten':
        this.#store.forget(fact.taskId);
        return;
      default:
        this.#observeTurn(fact, replayed);
        return;
    }
  }

  whole(subject: TrajectorySubject): readonly JsonObject[] {
    return wholeTrajectory(this.#store, subject);
  }

  page(subject: TrajectorySubject, after: number, limit: number): TrajectoryPage {
    return trajectoryPage(this.#store, subject, { after, limit });
  }

  async close(timeoutMs: number): Promise<void> {
    await this.#spans?.close(timeoutMs);
  }

  #observeTurn(fact: Exclude<TurnFact, { kind: 'turn_submitted' | 'turn_forgotten' }>, replayed: boolean): void {
    const record = this.#store.find(fact.taskId);
    if (record === undefined || record.isEnded) {
      this.#logger.error('a fact came for a turn that is not open: it is not on record', { fact: fact.kind });
      return;
    }
    switch (fact.kind) {
      case 'turn_opened':
        this.#opened(record, fact.at, replayed);
        return;
      case 'recorded':
        this.#grown(record, record.record(fact), replayed);
        return;
      case 'action_started':
        record.start(fact);
        return;
      case 'action_ended':
        this.#grown(record, record.finish(fact), replayed);
        return;
      case 'turn_ending':
        return;
      case 'turn_closed':
        this.#closed(record, fact, replayed);
        return;
    }
  }

  #opened(record: TaskRecord, at: number, replayed: boolean): void {
    record.open(at);
    this.#store.started(record);
    if (replayed) return;
    this.#send(() => {
      const { traceId, spanId, parentSpanId } = record.submitted;
      const nanos = BigInt(Math.round(at * 1_000)) * 1_000n;
      return turnOpenedSpan({ traceId, spanId, parentSpanId }, nanos, this.#common(record));
    });
  }

  #grown(record: TaskRecord, event: TrajectoryEvent | undefined, replayed: boolean): void {
    if (event === undefined) return;
    this.#store.grown(record);
    if (!replayed) this.#send(() => this.#spanOf(record, event));
  }

  #closed(record: TaskRecord, fact: TurnClosed, replayed: boolean): void {
    // One that fails before it opens has still had its turn; a queued one that is withdrawn never has.
    if (!record.isOpened && fact.end.state !== 'canceled') this.#store.started(record);
    const event = record.close(fact, this.#agentName);
    if (record.isOpened) this.#grown(record, event, replayed);
    else if (!replayed) this.#send(() => this.#spanOf(record, describedParts(record, event)));
    this.#store.ended(record);
  }

  #spanOf(record: TaskRecord, event: TrajectoryEvent): OtlpSpan {
    const { traceId, spanId, parentSpanId } = record.submitted;
    return spanOfEvent(
      event,
      { traceId, spanId: event.span_id ?? spanId, parentSpanId: record.isOpened ? spanId : parentSpanId },
      { content: this.#content, common: this.#common(record) },
    );
  }

  #common({ submitted }: TaskRecord): JsonObject {
    return {
      [GEN_AI.agentName]: this.#agentName,
      [GEN_AI.conversationId]: submitted.contextId,
      [PROXY.taskId]: submitted.taskId,
    };
  }

  /** What goes wrong with telemetry must not go wrong with a turn. */
  #send(make: () => OtlpSpan): void {
    if (this.#spans === undefined) return;
    try {
      this.#spans.add(make());
    } catch (error) {
      this.#logger.error('a span could not be made', { error });
    }
  }
}

/** A message with parts that are not text: the span says which they were. */
function describedParts({ submitted }: TaskRecord, event: TrajectoryEvent): TrajectoryEvent {
  const { parts } = submitted.message;
  const others = Array.isArray(parts) ? otherContent(parts) : undefined;
  return others === undefined ? event : { ...event, attributes: { ...event.attributes, [PROXY.otherContent]: others } };
}
