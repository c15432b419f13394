import { stopping } from '../domain/refusals.js';
import type { ActionRunner } from './action-runner.js';
import type { EngineCore } from './engine-core.js';

/** Stops everything within a time; turns stay open in the journal, for the next life to go on with. */
export class Shutdown {
  #stopped: Promise<void> | undefined;

  constructor(
    private readonly core: EngineCore,
    private readonly runner: ActionRunner,
  ) {}

  /** Called again it is the same stop. */
  run(graceMs: number): Promise<void> {
    this.#stopped ??= this.#run(graceMs);
    return this.#stopped;
  }

  async #run(graceMs: number): Promise<void> {
    const { core } = this;
    core.isStopping = true;
    const deadline = performance.now() + graceMs;
    core.drivers.wake();
    const ending: Promise<unknown>[] = [];
    for (const run of core.runs.values()) {
      run.stopCalls(stopping());
      run.senders.wake();
      run.opening.wake();
      for (const action of run.actions.values()) {
        // Its callers hear that it is not done: they ask again, and the next life answers.
        action.wake();
        if (action.isOver) continue;
        this.runner.end(action, 'lost');
        ending.push(action.settled);
      }
    }
    await this.#within(deadline, Promise.all(ending));
    core.keeper.stop();
    const closed = Promise.all([
      ...Array.from(core.runs.values(), (run) => run.closeTools()),
      core.commands?.close(Math.max(0, deadline - performance.now())),
      core.tools.close(),
    ]);
    await this.#within(deadline, closed);
  }

  async #within(deadline: number, work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
    });
    try {
      await Promise.race([work, late]);
    } catch (error) {
      this.core.logger.warn('Not everything stopped well', { error });
    } finally {
      clearTimeout(timer);
    }
  }
}
