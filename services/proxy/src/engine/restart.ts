import type { Fact } from '../domain/facts.js';
import type { TurnState } from '../domain/turn-state.js';
import { withoutRefused, withoutRepeats } from '../domain/without-repeats.js';
import type { FactLog } from '../journal/fact-log.js';
import { ActionRun } from './action-run.js';
import { resultOfEnded } from './ended-actions.js';
import type { EngineCore } from './engine-core.js';
import type { KeptTasks } from './kept-tasks.js';
import { LiveOutput } from './live-output.js';
import type { Sender } from './sender.js';
import type { TurnCloser } from './turn-closer.js';
import type { TurnOpener } from './turn-opener.js';
import type { TurnRun } from './turn-run.js';

interface Rooms {
  readonly sender: Sender;
  readonly closer: TurnCloser;
  readonly opener: TurnOpener;
  readonly kept: KeptTasks;
}

/**
 * Goes on where an earlier life stopped: turns are open as they were, what ran then is lost and says so, an accepted
 * reply is carried out, and the version is higher than any that was ever told.
 */
export class Restart {
  constructor(
    private readonly core: EngineCore,
    private readonly log: FactLog,
    private readonly rooms: Rooms,
  ) {}

  async run(): Promise<void> {
    const hadLife = await this.#replay();
    const { keeper, state, times } = this.core;
    state.sortOpenTurns();
    await keeper.keep('proxy', { kind: 'started', at: times.now(), version: hadLife ? state.version + 1 : 0 });
    this.#learnEnded();
    const turns = [...state.turns.values()].filter(({ closed }) => closed === undefined);
    for (const turn of turns) await this.#revive(turn);
    this.rooms.opener.openReady();
    this.rooms.kept.forgetSome();
  }

  /** Tasks come back in the order in which they arrived, whatever order the log has them in. */
  async #replay(): Promise<boolean> {
    const tasks: (readonly Fact[])[] = [];
    let hadLife = false;
    for await (const { stream, facts } of this.log.load()) {
      hadLife ||= facts.length > 0;
      if (stream === 'proxy') this.#apply(facts);
      else if (facts[0]?.kind === 'turn_submitted' && facts.at(-1)?.kind !== 'turn_forgotten')
        tasks.push(withoutRepeats(facts));
      else await this.core.keeper.forget(stream);
    }
    tasks.sort(([one], [other]) => (one?.at ?? 0) - (other?.at ?? 0));
    const { accepted, refused } = withoutRefused(tasks);
    for (const facts of accepted) this.#apply(facts);
    for (const [first] of refused) if (first?.kind === 'turn_submitted') await this.core.keeper.forget(first.taskId);
    return hadLife;
  }

  #apply(facts: readonly Fact[]): void {
    for (const fact of facts) {
      this.core.keeper.replay(fact);
      this.core.times.startAfter(fact.at);
    }
  }

  #learnEnded(): void {
    const { turns } = this.core.state;
    for (const turn of turns.values()) this.rooms.kept.add(turn.contextId, turn.submitted.messageId, turn.taskId);
    const ended = [...turns.values()].filter(({ closed }) => closed !== undefined);
    ended.sort((one, other) => one.changedAt - other.changedAt);
    for (const { taskId } of ended) this.rooms.kept.ended(taskId);
  }

  async #revive(turn: TurnState): Promise<void> {
    const { taskId, contextId } = turn;
    const run = this.core.addRun(taskId, contextId);
    if (turn.opened !== undefined) {
      this.core.queues.restoreOpen(contextId, taskId);
      for (const { actionId } of [...turn.actions.values()]) await this.#reviveAction(run, turn, actionId);
      if (turn.ending !== undefined) void this.rooms.closer.close(run, turn.ending);
    } else if (turn.submitted.texts.length === 0) await this.rooms.sender.endUnopened(run);
    else this.core.queues.restoreWaiting(contextId, taskId);
  }

  async #reviveAction(run: TurnRun, turn: TurnState, actionId: string): Promise<void> {
    const state = turn.actions.get(actionId);
    if (state === undefined) return;
    const action = new ActionRun(run, actionId, state.action, state.call, new LiveOutput(0));
    run.actions.set(actionId, action);
    this.core.actions.set(actionId, action);
    action.isEnding = true;
    const result = state.ended?.result ?? resultOfEnded(state.action, 'lost', undefined);
    if (state.ended === undefined) {
      const { keeper, times } = this.core;
      await keeper.keep(run.taskId, {
        kind: 'action_ended',
        taskId: run.taskId,
        actionId,
        at: times.now(),
        cause: 'lost',
        result,
      });
    }
    action.ended(result);
  }
}
