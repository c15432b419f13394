import type { RunningCommand } from '../actions/action-types.js';
import type { Action, ActionResult, ExpectedCall, Refusal } from '../domain/facts.js';
import { actionStopped } from '../domain/refusals.js';
import type { ActionAnswer } from './engine-types.js';
import type { LiveOutput } from './live-output.js';
import type { TurnRun } from './turn-run.js';
import { Waiters } from './waiters.js';

/** Why an action was ended before it ended by itself. */
export type EndReason = 'cancelled' | 'turn_over' | 'lost';

/** An action of an open turn: known from the moment it is asked for, before it runs, until its turn is over. */
export class ActionRun {
  #result: ActionResult | undefined;
  #refusal: Refusal | undefined;
  readonly #settled = Promise.withResolvers<undefined>();
  readonly #waiting = new Waiters();
  readonly #following = new Waiters();

  /** Set once the command runs. */
  command: RunningCommand | undefined;
  /** Aborts the tool call. */
  readonly abort: AbortController | undefined;
  endReason: EndReason | undefined;
  /** True once its end is being written down. */
  isEnding = false;
  /** True once its output was asked for while it ran. */
  isFollowed = false;

  constructor(
    readonly turn: TurnRun,
    readonly actionId: string,
    readonly action: Action,
    readonly call: ExpectedCall | undefined,
    readonly output: LiveOutput,
  ) {
    if (action.kind === 'tool') this.abort = new AbortController();
  }

  get isOver(): boolean {
    return this.#result !== undefined || this.#refusal !== undefined;
  }

  /** Resolves when it has ended and that is written down. */
  get settled(): Promise<undefined> {
    return this.#settled.promise;
  }

  /** For tests of what a wait leaves behind. */
  get waiterCount(): number {
    return this.#waiting.size + this.#following.size;
  }

  ended(result: ActionResult): void {
    this.#result = result;
    if (!this.isFollowed) this.output.clear();
    this.#settled.resolve(undefined);
    this.wake();
  }

  /** It could not start: whoever asked for it under this id meanwhile hears the same. */
  refused(refusal: Refusal): void {
    this.#refusal = refusal;
    this.#settled.resolve(undefined);
    this.wake();
  }

  wrote(): void {
    this.#following.wake();
  }

  wake(): void {
    this.#waiting.wake();
    this.#following.wake();
  }

  /** Waits for its end, with `after` also for output beyond it; at most the time. */
  async answer(waitMs: number, signal: AbortSignal, after?: number): Promise<ActionAnswer> {
    if (after !== undefined) this.isFollowed = true;
    if (!this.isOver && !this.turn.isOver && !(after !== undefined && this.output.end > after)) {
      await (after === undefined ? this.#waiting : this.#following).wait(waitMs, signal);
    }
    if (this.#refusal !== undefined) throw this.#refusal;
    const output = after === undefined ? undefined : { output: this.output.since(after) };
    if (this.#result !== undefined) return { done: true, result: this.#result, ...output };
    if (this.turn.isOver) throw actionStopped(this.actionId);
    return { done: false, ...output };
  }
}
