import type { TurnEnd } from '../domain/facts.js';
import { noOpenTurn } from '../domain/refusals.js';
import type { ActionRunner } from './action-runner.js';
import type { EngineCore } from './engine-core.js';
import type { KeptTasks } from './kept-tasks.js';
import type { TurnOpener } from './turn-opener.js';
import type { TurnRun } from './turn-run.js';

/** How long actions have to end, and sessions to close; what does not is left behind, and said. */
const END_DEADLINE_MS = 10_000;

/** Closes a turn whose end is decided: what it runs is ended, then its end is written down, then everybody hears. */
export class TurnCloser {
  readonly #closing = new Map<string, Promise<void>>();

  constructor(
    private readonly core: EngineCore,
    private readonly runner: ActionRunner,
    private readonly opener: TurnOpener,
    private readonly kept: KeptTasks,
  ) {}

  /** Resolves when the turn has closed; called again it is the same closing. Rejects when the proxy stops before. */
  close(run: TurnRun, end: TurnEnd): Promise<void> {
    const known = this.#closing.get(run.taskId);
    if (known !== undefined) return known;
    // Before anything is awaited: an action of a turn that is over is nobody's from this moment on.
    run.over(noOpenTurn(run.taskId));
    for (const actionId of run.actions.keys()) this.core.actions.delete(actionId);
    const closing = this.#close(run, end).finally(() => this.#closing.delete(run.taskId));
    this.#closing.set(run.taskId, closing);
    // Whoever waits for it hears; nobody has to.
    closing.catch(() => undefined);
    return closing;
  }

  async #close(run: TurnRun, end: TurnEnd): Promise<void> {
    const survivors = await this.#endAll(run);
    if (survivors > 0) {
      this.core.logger.info('Processes that commands had left behind were ended', { taskId: run.taskId, survivors });
    }
    const { taskId, contextId } = run;
    const messageId = this.core.ids();
    const toolCallCount = this.core.state.turns.get(taskId)?.actions.size ?? 0;
    const { keeper, times } = this.core;
    await keeper.untilKept(() =>
      keeper.keepVersioned(taskId, (version) => ({
        kind: 'turn_closed',
        taskId,
        at: times.now(),
        version,
        end,
        messageId,
        toolCallCount,
        ...(survivors > 0 && { survivors }),
      })),
    );
    this.core.runs.delete(taskId);
    this.core.queues.remove(contextId, taskId);
    this.kept.ended(taskId);
    run.senders.wake();
    this.core.drivers.wake();
    this.opener.openReady();
  }

  /** Ends actions, what finished commands left running, and sessions. Resolves with how many processes were left. */
  async #endAll(run: TurnRun): Promise<number> {
    const actions = [...run.actions.values()];
    if (actions.length === 0) {
      await this.#inTime(run, run.closeTools());
      return 0;
    }
    const finished = actions.filter(({ isOver, isEnding }) => isOver || isEnding);
    for (const action of actions) this.runner.end(action, 'turn_over');
    const calls = actions.filter(({ action }) => action.kind === 'tool');
    let survivors = 0;
    const work = Promise.all([
      ...actions.map(({ settled }) => settled),
      // Calls first: a session whose call was told to stop says goodbye only then.
      Promise.all(calls.map(({ settled }) => settled)).then(() => run.closeTools()),
      ...finished.map(async ({ command }) => {
        survivors += (await command?.end()) ?? 0;
      }),
    ]);
    await this.#inTime(run, work);
    for (const action of actions) if (!action.isOver) this.runner.giveUp(action);
    return survivors;
  }

  async #inTime(run: TurnRun, work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_DEADLINE_MS);
    });
    try {
      await Promise.race([work, late]);
    } catch (error) {
      this.core.logger.warn('Not everything of a turn ended well', { taskId: run.taskId, error });
    } finally {
      clearTimeout(timer);
    }
  }
}
