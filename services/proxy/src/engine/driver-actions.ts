import { isSameAction } from '../domain/action-key.js';
import { keyOfAction } from '../domain/expected-calls.js';
import { type Action, type ExpectedCall, Refusal } from '../domain/facts.js';
import { whyNotJson } from '../domain/json-values.js';
import { anotherAction, anotherTurnsAction, callNotMade, noAction, noShell, stopping } from '../domain/refusals.js';
import type { TurnState } from '../domain/turn-state.js';
import { ActionRun } from './action-run.js';
import type { ActionRunner } from './action-runner.js';
import type { EngineCore } from './engine-core.js';
import type { ActionAnswer, ProxyEngine } from './engine-types.js';
import { LiveOutput } from './live-output.js';
import type { TurnRun } from './turn-run.js';

const MAX_ID_CHARACTERS = 128;

type Ask<K extends 'act' | 'result' | 'cancelAction'> = Parameters<ProxyEngine[K]>[0];

/** What a driver does with actions: start one, ask how it is, end it. */
export class DriverActions {
  constructor(
    private readonly core: EngineCore,
    private readonly runner: ActionRunner,
  ) {}

  async act(ask: Ask<'act'>): Promise<ActionAnswer> {
    refuseUnusable(ask.actionId, ask.action);
    this.core.checkToken(ask.token);
    const run = this.#known(ask) ?? (await this.#start(this.core.openTurn(ask.taskId).run, ask));
    return run.answer(this.core.longPollMs, ask.signal);
  }

  async result({ token, actionId, after, signal }: Ask<'result'>): Promise<ActionAnswer> {
    this.core.checkToken(token);
    const run = this.core.actions.get(actionId);
    if (run === undefined) throw noAction(actionId);
    return run.answer(this.core.longPollMs, signal, after);
  }

  async cancelAction({ token, actionId, signal }: Ask<'cancelAction'>): Promise<ActionAnswer> {
    this.core.checkToken(token);
    const run = this.core.actions.get(actionId);
    if (run === undefined) throw noAction(actionId);
    this.runner.end(run, 'cancelled');
    return run.answer(this.core.longPollMs, signal);
  }

  /** The action that has this id already. */
  #known({ actionId, taskId, action }: Ask<'act'>): ActionRun | undefined {
    const run = this.core.actions.get(actionId);
    if (run === undefined) return undefined;
    if (run.turn.taskId !== taskId) throw anotherTurnsAction(actionId);
    if (!isSameAction(run.action, action)) throw anotherAction(actionId);
    return run;
  }

  async #start(turn: TurnRun, ask: Ask<'act'>): Promise<ActionRun> {
    const admitted = turn.gate.share();
    if (admitted !== undefined) await admitted;
    try {
      // Something about the turn may have been decided meanwhile: what is true of it now, is asked anew.
      const known = this.#known(ask);
      if (known !== undefined) return known;
      const { state } = this.core.openTurn(ask.taskId);
      if (this.core.isStopping) throw stopping();
      if (ask.action.kind === 'bash' && this.core.commands === undefined) throw noShell();
      this.#refuseTooMany(turn);
      const call = takeCall(state, ask.action);
      const output = new LiveOutput(this.core.limits.maxLiveOutput);
      const run = new ActionRun(turn, ask.actionId, ask.action, call, output);
      // Known from here on: the same id asked for again meanwhile finds it, and does not run it twice.
      this.core.actions.set(run.actionId, run);
      turn.actions.set(run.actionId, run);
      try {
        const kept = this.#keepStart(run);
        if (kept !== undefined) await kept;
      } catch (error) {
        throw this.#takeBack(run, state, error);
      }
      this.runner.start(run, state);
      return run;
    } finally {
      turn.gate.unshare();
    }
  }

  #keepStart({ turn, actionId, action, call }: ActionRun): Promise<void> | undefined {
    return this.core.keeper.keep(turn.taskId, {
      kind: 'action_started',
      taskId: turn.taskId,
      actionId,
      at: this.core.times.now(),
      action,
      ...(call !== undefined && { call }),
      spanId: this.core.random(8),
    });
  }

  #takeBack(run: ActionRun, state: TurnState, error: unknown): unknown {
    this.core.actions.delete(run.actionId);
    run.turn.actions.delete(run.actionId);
    if (run.call !== undefined) state.expected.putBack(run.call);
    run.refused(error instanceof Refusal ? error : stopping());
    return error;
  }

  #refuseTooMany(turn: TurnRun): void {
    const { maxActionsPerTurn } = this.core.limits;
    if (turn.actions.size < maxActionsPerTurn) return;
    throw new Refusal(429, `the turn has had ${maxActionsPerTurn} actions, and may have no more`);
  }
}

/** Takes out the recorded call that the action is; before the first record everything goes. */
function takeCall(state: TurnState, action: Action): ExpectedCall | undefined {
  if (!state.recorded) return undefined;
  const wanted = keyOfAction(action);
  const call = state.expected.take(wanted);
  if (call === undefined) throw callNotMade(wanted.name);
  return call;
}

function refuseUnusable(actionId: string, action: Action): void {
  const tooLong = actionId.length > MAX_ID_CHARACTERS && Array.from(actionId).length > MAX_ID_CHARACTERS;
  if (actionId === '' || tooLong) throw new Refusal(400, `an action id has 1 to ${MAX_ID_CHARACTERS} characters`);
  const { timeoutSeconds } = action;
  if (timeoutSeconds !== undefined && !(timeoutSeconds > 0)) {
    throw new Refusal(400, "an action's timeout_seconds is a number over 0");
  }
  const fault = action.kind === 'tool' ? whyNotJson(action.arguments) : undefined;
  if (fault !== undefined) throw new Refusal(400, `the action can't be kept: it ${fault}`);
}
