import { backoffMs } from '../../peer/backoff.js';
import { wait } from '../../peer/wait.js';
import type { PostOutcome, PushPost } from './post-push.js';

/** One notification on its way to one receiver. */
export interface Delivery {
  readonly post: PushPost;
  /** Set while it is being delivered. */
  abort?: AbortController;
}

export interface LineOptions {
  readonly post: (post: PushPost, signal: AbortSignal) => Promise<PostOutcome>;
  /** Tries for each delivery. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly random: () => number;
  /** It was delivered or given up, and is out of the line. */
  readonly onSettled: (delivery: Delivery) => void;
  readonly onGivenUp: (reason: string, attempts: number) => void;
  readonly onEmpty: () => void;
}

/** What goes to one receiver about one task, one after the other. */
export class DeliveryLine {
  readonly #options: LineOptions;
  /** Oldest first; the first one is under way. */
  readonly #deliveries = new Set<Delivery>();
  #isRunning = false;
  /** The last one was given up after all its tries: the receiver is probably down. */
  #isFailing = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#deliveries.size;
  }

  add(delivery: Delivery): void {
    this.#deliveries.add(delivery);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  /** Takes one out, also from under way. */
  drop(delivery: Delivery): void {
    this.#deliveries.delete(delivery);
    delivery.abort?.abort();
  }

  /** The one that waits longest; the one under way only if there is no other. */
  oldestWaiting(): Delivery | undefined {
    const [first, second] = this.#deliveries;
    return second ?? first;
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#deliveries;
      if (next === undefined) break;
      await this.#deliver(next);
      // Dropped meanwhile: whoever dropped it has counted it.
      if (this.#deliveries.delete(next)) this.#options.onSettled(next);
    }
    this.#isRunning = false;
    this.#options.onEmpty();
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const controller = new AbortController();
    delivery.abort = controller;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#options.post(delivery.post, controller.signal);
      if (!this.#deliveries.has(delivery)) return;
      if (outcome.delivered) {
        this.#isFailing = false;
        return;
      }
      if (!outcome.again || attempt >= this.#attemptsNow()) {
        this.#isFailing = outcome.again;
        this.#options.onGivenUp(outcome.reason, attempt);
        return;
      }
      await wait(Math.max(outcome.afterMs ?? 0, backoffMs(attempt - 1, this.#options)), controller.signal);
      if (!this.#deliveries.has(delivery)) return;
    }
  }

  /** While a receiver is down only the last one, which says how it ended, is worth all tries. */
  #attemptsNow(): number {
    return this.#isFailing && this.#deliveries.size > 1 ? 1 : this.#options.attempts;
  }
}
