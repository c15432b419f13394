import { abortReasonOf } from './abort-reason.js';
import { answeredResult, cancelledResult, errorResult, shownName } from './call-results.js';
import type { ToolCallResult } from '../events.js';
import type { HarnessLogger } from '../logger.js';
import type { ToolCall } from '../messages.js';
import type { ToolLink } from './middleware-chain.js';
import { ProgressChannel } from './progress-channel.js';
import type { StepOutcome } from './step-outcome.js';
import { SupervisedWork, type WorkEnd } from './supervised-work.js';
import { thrownText } from './thrown-text.js';
import type { ParsedArguments } from './tool-arguments.js';
import type { ToolCatalog, ToolRoute } from './tool-catalog.js';
import type { ToolLimits } from './tool-limits.js';
import type { ToolTurn } from './tool-turn.js';
import type { TurnGate } from './turn-gate.js';

const DUPLICATE = 'another call of the same message has the same id';

/** A call that is about to run, with what is known of it. */
export interface PreparedCall {
  readonly call: ToolCall;
  readonly route: ToolRoute | undefined;
  readonly parsed: ParsedArguments;
  /** An earlier call of the message has the same id. */
  readonly duplicate: boolean;
}

export interface CallRunnerParts {
  readonly turn: ToolTurn;
  readonly gate: TurnGate;
  readonly limits: ToolLimits;
  readonly chain: ToolLink;
  readonly catalog: ToolCatalog;
  readonly logger: HarnessLogger;
}

/** Runs calls of one turn to their results, whatever tools and middlewares do, and can interrupt those that run. */
export class ToolCallRunner {
  readonly #active = new Set<SupervisedWork>();
  #interrupted = false;

  constructor(private readonly parts: CallRunnerParts) {}

  /** Aborts every running call, each of which then ends within its grace, and lets no further one begin. */
  interruptAll(reason: unknown): void {
    this.#interrupted = true;
    this.#active.forEach((work) => work.interrupt(reason));
  }

  /** Rejects only if a logger throws. */
  async run(prepared: PreparedCall): Promise<ToolCallResult> {
    const { call, route, parsed } = prepared;
    if (this.#interrupted) return this.#notStarted(call);
    if (prepared.duplicate) return errorResult(call, DUPLICATE, 'duplicate_id');
    if (route === undefined) return errorResult(call, this.parts.catalog.unknownTool(call.name));
    if (!parsed.ok) return errorResult(call, parsed.error);
    const work = new SupervisedWork(this.parts.limits);
    const progress = this.#progressOf(call, work);
    this.#active.add(work);
    const { agentId, runId, turn } = this.parts.turn;
    const context = { agentId, runId, turn, callId: call.id, tool: route.definition, arguments: parsed.value };
    const end = await work.run((signal) => this.parts.chain({ ...context, signal, progress }, work));
    this.#active.delete(work);
    await progress.close();
    return this.#resultOf(call, work, end);
  }

  #progressOf(call: ToolCall, work: SupervisedWork): ProgressChannel {
    const { turn, gate, logger } = this.parts;
    return new ProgressChannel(
      work.signal,
      (update) => gate.run(() => turn.emit({ kind: 'tool_progressed', turn: turn.turn, toolCall: call, update })),
      logger,
    );
  }

  #resultOf(call: ToolCall, work: SupervisedWork, end: WorkEnd<StepOutcome>): ToolCallResult {
    if (end.kind === 'abandoned') this.#logAbandoned(call);
    if (work.timedOut) return this.#timedOut(call, end.kind);
    if (end.kind === 'returned') return answeredResult(call, end.value, this.parts.limits.maxResultBytes);
    if (end.kind === 'threw' && !work.signal.aborted) return errorResult(call, thrownText(end.error));
    // What a tool throws once it was told to stop says nothing about how far it had come.
    const code = work.begun ? 'outcome_unknown' : 'cancelled_before_start';
    return cancelledResult(call, code, abortReasonOf(work.signal));
  }

  #timedOut(call: ToolCall, end: WorkEnd<unknown>['kind']): ToolCallResult {
    const what = `tool '${shownName(call.name)}' timed out after ${this.parts.limits.timeoutMs ?? 0} ms`;
    if (end === 'threw') return errorResult(call, what, 'tool_timeout');
    const how =
      end === 'returned' ? 'it ended too late, its result was dropped' : 'it did not stop, its outcome is unknown';
    return errorResult(call, `${what}; ${how}`, 'tool_timeout');
  }

  #notStarted(call: ToolCall): ToolCallResult {
    return cancelledResult(call, 'cancelled_before_start', abortReasonOf(this.parts.turn.signal));
  }

  #logAbandoned(call: ToolCall): void {
    const { agentId, runId } = this.parts.turn;
    this.parts.logger.warn('a tool did not stop when it was asked to', { agentId, runId, tool: shownName(call.name) });
  }
}
