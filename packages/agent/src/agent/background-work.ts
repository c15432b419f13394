import { deadline } from '../peer/deadline.js';
import { orAborted } from '../peer/wait.js';

/** What goes on after its result was given, each piece bounded by itself: a withdrawal, a deregistration. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();

  /** @param work must not reject. */
  add(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Waits until nothing goes on, at most so long. Never rejects. */
  async settle(ms: number): Promise<void> {
    const limit = deadline(ms);
    try {
      await orAborted(Promise.allSettled([...this.#running]), limit.signal, () => limit.signal.reason);
    } catch {
      // The time is over.
    } finally {
      limit.clear();
    }
  }
}
