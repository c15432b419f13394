import { AgentCancelledError, cancellationText } from './cancellation.js';
import { AgentShutDownError } from './run-errors.js';

/** Runs a follow-up and gives back how to tell of its end. Must not reject. */
export type FollowUpRun = () => Promise<() => void>;

/** What runs next behind an operation. Undefined: the chain is over. */
export type NextInChain = () => FollowUpRun | undefined;

interface Waiter {
  readonly open: () => void;
  readonly turnAway: (reason: Error) => void;
}

/**
 * The gate in front of an agent: one chain at a time, in the order in which they came. A chain is one operation and
 * all follow-ups behind it, so that whoever waits at the gate stays behind them.
 */
export class RunChain {
  readonly #waiting: Waiter[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  #busy = false;
  #closed = false;

  /** True while a chain runs or waits. */
  get isBusy(): boolean {
    return this.#busy;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Runs `operation` once all chains before it are over: at once, before this returns, if there are none. Resolves
   * with its value; `next` is asked for what follows before anybody hears of that value.
   *
   * @param signal Aborting it takes a waiting operation out of the line.
   * @throws AgentCancelledError if it was taken out, AgentShutDownError, or what `operation` throws.
   */
  async run<T>(operation: () => Promise<T>, next: NextInChain, signal?: AbortSignal): Promise<T> {
    this.#throwIfClosed();
    if (this.#busy) await this.#wait(signal);
    this.#busy = true;
    try {
      // It may have been closed after it was opened for this operation.
      this.#throwIfClosed();
      return await operation();
    } finally {
      this.#goOn(next);
    }
  }

  /** Resolves when nothing runs or waits. */
  idle(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#idleWaiters.push(resolve)) : Promise.resolve();
  }

  /** Turns away who waits and who comes later; the chain that runs may end. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.turnAway(new AgentShutDownError());
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new AgentShutDownError();
  }

  #goOn(next: NextInChain): void {
    const followUp = next();
    if (followUp === undefined) {
      this.#openGate();
      return;
    }
    void followUp().then((tell) => {
      // First the gate, then the news: who hears of the last run's end finds an idle agent.
      this.#goOn(next);
      tell();
    });
  }

  #openGate(): void {
    const waiter = this.#waiting.shift();
    if (waiter !== undefined) {
      // The gate stays shut for everybody else: nobody slips in before the one that waited has gone through.
      waiter.open();
      return;
    }
    this.#busy = false;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new AgentCancelledError(cancellationText(signal)));
        return;
      }
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.turnAway(new AgentCancelledError(cancellationText(signal as AbortSignal)));
      };
      const waiter: Waiter = {
        open: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
        turnAway: (reason) => {
          signal?.removeEventListener('abort', giveUp);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
    });
  }
}
