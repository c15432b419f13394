import type { SessionStorage } from '@parley/harness';
import { AppError } from '@parley/service-kit';
import { Materials } from './material.js';
import type { PendingQuestion } from './pending-question.js';

/** Tasks of one context that wait for answers. */
const MAX_PENDING = 20;

/** What is remembered from one task of a context to the next. */
export class LivingContext {
  readonly materials = new Materials();
  /** Questions without an answer, by task, oldest first. */
  readonly #pending = new Map<string, PendingQuestion>();
  /** Where the conversation is kept; replaced when it has become too long. */
  sessions: SessionStorage;
  /** True once its journal, if there is one, was looked at. */
  isRestored = false;
  /** Characters said in `sessions`, roughly. */
  said = 0;

  constructor(sessions: SessionStorage) {
    this.sessions = sessions;
  }

  get weight(): number {
    return this.materials.size + this.said;
  }

  ask(taskId: string, question: PendingQuestion): void {
    this.#pending.delete(taskId);
    this.#pending.set(taskId, question);
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
  }

  takePending(taskId: string): PendingQuestion | undefined {
    const question = this.#pending.get(taskId);
    this.#pending.delete(taskId);
    return question;
  }
}

export interface ContextsOptions {
  /** Contexts that are remembered. Default 1,000; the longest unused go first. */
  readonly maxContexts?: number;
  /** Turns that wait behind a running one of their context. Default 16. */
  readonly maxWaiting?: number;
  /** An unused context is forgotten after so many milliseconds. Default an hour. */
  readonly idleMs?: number;
  /** Characters held by all contexts together. Default 64 million. */
  readonly maxChars?: number;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  readonly newSessions: () => SessionStorage;
}

interface Entry {
  readonly context: LivingContext;
  readonly waiting: (() => void)[];
  isBusy: boolean;
  usedAt: number;
  weight: number;
}

/** Contexts with what they remember. Turns of one context come one after the other, of different ones side by side. */
export class Contexts {
  /** Longest unused first. */
  readonly #entries = new Map<string, Entry>();
  readonly #maxContexts: number;
  readonly #maxWaiting: number;
  readonly #idleMs: number;
  readonly #maxChars: number;
  readonly #now: () => number;
  readonly #newSessions: () => SessionStorage;
  #chars = 0;

  constructor(options: ContextsOptions) {
    this.#maxContexts = options.maxContexts ?? 1_000;
    this.#maxWaiting = options.maxWaiting ?? 16;
    this.#idleMs = options.idleMs ?? 3_600_000;
    this.#maxChars = options.maxChars ?? 64_000_000;
    this.#now = options.now ?? (() => performance.now());
    this.#newSessions = options.newSessions;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * @throws AppError `too_many_requests` with code `context_busy` if too many turns wait already, `unavailable` with
   * code `too_many_contexts` if all that can be remembered are at work; the reason of `signal` if it is aborted while
   * the turn waits.
   */
  async run<T>(contextId: string, signal: AbortSignal, turn: (context: LivingContext) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const entry = this.#entryOf(contextId);
    if (entry.isBusy) await this.#wait(entry, signal);
    entry.isBusy = true;
    try {
      return await turn(entry.context);
    } finally {
      this.#release(contextId, entry);
    }
  }

  #entryOf(contextId: string): Entry {
    const known = this.#entries.get(contextId);
    const isFresh = known !== undefined && (known.isBusy || this.#now() - known.usedAt <= this.#idleMs);
    if (isFresh) return known;
    if (known !== undefined) this.#forget(contextId, known);
    this.#makeRoom();
    const context = new LivingContext(this.#newSessions());
    const entry: Entry = { context, waiting: [], isBusy: false, usedAt: this.#now(), weight: 0 };
    this.#entries.set(contextId, entry);
    return entry;
  }

  #makeRoom(): void {
    for (const [contextId, entry] of this.#entries) {
      if (entry.isBusy) continue;
      const isOld = this.#now() - entry.usedAt > this.#idleMs;
      if (!isOld && this.#entries.size < this.#maxContexts) return;
      this.#forget(contextId, entry);
    }
    if (this.#entries.size < this.#maxContexts) return;
    throw new AppError('unavailable', 'Too many contexts are at work.', { code: 'too_many_contexts' });
  }

  #release(contextId: string, entry: Entry): void {
    entry.usedAt = this.#now();
    this.#chars += entry.context.weight - entry.weight;
    entry.weight = entry.context.weight;
    // To the end: it is the one that was used last.
    this.#entries.delete(contextId);
    this.#entries.set(contextId, entry);
    const next = entry.waiting.shift();
    // It stays busy for the one that waited: nobody slips in before it.
    if (next !== undefined) next();
    else entry.isBusy = false;
    this.#dropHeaviness();
  }

  #dropHeaviness(): void {
    for (const [contextId, entry] of this.#entries) {
      if (this.#chars <= this.#maxChars) return;
      if (!entry.isBusy) this.#forget(contextId, entry);
    }
  }

  #forget(contextId: string, entry: Entry): void {
    this.#entries.delete(contextId);
    this.#chars -= entry.weight;
  }

  #wait(entry: Entry, signal: AbortSignal): Promise<void> {
    if (entry.waiting.length >= this.#maxWaiting) {
      throw new AppError('too_many_requests', 'Too many tasks of this context wait already.', { code: 'context_busy' });
    }
    return new Promise((resolve, reject) => {
      const open = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        entry.waiting.splice(entry.waiting.indexOf(open), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      entry.waiting.push(open);
    });
  }
}
