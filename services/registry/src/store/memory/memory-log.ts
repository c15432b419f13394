import type { Change, Renewal } from '../../domain/types.js';
import { LogGap, type LogBatch, type LogPosition } from '../store.js';

/** A reader that has heard nothing for so long gets an empty batch: a sign of life. */
const IDLE_MS = 1_000;
const MAX_BATCH = 500;
const MAX_RENEWAL_BATCHES = 1_000;

/** The bounded change log of one process, with its readers woken by each new line. */
export class MemoryLog {
  readonly #epoch: string;
  readonly #capacity: number;
  /** Revisions `#revision - #changes.length + 1` to `#revision`, except for a trimmed front. */
  #changes: Change[] = [];
  #revision: number;
  #renewals: (readonly Renewal[])[] = [];
  #renewalsEnd = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: { readonly epoch: string; readonly firstRevision: number; readonly capacity: number }) {
    this.#epoch = options.epoch;
    this.#revision = options.firstRevision;
    this.#capacity = options.capacity;
  }

  get revision(): number {
    return this.#revision;
  }

  get epoch(): string {
    return this.#epoch;
  }

  position(): LogPosition {
    return { epoch: this.#epoch, revision: this.#revision, mark: '', renewals: String(this.#renewalsEnd) };
  }

  /** Gives the change its place. A record that is part of it is made with the revision it gets. */
  append(make: (revision: number) => Change): Change {
    const change = make(this.#revision + 1);
    this.#revision = change.revision;
    this.#changes.push(change);
    // Cut in large pieces: cutting one by one would move the whole list for each line.
    if (this.#changes.length > this.#capacity * 1.25) this.#changes = this.#changes.slice(-this.#capacity);
    this.#wake();
    return change;
  }

  publish(renewals: readonly Renewal[]): void {
    this.#renewals.push(renewals);
    this.#renewalsEnd++;
    if (this.#renewals.length > MAX_RENEWAL_BATCHES) this.#renewals = this.#renewals.slice(-MAX_RENEWAL_BATCHES / 2);
    this.#wake();
  }

  async *read(after: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    if (after.epoch !== this.#epoch) throw new LogGap('epoch_changed');
    let { revision } = after;
    let renewalsFrom = Number(after.renewals);
    while (!signal.aborted) {
      const first = this.#revision - this.#changes.length + 1;
      if (revision + 1 < first || revision > this.#revision) throw new LogGap('too_old');
      const from = revision + 1 - first;
      const changes = this.#changes.slice(from, from + MAX_BATCH);
      // Renewals that were cut off are made up for by asking for deadlines before they pass.
      const skipped = Math.max(0, this.#renewals.length - (this.#renewalsEnd - renewalsFrom));
      const renewals = this.#renewals.slice(skipped).flat();
      if (changes.length === 0 && renewals.length === 0 && (await this.#idle(signal))) continue;
      revision += changes.length;
      renewalsFrom = this.#renewalsEnd;
      yield {
        position: { epoch: this.#epoch, revision, mark: '', renewals: String(renewalsFrom) },
        changes,
        renewals,
      };
    }
  }

  /** Ends every wait, so that no reader keeps the process. */
  close(): void {
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves true when woken, false after the idle time. */
  async #idle(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (woken: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve(woken);
      };
      const wake = (): void => {
        done(true);
      };
      const timer = setTimeout(done, IDLE_MS, false);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
