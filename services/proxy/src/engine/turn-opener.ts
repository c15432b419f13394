import type { EngineCore } from './engine-core.js';
import type { TurnRun } from './turn-run.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Opens turns: one of a context at a time, with the servers and skills of that moment. */
export class TurnOpener {
  constructor(private readonly core: EngineCore) {}

  /** Opens all that may open now. */
  openReady(): void {
    for (;;) {
      if (this.core.isStopping) return;
      const taskId = this.core.queues.takeNext();
      const run = taskId === undefined ? undefined : this.core.runs.get(taskId);
      if (run === undefined) return;
      void this.#open(run);
    }
  }

  async #open(run: TurnRun): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const admitted = run.gate.hold();
      if (admitted !== undefined) await admitted;
      try {
        if (!this.#isWaiting(run)) return;
        const kept = this.#keep(run.taskId);
        if (kept !== undefined) await kept;
        this.core.drivers.wake();
        run.opening.wake();
        return;
      } catch {
        // Said in the log. Tried again outside of the gate: meanwhile its sender may cancel it.
      } finally {
        run.gate.release();
      }
      if (!(await this.core.keeper.pause(pauseMs))) return;
    }
  }

  #isWaiting(run: TurnRun): boolean {
    const turn = this.core.state.turns.get(run.taskId);
    return turn?.closed === undefined && turn?.opened === undefined && this.core.runs.get(run.taskId) === run;
  }

  #keep(taskId: string): Promise<void> | undefined {
    const { keeper, state, times } = this.core;
    return keeper.keepVersioned(taskId, (version) => ({
      kind: 'turn_opened',
      taskId,
      at: times.now(),
      version,
      servers: state.servers,
      skills: state.skills,
    }));
  }
}
