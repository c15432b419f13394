import type { Logger } from '@parley/service-kit';

/** Listeners by event name; one that throws is logged and disturbs nobody. */
export class TypedEvents<E extends object> {
  readonly #listeners = new Map<keyof E, Set<(payload: never) => void>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns a function that takes the listener back. */
  on<K extends keyof E>(event: K, listener: (payload: E[K]) => void): () => void {
    const set = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, set);
    set.add(listener);
    return () => {
      set.delete(listener);
    };
  }

  emit<K extends keyof E>(event: K, payload: E[K]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        (listener as (payload: E[K]) => void)(payload);
      } catch (error) {
        this.#logger.error('A listener failed', { event: String(event), error });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
