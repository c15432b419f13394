import { AppError, type CallContext, type StreamOperation } from '@parley/service-kit';
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
    if (afterRevision === undefined) return [...this.#snapshot()];
    const missed = this.#core.changesAfter(afterRevision);
    if (missed !== 'too_old') return missed.filter((event) => this.#concerns(event)).map(item);
    const resync = {
      type: 'resync',
      revision: this.#core.agents().revision,
      at: isoTime(this.#core.nowMs()),
      reason: 'too_old',
    };
    return [
      { type: 'resync', revision: resync.revision, json: JSON.stringify(resync), resumable: false },
      ...this.#snapshot(),
    ];
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

  *#snapshot(): Generator<WatchItem> {
    const { revision, agents } = this.#core.agents();
    const head = `{"type":"snapshot","revision":${String(revision)},"at":"${isoTime(this.#core.nowMs())}"`;
    let piece: string[] = [];
    for (const agent of agents) {
      if (this.#only?.has(agent.agentId) === false) continue;
      if (piece.length === SNAPSHOT_PIECE) {
        yield {
          type: 'snapshot',
          revision,
          json: `${head},"agents":[${piece.join(',')}],"complete":false}`,
          resumable: false,
        };
        piece = [];
      }
      piece.push(agent.render());
    }
    yield {
      type: 'snapshot',
      revision,
      json: `${head},"agents":[${piece.join(',')}],"complete":true}`,
      resumable: true,
    };
  }

  async *run(onEnd: () => void): AsyncGenerator<WatchItem> {
    const wake = (): void => this.#wake?.();
    this.#signal.addEventListener('abort', wake);
    try {
      yield* this.#first;
      while (!this.#signal.aborted) {
        if (this.#queue.length === 0 && !this.#overflowed) await this.#wait();
        const events = this.#queue;
        this.#queue = [];
        for (const event of events) {
          yield item(event);
          if (event.type === 'resync') yield* this.#snapshot();
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
