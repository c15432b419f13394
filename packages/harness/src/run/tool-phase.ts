import type { AgentEventPayload, ToolCallResult } from '../events.js';
import type { AssistantMessage, ToolCall, ToolMessage } from '../messages.js';
import type { FinishReason } from '../model/model-adapter.js';
import type { RunObserver } from '../run-observer.js';
import { cancelledResult } from '../tools/call-results.js';
import type { ToolTurn, ToolTurnOutcome } from '../tools/tool-turn.js';
import { cancellationText } from './cancellation.js';
import type { Run } from './run.js';
import { failedWith, type RunEnding } from './run-ending.js';

/** What the model is told about calls of a message that its provider did not let it finish. */
const REFUSALS: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'not executed: the answer was cut off at the output limit, so its calls may be incomplete',
  content_filter: 'not executed: the answer was stopped by the content filter',
};

/**
 * Runs the calls of a committed message. Whatever happens, each of them has its result when this returns or throws;
 * that is why an abort is not looked at before.
 */
export async function toolPhase(
  run: Run,
  message: AssistantMessage,
  finishReason: FinishReason,
): Promise<RunEnding | null> {
  run.noToolAnswers = 0;
  const turn = new RunToolTurn(run, message);
  try {
    const refusal = REFUSALS[finishReason];
    if (refusal === undefined) return endingOfOutcome(run, await run.services.tools.runTurn(turn));
    await run.services.tools.refuseAll(turn, refusal);
    return finishReason === 'length' ? null : contentFiltered(message);
  } finally {
    await turn.settleRest();
  }
}

export function contentFiltered(message: AssistantMessage): RunEnding {
  const ending = failedWith('content_filtered', "the provider's content filter stopped the answer");
  return message.content === null || message.content === '' ? ending : { ...ending, partial: message.content };
}

function endingOfOutcome(run: Run, outcome: ToolTurnOutcome): RunEnding | null {
  switch (outcome.kind) {
    case 'continue':
      return null;
    case 'aborted':
      return failedWith('external_abort', cancellationText(run.signal));
    case 'ended':
      return { stopReason: outcome.stopReason, output: outcome.output, error: outcome.error };
  }
}

/** The calls of one message, with the ways by which their events and results come into the run. */
class RunToolTurn implements ToolTurn {
  readonly agentId: string;
  readonly runId: string;
  readonly turn: number;
  readonly signal: AbortSignal;
  readonly observers: readonly RunObserver[];
  readonly #run: Run;
  readonly #started = new Set<string>();

  constructor(
    run: Run,
    readonly message: AssistantMessage,
  ) {
    this.#run = run;
    this.agentId = run.agentId;
    this.runId = run.runId;
    this.turn = run.turn;
    this.signal = run.signal;
    this.observers = run.services.observers;
  }

  emit(payload: AgentEventPayload): Promise<void> {
    if (payload.kind === 'tool_started') this.#started.add(payload.toolCall.id);
    return this.#run.emit(payload);
  }

  commit(messages: readonly ToolMessage[]): Promise<void> {
    return this.#run.ledger.toolMessages(messages);
  }

  /**
   * Gives a result to every call that has none: nothing is left to do if the tools kept their word, which they cannot
   * once the journal fails. The history stays one that a model accepts.
   */
  async settleRest(): Promise<void> {
    const { history, ledger } = this.#run;
    if (!history.hasOpenCalls) return;
    const results = history.openCalls.map((call) => ({ call, result: this.#unknownResult(call) }));
    await this.#store(results.map(({ result }) => result.message));
    for (const { call, result } of results) {
      if (!this.#started.has(call.id)) await this.emit({ kind: 'tool_started', turn: this.turn, toolCall: call });
      await this.emit({ kind: 'tool_completed', turn: this.turn, toolCall: call, result });
    }
    if (ledger.failure !== null) throw ledger.failure;
  }

  async #store(messages: readonly ToolMessage[]): Promise<void> {
    const { ledger } = this.#run;
    try {
      await ledger.toolMessages(messages);
    } catch (error) {
      if (ledger.failure === null) throw error;
      ledger.settleUnrecorded(messages);
    }
  }

  #unknownResult(call: ToolCall): ToolCallResult {
    const started = this.#started.has(call.id);
    const reason =
      this.#run.ledger.failure !== null ? 'the run could not be recorded' : 'the run ended before its result came';
    return cancelledResult(call, started ? 'outcome_unknown' : 'cancelled_before_start', reason);
  }
}
