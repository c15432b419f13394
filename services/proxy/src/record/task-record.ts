import { createHash } from 'node:crypto';
import { chainedHash, FIRST_HASH, type TrajectoryEvent } from '@parley/proxy-protocol';
import { actionEvent, chatEvent, turnEvent } from './event-of-fact.js';
import type { ActionEnded, ActionStarted, EventBody, Recorded, TurnClosed, TurnSubmitted } from './event-of-fact.js';
import type { TrajectoryState } from './recorder-types.js';

const FORMAT = 'agentenv-proxy/v1';

/**
 * The trajectory of one task. Of the ids: the turn's own span, which came with its message, is `turn opened`, the
 * parent of all others; that of the `turn` event, sent as `invoke_agent`, follows from it.
 */
export class TaskRecord {
  readonly events: TrajectoryEvent[] = [];
  /** Of each event as JSON. */
  readonly sizes: number[] = [];
  readonly submitted: TurnSubmitted;
  #bytes = 0;
  #openedAt: number | undefined;
  #lastEventAt: number;
  #model: string | undefined;
  #head = FIRST_HASH;
  #end: TurnClosed | undefined;
  readonly #running = new Map<string, ActionStarted>();

  constructor(submitted: TurnSubmitted) {
    this.submitted = submitted;
    this.#lastEventAt = submitted.at;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Null for a turn that never opened. */
  get format(): string | null {
    return this.#openedAt === undefined ? null : FORMAT;
  }

  get isOpened(): boolean {
    return this.#openedAt !== undefined;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  get state(): TrajectoryState {
    if (this.#end !== undefined) return this.#end.end.state;
    return this.events.length === 0 ? 'pending' : 'running';
  }

  open(at: number): void {
    this.#openedAt = at;
    this.#lastEventAt = at;
  }

  record(fact: Recorded): TrajectoryEvent {
    // An empty name is none.
    if (fact.model !== undefined && fact.model !== '') this.#model = fact.model;
    const event = this.#add(chatEvent(fact, this.#model, this.#lastEventAt), fact.spanId);
    this.#lastEventAt = fact.at;
    return event;
  }

  start(fact: ActionStarted): void {
    this.#running.set(fact.actionId, fact);
  }

  /** Undefined for an action that never started. */
  finish(fact: ActionEnded): TrajectoryEvent | undefined {
    const started = this.#running.get(fact.actionId);
    if (started === undefined) return undefined;
    this.#running.delete(fact.actionId);
    const event = this.#add(actionEvent(started, fact), started.spanId);
    this.#lastEventAt = fact.at;
    return event;
  }

  /** @returns The turn's event; it is kept only if the turn had opened. */
  close(closed: TurnClosed, agentName: string): TrajectoryEvent {
    const { submitted } = this;
    const startedAt = this.#openedAt ?? submitted.at;
    const body = turnEvent({ submitted, closed, startedAt, model: this.#model, agentName });
    const spanId = turnSpanId(submitted);
    const event = this.isOpened ? this.#add(body, spanId) : this.#withIds(body, spanId);
    this.#end = closed;
    this.#running.clear();
    return event;
  }

  #add(body: EventBody, spanId: string): TrajectoryEvent {
    const event = this.#withIds(body, spanId);
    const { hash, bytes } = chainedHash(this.#head, event);
    const kept: TrajectoryEvent = { ...event, hash };
    this.#head = hash;
    this.#bytes += bytes;
    this.events.push(kept);
    this.sizes.push(bytes);
    return kept;
  }

  #withIds(body: EventBody, spanId: string): TrajectoryEvent {
    const { traceId, spanId: root } = this.submitted;
    return { ...body, trace_id: traceId, span_id: spanId, parent_span_id: root };
  }
}

/** The same in every life of the proxy. */
function turnSpanId({ traceId, spanId }: TurnSubmitted): string {
  return createHash('sha256').update(`invoke_agent ${traceId} ${spanId}`).digest('hex').slice(0, 16);
}
