import type { Message } from '@parley/harness';

const MAX_CONTEXTS = 100;

/** What was said in each context, for its next turn; of many contexts those that were used last. */
export class ContextMemory {
  readonly #histories = new Map<string, readonly Message[]>();

  get(contextId: string): readonly Message[] {
    return this.#histories.get(contextId) ?? [];
  }

  keep(contextId: string, history: readonly Message[]): void {
    this.#histories.delete(contextId);
    this.#histories.set(contextId, history);
    for (const oldest of this.#histories.keys()) {
      if (this.#histories.size <= MAX_CONTEXTS) return;
      this.#histories.delete(oldest);
    }
  }
}
