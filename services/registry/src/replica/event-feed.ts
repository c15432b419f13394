import type { Logger } from '@parley/service-kit';
import type { RegistryEvent, RegistryListener, ResyncEvent } from './core-types.js';

/** The events of this replica in order: to the listeners at once, and the recent ones kept for those who come back. */
export class EventFeed {
  readonly #listeners = new Set<RegistryListener>();
  readonly #capacity: number;
  readonly #logger: Logger;
  #recent: RegistryEvent[] = [];
  /** Everything after this revision is in `#recent`. */
  #floor: number | undefined;

  constructor(options: { readonly capacity: number; readonly logger: Logger }) {
    this.#capacity = options.capacity;
    this.#logger = options.logger;
  }

  /** The line of events begins anew after `revision`. */
  restart(revision: number): void {
    this.#recent = [];
    this.#floor = revision;
  }

  subscribe(listener: RegistryListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  emit(event: RegistryEvent | ResyncEvent): void {
    if (event.type !== 'resync') this.#keep(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.error('A listener of the registry failed', { error, event: event.type });
      }
    }
  }

  after(revision: number): readonly RegistryEvent[] | 'too_old' {
    const last = this.#recent.at(-1)?.revision ?? this.#floor;
    if (this.#floor === undefined || last === undefined || revision < this.#floor || revision > last) return 'too_old';
    return this.#recent.slice(revision - this.#floor);
  }

  #keep(event: RegistryEvent): void {
    this.#recent.push(event);
    // Cut in large pieces: cutting one by one would move the whole list for each event.
    if (this.#recent.length < this.#capacity * 1.25) return;
    const cut = this.#recent.length - this.#capacity;
    this.#floor = this.#recent[cut - 1]?.revision ?? this.#floor;
    this.#recent = this.#recent.slice(cut);
  }
}
