import { RequestError, type StopReason } from '@agentclientprotocol/sdk';
import { type AgentRunResult, safeDiagnostic, type StopReason as RunStopReason } from '@parley/harness';

/** Ends that the protocol has a word for. All others are failures of the request. */
const WORDS: Readonly<Partial<Record<RunStopReason, StopReason>>> = {
  text_response: 'end_turn',
  tool_completion: 'end_turn',
  behavior_stop: 'end_turn',
  // The turn is over and its history stays: the client saw the failed call.
  tool_rejected: 'end_turn',
  output_truncated: 'max_tokens',
  token_budget_exceeded: 'max_tokens',
  max_steps: 'max_turn_requests',
  max_no_tool_responses: 'max_turn_requests',
  content_filtered: 'refusal',
  external_abort: 'cancelled',
  tool_cancelled: 'cancelled',
};

/** @throws -32603 for a run that failed: never the end of a turn that did not end well. */
export function stopReasonOf(result: AgentRunResult): StopReason {
  const word = WORDS[result.stopReason];
  if (word !== undefined) return word;
  const { stopReason, runId, phase } = result;
  const text = safeDiagnostic(result.error ?? 'the run failed');
  throw new RequestError(-32603, `Internal error: ${text}`, {
    reason: stopReason,
    runId,
    ...(phase !== undefined && { phase }),
  });
}
