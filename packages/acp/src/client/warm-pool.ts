import { startTimer } from '@parley/shell';

/** A child that can be kept. */
export interface PooledChild {
  readonly isAlive: boolean;
  /** Resolves when it can be used no more. Never rejects. */
  readonly lost: Promise<unknown>;
  /** Idempotent; never rejects. */
  end(): Promise<void>;
}

export interface WarmPoolOptions {
  /** Children at most that wait for work; those at work are not counted. */
  readonly size: number;
  /** How long one waits, in milliseconds; then it is ended. */
  readonly idleMs: number;
}

/** Children that have nothing to do. They belong to nobody else: one that is taken is out of it. */
export class WarmPool<Child extends PooledChild> {
  /** With what forgets that they wait. The one that came last is the first to go to work: the others can end. */
  readonly #idle = new Map<Child, () => void>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(private readonly options: WarmPoolOptions) {}

  get idleCount(): number {
    return this.#idle.size;
  }

  /** One that lives, as far as is known. */
  take(): Child | undefined {
    for (const child of [...this.#idle.keys()].reverse()) {
      if (!child.isAlive) {
        this.#end(child);
        continue;
      }
      this.#forget(child);
      return child;
    }
    return undefined;
  }

  /** Whether it is kept; else it is still its giver's, who has to end it. */
  put(child: Child): boolean {
    if (this.#isClosed || !child.isAlive || this.#idle.size >= this.options.size) return false;
    // A process with nothing else to do is kept by the child, not by the clock.
    this.#idle.set(
      child,
      startTimer(this.options.idleMs, () => this.#end(child), false),
    );
    void child.lost.then(() => {
      if (this.#idle.has(child)) this.#end(child);
    });
    return true;
  }

  /** Keeps none any more, and resolves when all that it had are gone. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const child of [...this.#idle.keys()]) this.#end(child);
    await Promise.all(this.#ending);
  }

  #end(child: Child): void {
    this.#forget(child);
    const ending = child.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(child: Child): void {
    this.#idle.get(child)?.();
    this.#idle.delete(child);
  }
}
