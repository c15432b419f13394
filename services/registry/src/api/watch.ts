import { AppError, type CallContext, type StreamOperation } from '@parley/service-kit';
import type { AgentEntry } from '../domain/agent-entry.js';
import { isoTime } from '../domain/iso-time.js';
import type { RegistryCore, RegistryEvent, ResyncEvent } from '../replica/core-types.js';
import { eventJson } from './present.js';
import { watchInput, type WatchInput } from './schemas.js';

/** One message of a watch, its JSON text ready. */
export interface WatchItem {
  readonly type: string;
  readonly revision: number;
  readonly json: string;
  /** False for the pieces of a snapshot before its last: a reader that resumed there would miss the rest. */
  readonly resumable: boolean;
}

export interface WatchDeps {
  readonly core: RegistryCore;
  /** More subscribers than this are refused with 503. */
  readonly maxWatchers: number;
  /** How many events a reader may lag behind before it is cut. Default 2,048. */
  readonly maxQueuedEvents?: number;
}

export interface WatchOperation extends StreamOperation<WatchInput, WatchItem> {
  /** For metrics. */
  readonly watcherCount: () => number;
}

const SNAPSHOT_PIECE = 100;

/** Who lived at a revision. Texts are made when they are read: a hundred thousand of them would be 50 MB a reader. */
interface Snapshot {
  readonly revision: number;
  readonly head: string;
  readonly agents: readonly AgentEntry[];
}

/** A snapshot in pieces (or the events missed since a revision), then every change in order: nothing lost, nothing twice. */
export function watchOperation(deps: WatchDeps): WatchOperation {
  let watchers = 0;
  return {
    input: watchInput,
    watcherCount: () => watchers,
    handle: (input, call) => {
      if (watchers >= deps.maxWatchers) {
        throw new AppError('unavailable', 'Too many watchers at this replica.', {
          code: 'too_many_watchers',
          retryAfterSeconds: 5,
        });
      }
      const watch = new Watch(deps, input, call);
      watchers += 1;
      return watch.run(() => {
        watchers -= 1;
      });
    },
  };
}

class Watch {
  readonly #core: RegistryCore;
  readonly #maxQueued: number;
  readonly #signal: AbortSignal;
  readonly #only: ReadonlySet<string> | undefined;
  #queue: (RegistryEvent | ResyncEvent)[] = [];
  #overflowed = false;
  #wake: (() => void) | undefined;
  readonly #first: readonly WatchItem[];
  #snapshot: Snapshot | undefined;
  /** What the last snapshot has in it is not told again. */
  #toldTo = 0;
  readonly #unsubscribe: () => void;

  /** Subscribes and takes the start in one tick, so that no event falls between. Fails before anything is streamed. */
  constructor(deps: WatchDeps, input: WatchInput, call: CallContext) {
    this.#core = deps.core;
    this.#maxQueued = deps.maxQueuedEvents ?? 2_048;
    this.#signal = call.signal;
    this.#only = input.agent_ids.length > 0 ? new Set(input.agent_ids) : undefined;
    this.#first = this.#start(input.after_revision);
    this.#unsubscribe = this.#core.subscribe((event) => {
      this.#push(event);
    });
  }

  #start(afterRevision: number | undefined): readonly WatchItem[] {
    const missed = afterRevision === undefined ? undefined : this.#core.changesAfter(afterRevision);
    if (missed !== undefined && missed !== 'too_old') return missed.filter((event) => this.#concerns(event)).map(item);
    this.#snapshot = this.#take();
    if (missed === undefined) return [];
    const { revision } = this.#snapshot;
    const resync = { type: 'resync', revision, at: isoTime(this.#core.nowMs()), reason: 'too_old' };
    return [{ type: 'resync', revision, json: JSON.stringify(resync), resumable: false }];
  }

  #push(event: RegistryEvent | ResyncEvent): void {
    if (!this.#concerns(event)) return;
    if (this.#queue.length >= this.#maxQueued) this.#overflowed = true;
    else this.#queue.push(event);
    this.#wake?.();
  }

  #concerns(event: RegistryEvent | ResyncEvent): boolean {
    if (this.#only === undefined || event.type === 'resync') return true;
    if ('agentId' in event) return this.#only.has(event.agentId);
    const { terms } = JSON.parse(event.agreementJson) as { terms: { initiator: string; responder: string } };
    return this.#only.has(terms.initiator) || this.#only.has(terms.responder);
  }

  /** In one tick: the index goes on changing while the pieces are read. */
  #take(): Snapshot {
    const { revision, agents } = this.#core.agents();
    const only = this.#only;
    return {
      revision,
      head: `{"type":"snapshot","revision":${String(revision)},"at":"${isoTime(this.#core.nowMs())}"`,
      agents: only === undefined ? [...agents] : [...agents].filter(({ agentId }) => only.has(agentId)),
    };
  }

  *#pieces({ revision, head, agents }: Snapshot): Generator<WatchItem> {
    this.#toldTo = revision;
    let at = 0;
    do {
      const piece = agents.slice(at, at + SNAPSHOT_PIECE).map((agent) => agent.render());
      at += SNAPSHOT_PIECE;
      const complete = at >= agents.length;
      const json = `${head},"agents":[${piece.join(',')}],"complete":${String(complete)}}`;
      yield { type: 'snapshot', revision, json, resumable: complete };
    } while (at < agents.length);
  }

  async *run(onEnd: () => void): AsyncGenerator<WatchItem> {
    const wake = (): void => this.#wake?.();
    this.#signal.addEventListener('abort', wake);
    try {
      yield* this.#first;
      if (this.#snapshot !== undefined) yield* this.#pieces(this.#snapshot);
      this.#snapshot = undefined;
      while (!this.#signal.aborted) {
        if (this.#queue.length === 0 && !this.#overflowed) await this.#wait();
        const events = this.#queue;
        this.#queue = [];
        for (const event of events) {
          if (event.type === 'resync') {
            yield item(event);
            yield* this.#pieces(this.#take());
          } else if (event.revision > this.#toldTo) yield item(event);
        }
        if (this.#overflowed) {
          throw new AppError('too_many_requests', 'The reader is too slow for the events; resume or start anew.', {
            code: 'slow_reader',
          });
        }
      }
    } finally {
      this.#signal.removeEventListener('abort', wake);
      this.#unsubscribe();
      onEnd();
    }
  }

  async #wait(): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

function item(event: RegistryEvent | ResyncEvent): WatchItem {
  return { type: event.type, revision: event.revision, json: eventJson(event), resumable: event.type !== 'resync' };
}
