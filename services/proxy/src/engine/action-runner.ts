import type { ActionResult, BashAction, JsonObject, ToolAction } from '../domain/facts.js';
import type { TurnState } from '../domain/turn-state.js';
import type { ActionRun, EndReason } from './action-run.js';
import { resultOfEnded, resultOfFault } from './ended-actions.js';
import type { EngineCore } from './engine-core.js';

const BASH_TIMEOUT_SECONDS = 3600;
const TOOL_TIMEOUT_SECONDS = 600;

/** Runs actions that are written down as started, and writes down how they end. */
export class ActionRunner {
  #commandCount = 0;
  /** Commands that wait for one of those that run to end. */
  readonly #waiting = new Set<ActionRun>();

  constructor(private readonly core: EngineCore) {}

  start(run: ActionRun, state: TurnState): void {
    const { action } = run;
    // Asked to end while its start was still being written down: it does not begin.
    if (run.endReason !== undefined) this.#finish(run, undefined, {});
    else if (action.kind === 'tool') this.#call(run, action, state);
    else if (this.#commandCount < this.core.limits.maxRunningCommands) this.#command(run, action);
    else this.#waiting.add(run);
  }

  /** Asks it to end; `settled` of the action tells when it has. Its first reason counts. */
  end(run: ActionRun, reason: EndReason): void {
    if (run.isEnding) return;
    run.endReason ??= reason;
    if (this.#waiting.delete(run)) this.#finish(run, undefined, {});
    run.abort?.abort();
    run.command?.end().catch((error: unknown) => this.#log(run, 'A command could not be ended', error));
  }

  /** Writes down the end of one that does not end though it was asked to. */
  giveUp(run: ActionRun): void {
    if (run.isEnding) return;
    this.#log(run, 'An action did not end in time', undefined);
    this.#finish(run, undefined, {});
  }

  #call(run: ActionRun, { server, name, arguments: args, timeoutSeconds }: ToolAction, state: TurnState): void {
    const signal = run.abort?.signal ?? AbortSignal.abort();
    const timeoutMs = 1000 * (timeoutSeconds ?? TOOL_TIMEOUT_SECONDS);
    Promise.try(() => run.turn.toolsOf(state).call({ server, name, arguments: args, timeoutMs, signal })).then(
      ({ result, attributes }) => this.#finish(run, result, attributes),
      (error: unknown) => this.#fail(run, error),
    );
  }

  #command(run: ActionRun, { command, timeoutSeconds }: BashAction): void {
    this.#commandCount += 1;
    const timeoutMs = 1000 * (timeoutSeconds ?? BASH_TIMEOUT_SECONDS);
    const started = Promise.try(() => {
      const { commands } = this.core;
      if (commands === undefined) throw new Error('no shell');
      run.command = commands.start(command, {
        timeoutMs,
        onChunk: (chunk) => {
          run.output.add(chunk);
          run.wrote();
        },
      });
      return run.command.result;
    });
    started
      .then(
        (result) => this.#finish(run, result, {}),
        (error: unknown) => this.#fail(run, error),
      )
      .finally(() => this.#next())
      .catch((error: unknown) => this.#log(run, 'The next command could not be started', error));
  }

  #next(): void {
    this.#commandCount -= 1;
    const [run] = this.#waiting;
    if (run?.action.kind !== 'bash') return;
    this.#waiting.delete(run);
    this.#command(run, run.action);
  }

  #fail(run: ActionRun, error: unknown): void {
    this.#log(run, 'An action failed', error);
    this.#finish(run, resultOfFault(run.action), {});
  }

  #finish(run: ActionRun, own: ActionResult | undefined, attributes: JsonObject): void {
    if (run.isEnding) return;
    run.isEnding = true;
    const cause = run.endReason ?? (own === undefined ? 'lost' : 'done');
    const result = own !== undefined && cause === 'done' ? own : resultOfEnded(run.action, cause as EndReason, own);
    const { taskId } = run.turn;
    const fact = {
      kind: 'action_ended',
      taskId,
      actionId: run.actionId,
      at: this.core.times.now(),
      cause,
      result,
      ...(Object.keys(attributes).length > 0 && { attributes }),
    } as const;
    const { keeper } = this.core;
    const kept = keeper.untilKept(() => keeper.keep(taskId, fact));
    if (kept === undefined) run.ended(result);
    else {
      void kept.then(
        () => run.ended(result),
        // Shutting down: the next life finds it started and not ended, and says that it was lost.
        () => this.#log(run, 'The end of an action could not be written', undefined),
      );
    }
  }

  #log(run: ActionRun, message: string, error: unknown): void {
    this.core.logger.error(message, {
      taskId: run.turn.taskId,
      actionId: run.actionId,
      ...(error !== undefined && { error }),
    });
  }
}
