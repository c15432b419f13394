import { abortReasonOf } from './abort-reason.js';
import { cancelledResult, errorResult } from './call-results.js';
import type { ToolCallResult } from '../events.js';
import type { ToolCall } from '../messages.js';
import { observeCall } from './observe-call.js';
import type { RepeatGuard } from './repeat-guard.js';
import { thrownText } from './thrown-text.js';
import { parseArguments } from './tool-arguments.js';
import { ToolCallRunner, type CallRunnerParts, type PreparedCall } from './tool-call-runner.js';
import type { ToolTurnOutcome } from './tool-turn.js';
import { endOf, repeatEnd, type TurnEnd } from './turn-end.js';
import { TurnSettler, type SettledCall } from './turn-settler.js';

export interface TurnRunParts extends CallRunnerParts {
  readonly guard: RepeatGuard;
}

interface RunningCall {
  readonly prepared: PreparedCall;
  result: ToolCallResult | undefined;
}

/**
 * Takes the calls of one message to their results, in source order: contiguous read-only calls run at the same time as
 * far as the limits allow, any other call runs alone. Whatever happens, each call is settled once.
 */
export class TurnRun {
  readonly #calls: readonly ToolCall[];
  readonly #runner: ToolCallRunner;
  readonly #settler: TurnSettler;
  readonly #prepared: PreparedCall[] = [];
  readonly #ids = new Set<string>();
  /** Started and not yet told, in source order; those behind the first may have ended already. */
  readonly #running: RunningCall[] = [];
  #next = 0;
  #end: TurnEnd | undefined;
  #wake: (() => void) | undefined;

  constructor(private readonly parts: TurnRunParts) {
    this.#calls = parts.turn.message.toolCalls;
    this.#runner = new ToolCallRunner(parts);
    this.#settler = new TurnSettler(parts.turn, parts.gate);
  }

  /** @throws What `emit` or `commit` threw, after the running calls have ended. */
  async run(): Promise<ToolTurnOutcome> {
    const { signal } = this.parts.turn;
    const onAbort = () => this.#runner.interruptAll(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#settleAll();
    } catch (error) {
      await this.#halt(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    return signal.aborted ? { kind: 'aborted' } : (this.#end?.outcome ?? { kind: 'continue' });
  }

  async #settleAll(): Promise<void> {
    for (;;) {
      while (this.#mayStart()) await this.#start();
      if (this.#running.length > 0) await this.#settleRunning();
      else if (this.#next < this.#calls.length) await this.#settleUnstarted();
      else return;
    }
  }

  #mayStart(): boolean {
    if (this.#next >= this.#calls.length || this.#end !== undefined || this.parts.turn.signal.aborted) return false;
    if (this.#running.length > 0 && !this.#fitsIntoBatch()) return false;
    const { call, parsed } = this.#prepare();
    return !this.parts.guard.wouldRefuse(call.name, parsed.canonical);
  }

  #fitsIntoBatch(): boolean {
    const { maxParallel } = this.parts.limits;
    if (maxParallel === 1 || !isReadOnly(this.#running[0]?.prepared) || !isReadOnly(this.#prepare())) return false;
    const active = this.#running.filter(({ result }) => result === undefined).length;
    return active < maxParallel && this.#running.every(({ result }) => (result?.control ?? 'continue') === 'continue');
  }

  /** The next call; read once, since several looks are taken at it while it waits. */
  #prepare(): PreparedCall {
    const known = this.#prepared[this.#next];
    if (known !== undefined) return known;
    const call = this.#calls[this.#next] as ToolCall;
    const prepared: PreparedCall = {
      call,
      route: this.parts.catalog.route(call.name),
      parsed: parseArguments(call.arguments),
      duplicate: this.#ids.has(call.id),
    };
    this.#ids.add(call.id);
    this.#prepared.push(prepared);
    return prepared;
  }

  async #start(): Promise<void> {
    const prepared = this.#prepare();
    this.parts.guard.count(prepared.call.name, prepared.parsed.canonical);
    this.#next += 1;
    await this.#settler.started(prepared.call);
    const running: RunningCall = { prepared, result: undefined };
    this.#running.push(running);
    const settle = (result: ToolCallResult) => {
      running.result = result;
      this.#wake?.();
    };
    // Nothing above should reject; if it does, the call must not be waited for in vain.
    this.#observed(prepared).then(settle, (error: unknown) => settle(errorResult(prepared.call, thrownText(error))));
  }

  #observed(prepared: PreparedCall): Promise<ToolCallResult> {
    const { turn, logger } = this.parts;
    const work = () => this.#runner.run(prepared);
    if (turn.observers.length === 0) return work();
    const { agentId, runId, observers } = turn;
    const observed = { agentId, runId, turn: turn.turn, toolCall: prepared.call, tool: prepared.route?.definition };
    return observeCall(observers, observed, work, logger);
  }

  /** Tells the calls that have ended, from the first on; if there is none, waits until something has. */
  async #settleRunning(): Promise<void> {
    const settled = this.#takeSettled();
    if (settled.length === 0) {
      await this.#nextEnd();
      return;
    }
    for (const { call, result } of settled) this.#end ??= endOf(call, result);
    await this.#settler.completed(settled);
  }

  #takeSettled(): SettledCall[] {
    const settled: SettledCall[] = [];
    for (;;) {
      const first = this.#running[0];
      if (first?.result === undefined) return settled;
      settled.push({ call: first.prepared.call, result: first.result });
      this.#running.shift();
    }
  }

  async #nextEnd(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** The next call will not run: the run has ended, was aborted, or the call is one too many. */
  async #settleUnstarted(): Promise<void> {
    const { call, parsed } = this.#prepare();
    this.#next += 1;
    await this.#settler.unstarted(call, this.#unstartedResult(call, parsed.canonical));
  }

  #unstartedResult(call: ToolCall, canonical: string): ToolCallResult {
    const { turn, guard } = this.parts;
    if (turn.signal.aborted) return cancelledResult(call, 'cancelled_before_start', abortReasonOf(turn.signal));
    if (this.#end !== undefined) return cancelledResult(call, 'cancelled_before_start', this.#end.reason);
    guard.count(call.name, canonical);
    const error = guard.refusal(call.name);
    this.#end = repeatEnd(call, error);
    return errorResult(call, error, 'repeated_tool_call');
  }

  /** Nothing more is told: what runs is aborted and waited for, so that no tool outlives its run. */
  async #halt(reason: unknown): Promise<void> {
    this.#runner.interruptAll(reason);
    while (this.#running.some(({ result }) => result === undefined)) await this.#nextEnd();
  }
}

function isReadOnly(prepared: PreparedCall | undefined): boolean {
  return prepared?.route?.definition.effect === 'read_only';
}
