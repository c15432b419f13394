import type { Logger } from '@parley/service-kit';
import type { CommandRunner, ToolCaller } from '../actions/action-types.js';
import { ContextQueues } from '../domain/context-queues.js';
import { isTokenOf } from '../domain/driver-token.js';
import { ProxyState } from '../domain/proxy-state.js';
import { noOpenTurn, stopping, wrongToken } from '../domain/refusals.js';
import { TurnTimes } from '../domain/turn-times.js';
import type { TurnState } from '../domain/turn-state.js';
import type { ActionRun } from './action-run.js';
import { DEFAULT_LIMITS, type EngineLimits, type ProxyEngineDeps } from './engine-options.js';
import type { ProxyEngine } from './engine-types.js';
import { FactKeeper } from './fact-keeper.js';
import { randomHex, randomUuid, wallClock } from './sources.js';
import { TurnRun } from './turn-run.js';
import { Waiters } from './waiters.js';

/** What the rooms of the engine share. */
export class EngineCore {
  readonly state = new ProxyState();
  readonly keeper: FactKeeper;
  readonly queues: ContextQueues;
  readonly times: TurnTimes;
  readonly limits: EngineLimits;
  readonly longPollMs: number;
  readonly random: (bytes: number) => string;
  readonly ids: () => string;
  readonly logger: Logger;
  readonly commands: CommandRunner | undefined;
  readonly tools: ToolCaller;
  /** Tasks that have not ended. */
  readonly runs = new Map<string, TurnRun>();
  /** Actions of turns that are not over, by id. */
  readonly actions = new Map<string, ActionRun>();
  /** Drivers that wait for a turn to open or close. */
  readonly drivers = new Waiters();
  isStopping = false;

  constructor(deps: ProxyEngineDeps) {
    this.limits = { ...DEFAULT_LIMITS, ...deps.limits };
    this.longPollMs = deps.longPollMs ?? 25_000;
    this.random = deps.random ?? randomHex;
    this.ids = deps.ids ?? randomUuid;
    this.logger = deps.logger;
    this.commands = deps.commands;
    this.tools = deps.tools;
    this.times = new TurnTimes(deps.clock ?? wallClock());
    this.queues = new ContextQueues(this.limits);
    this.keeper = new FactKeeper(deps.log, this.state, deps.recorder, deps.logger);
  }

  /** @throws Refusal 401, also before any claim; 503 when the proxy shuts down. */
  checkToken(token: string): void {
    const { tokenHash } = this.state;
    if (tokenHash === undefined || !isTokenOf(tokenHash, token)) throw wrongToken();
    if (this.isStopping) throw stopping();
  }

  /** @throws Refusal 404 for a turn in which a driver can do nothing. */
  openTurn(taskId: string): { readonly state: TurnState; readonly run: TurnRun } {
    const state = this.state.openTurn(taskId);
    const run = this.runs.get(taskId);
    if (state === undefined || run === undefined || run.isOver) throw noOpenTurn(taskId);
    return { state, run };
  }

  /** Makes what a task needs while it lives. */
  addRun(taskId: string, contextId: string): TurnRun {
    const run = new TurnRun(taskId, contextId, this.tools, this.commands !== undefined);
    this.runs.set(taskId, run);
    return run;
  }

  counts(): ProxyEngine['counts'] {
    let runningActions = 0;
    for (const run of this.actions.values()) if (!run.isOver) runningActions += 1;
    return {
      openTurns: this.state.openTurns.size,
      queuedTurns: this.queues.queuedCount,
      runningActions,
      keptTasks: this.state.turns.size,
    };
  }
}
