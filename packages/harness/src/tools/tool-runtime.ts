import type { RuntimePolicy } from '../agent/agent-options.js';
import { quietLogger, type HarnessLogger } from '../logger.js';
import { errorResult } from './call-results.js';
import { buildChain, outcomeOf, type ToolLink } from './middleware-chain.js';
import { PartStack } from './part-stack.js';
import { RepeatGuard } from './repeat-guard.js';
import type { StepOutcome } from './step-outcome.js';
import type { SupervisedWork } from './supervised-work.js';
import { thrownText } from './thrown-text.js';
import { ToolCatalog } from './tool-catalog.js';
import type { ToolDefinition } from './tool-definition.js';
import type { TaskContext, ToolCallContext, ToolHandler, ToolMiddleware } from './tool-handler.js';
import { toolLimits, type ToolLimits } from './tool-limits.js';
import type { ToolTurn, ToolTurnOutcome } from './tool-turn.js';
import { TurnGate } from './turn-gate.js';
import { TurnRun } from './turn-run.js';
import { TurnSettler } from './turn-settler.js';
import { untilAborted } from './until-aborted.js';

export interface ToolRuntimeOptions {
  readonly handlers?: readonly ToolHandler[];
  /** The first is the outermost. */
  readonly middlewares?: readonly ToolMiddleware[];
  readonly policy?: RuntimePolicy;
  readonly logger?: HarnessLogger;
  /** The largest result that a model is given, in bytes of UTF-8; the rest is cut off. Default 262,144. */
  readonly maxResultBytes?: number;
  /** How long one handler or middleware may take to stop, in milliseconds. Default 10,000. */
  readonly stopTimeoutMs?: number;
}

/** Everything between an answer that calls tools and their results: life cycle, routing, middlewares, limits. */
export class ToolRuntime {
  readonly #handlers: readonly ToolHandler[];
  readonly #middlewares: readonly ToolMiddleware[];
  readonly #logger: HarnessLogger;
  readonly #limits: ToolLimits;
  readonly #stack: PartStack;
  readonly #guard: RepeatGuard;
  readonly #chain: ToolLink;
  #catalog = ToolCatalog.EMPTY;
  #starting: Promise<void> | undefined;

  /** @throws RangeError for a limit out of range. */
  constructor(options: ToolRuntimeOptions) {
    this.#handlers = [...(options.handlers ?? [])];
    this.#middlewares = [...(options.middlewares ?? [])];
    this.#logger = options.logger ?? quietLogger;
    this.#limits = toolLimits(options.policy ?? {}, options.maxResultBytes);
    this.#stack = new PartStack(options.stopTimeoutMs ?? 10_000, this.#logger);
    this.#guard = new RepeatGuard(this.#limits.repeatLimit);
    this.#chain = buildChain(this.#middlewares, (context, work) => this.#callHandler(context, work));
  }

  /** The tools on offer; empty unless started. A new array whenever a handler's list has changed. */
  get definitions(): readonly ToolDefinition[] {
    return this.#catalog.definitions;
  }

  /**
   * Starts handlers in order, collects their tools, then starts middlewares with all of them. Does nothing if it has
   * started; can be tried again after a failure or a stop.
   *
   * @throws The first failure (a ToolDefinitionError for tools that cannot be offered, the signal's reason if it is
   * aborted), after everything that had started was stopped in reverse order.
   */
  start(signal: AbortSignal): Promise<void> {
    this.#starting ??= this.#startAll(signal).catch(async (error: unknown) => {
      await this.#stack.stopAll();
      this.#catalog = ToolCatalog.EMPTY;
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /**
   * Stops middlewares, then handlers, in reverse order, each one whatever the others do.
   *
   * @throws The first failure, after all were tried; the others are only logged.
   */
  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    const failure = await this.#stack.stopAll();
    this.#catalog = ToolCatalog.EMPTY;
    this.#starting = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Tells handlers, then middlewares, that a run begins. Tools whose handler has replaced its list are on offer from
   * then on, and repeated calls are counted from zero.
   *
   * @throws What one of them threw, or the signal's reason if the run is aborted meanwhile.
   */
  async onTask(task: TaskContext): Promise<void> {
    this.#guard.reset(task.runId);
    for (const handler of this.#handlers) await tell(handler, task);
    this.#refreshCatalog();
    for (const middleware of this.#middlewares) await tell(middleware, task);
  }

  /**
   * Runs the calls of one message. Every call is settled when it returns: its result was committed, then shown, in
   * source order.
   *
   * @throws Only what `emit` or `commit` threw.
   */
  runTurn(turn: ToolTurn): Promise<ToolTurnOutcome> {
    this.#guard.enter(turn.runId);
    const run = new TurnRun({
      turn,
      gate: new TurnGate(),
      limits: this.#limits,
      chain: this.#chain,
      catalog: this.#catalog,
      guard: this.#guard,
      logger: this.#logger,
    });
    return run.run();
  }

  /** Settles every call of a message with an error and runs none, as for an answer that was cut off. */
  async refuseAll(turn: ToolTurn, errorText: string): Promise<void> {
    const settler = new TurnSettler(turn, new TurnGate());
    for (const call of turn.message.toolCalls) await settler.unstarted(call, errorResult(call, errorText));
  }

  async #startAll(signal: AbortSignal): Promise<void> {
    for (const handler of this.#handlers) {
      await this.#stack.start(handler, () => handler.start?.(signal), signal);
    }
    this.#catalog = new ToolCatalog(this.#handlers);
    for (const middleware of this.#middlewares) {
      await this.#stack.start(middleware, () => middleware.start?.(this.definitions, signal), signal);
    }
  }

  /** A list that cannot be offered leaves the former one in place: it is no reason to refuse a run. */
  #refreshCatalog(): void {
    if (!this.#catalog.isStale) return;
    try {
      this.#catalog = new ToolCatalog(this.#handlers);
    } catch (error) {
      this.#logger.warn('a changed list of tools was not taken over', { error: thrownText(error) });
    }
  }

  /** The innermost link. A middleware may have passed on another tool's context. */
  async #callHandler(context: ToolCallContext, work: SupervisedWork): Promise<StepOutcome> {
    const route = this.#catalog.route(context.tool.name);
    if (route === undefined) throw new Error(this.#catalog.unknownTool(context.tool.name));
    work.begin();
    return outcomeOf(await route.handler.call(context));
  }
}

async function tell(part: ToolHandler | ToolMiddleware, task: TaskContext): Promise<void> {
  const told = part.onTask?.(task);
  if (told !== undefined) await untilAborted(told, task.signal);
}
