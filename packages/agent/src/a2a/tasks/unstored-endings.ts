import type { Task } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';

/** More than this means that the store has been away for long: the oldest are given up. */
const MAX_KEPT = 1_000;

/** Tasks whose end was told and could not be stored: their records still say that they go on. */
export class UnstoredEndings {
  readonly #kept = new Map<string, { readonly task: Task; readonly call: ServerCallContext }>();

  get count(): number {
    return this.#kept.size;
  }

  keep(task: Task, call: ServerCallContext): void {
    this.#kept.set(task.id, { task, call });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Stops at the first one that the store cannot take now; one that ended otherwise meanwhile is forgotten. */
  async store(store: TaskStore, isFinal: (error: unknown) => boolean): Promise<void> {
    for (const [id, { task, call }] of this.#kept) {
      try {
        await store.save(task, call);
      } catch (error) {
        if (!isFinal(error)) throw error;
      }
      this.#kept.delete(id);
    }
  }
}
