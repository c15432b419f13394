import type { EngineCore } from './engine-core.js';

/** Forgets the tasks that ended longest ago when there are too many. One that has not ended is never touched. */
export class KeptTasks {
  /** In order of ending. */
  readonly #ended = new Set<string>();
  /** Tasks by context and message id, so that a message sent again is the same task. */
  readonly #messages = new Map<string, string>();

  /** Whose forgetting is being written down; they count as kept until then. */
  #leaving = 0;

  constructor(private readonly core: EngineCore) {}

  taskOf(contextId: string, messageId: string): string | undefined {
    return this.#messages.get(messageKey(contextId, messageId));
  }

  /** A message arrived. */
  add(contextId: string, messageId: string, taskId: string): void {
    this.#messages.set(messageKey(contextId, messageId), taskId);
  }

  /** It was refused after all. */
  takeBack(contextId: string, messageId: string): void {
    this.#messages.delete(messageKey(contextId, messageId));
  }

  ended(taskId: string): void {
    this.#ended.add(taskId);
    this.forgetSome();
  }

  forgetSome(): void {
    let excess = this.core.state.turns.size - this.#leaving - this.core.limits.maxKeptTasks;
    for (const taskId of this.#ended) {
      if (excess <= 0) return;
      // The one that made the present version stays: after a restart the version goes on from what is kept.
      if (this.core.state.turns.get(taskId)?.closed?.version === this.core.state.version) continue;
      this.#ended.delete(taskId);
      excess -= 1;
      void this.#forget(taskId);
    }
  }

  async #forget(taskId: string): Promise<void> {
    const turn = this.core.state.turns.get(taskId);
    if (turn === undefined) return;
    const { keeper, times } = this.core;
    this.#leaving += 1;
    try {
      const kept = keeper.keep(taskId, { kind: 'turn_forgotten', taskId, at: times.now() });
      if (kept !== undefined) await kept;
    } catch {
      // Said in the log; its turn comes again when the next task ends.
      this.#ended.add(taskId);
      return;
    } finally {
      this.#leaving -= 1;
    }
    this.takeBack(turn.contextId, turn.submitted.messageId);
    await keeper.forget(taskId);
  }
}

function messageKey(contextId: string, messageId: string): string {
  return JSON.stringify([contextId, messageId]);
}
