import { Refusal } from './facts.js';
import { quote } from './python-repr.js';

export interface QueueLimits {
  readonly maxOpenTurns: number;
  readonly maxQueuedPerContext: number;
  readonly maxQueued: number;
}

interface Context {
  /** The task whose turn is open, or opens. */
  current: string | undefined;
  readonly waiting: Set<string>;
}

/** Who may open a turn: one of each context at a time, in order of arrival, and not more in all than the limit. */
export class ContextQueues {
  readonly #contexts = new Map<string, Context>();
  /** Contexts without an open turn whose first message waits, in order. */
  readonly #ready = new Set<string>();
  #open = 0;
  #queued = 0;

  constructor(private readonly limits: QueueLimits) {}

  get openCount(): number {
    return this.#open;
  }

  get queuedCount(): number {
    return this.#queued;
  }

  /**
   * One more message of the context.
   *
   * @throws Refusal 429 when too many wait already.
   */
  add(contextId: string, taskId: string): void {
    const context = this.#contexts.get(contextId);
    const opensAtOnce = context === undefined && this.#open < this.limits.maxOpenTurns && this.#ready.size === 0;
    if (!opensAtOnce) this.#refuseBeyondLimits(contextId, context?.waiting.size ?? 0);
    this.restoreWaiting(contextId, taskId);
  }

  /** Waits since an earlier life: no limit is asked. */
  restoreWaiting(contextId: string, taskId: string): void {
    const context = this.#contextOf(contextId);
    context.waiting.add(taskId);
    this.#queued += 1;
    if (context.current === undefined) this.#ready.add(contextId);
  }

  /** Its turn has been open since an earlier life. */
  restoreOpen(contextId: string, taskId: string): void {
    this.#contextOf(contextId).current = taskId;
    this.#ready.delete(contextId);
    this.#open += 1;
  }

  /** The next task that may open; from here on it counts as open. */
  takeNext(): string | undefined {
    const [contextId] = this.#ready;
    if (contextId === undefined || this.#open >= this.limits.maxOpenTurns) return undefined;
    this.#ready.delete(contextId);
    const context = this.#contextOf(contextId);
    const [taskId] = context.waiting;
    if (taskId === undefined) return undefined;
    context.waiting.delete(taskId);
    context.current = taskId;
    this.#queued -= 1;
    this.#open += 1;
    return taskId;
  }

  /** The task is over, wherever it stood. */
  remove(contextId: string, taskId: string): void {
    const context = this.#contexts.get(contextId);
    if (context === undefined) return;
    if (context.current === taskId) {
      context.current = undefined;
      this.#open -= 1;
    } else if (context.waiting.delete(taskId)) this.#queued -= 1;
    if (context.current !== undefined) return;
    if (context.waiting.size > 0) this.#ready.add(contextId);
    else {
      this.#ready.delete(contextId);
      this.#contexts.delete(contextId);
    }
  }

  #contextOf(contextId: string): Context {
    let context = this.#contexts.get(contextId);
    if (context === undefined) {
      context = { current: undefined, waiting: new Set() };
      this.#contexts.set(contextId, context);
    }
    return context;
  }

  #refuseBeyondLimits(contextId: string, waiting: number): void {
    const { maxQueuedPerContext, maxQueued } = this.limits;
    if (waiting >= maxQueuedPerContext) {
      throw new Refusal(429, `context ${quote(contextId)} has ${waiting} messages waiting already`);
    }
    if (this.#queued >= maxQueued) throw new Refusal(429, `${this.#queued} messages are waiting already`);
  }
}
