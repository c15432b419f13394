import type { StopReason } from '../enums.js';
import { messageOf } from '../errors.js';
import type { AgentRunResult } from '../result.js';
import { safeDiagnostic } from './safe-diagnostic.js';
import type { SubagentResult, SubagentStopReason } from './subagent-types.js';
import type { SubmitResultHandler } from './submit-result-handler.js';

const OF_REASON: Readonly<Partial<Record<StopReason, SubagentStopReason>>> = {
  text_response: 'completed',
  tool_completion: 'completed',
  behavior_stop: 'completed',
  external_abort: 'aborted',
  tool_cancelled: 'aborted',
  output_truncated: 'max-tokens',
  token_budget_exceeded: 'max-tokens',
  content_filtered: 'refusal',
  tool_rejected: 'refusal',
};

/** The result of a child from that of its run. */
export function childResult(run: AgentRunResult, submit: SubmitResultHandler | undefined): SubagentResult {
  const stopReason = OF_REASON[run.stopReason] ?? 'error';
  const output = run.output ?? run.partial ?? '';
  const { usage } = run;
  if (stopReason !== 'completed') {
    const diagnostic = safeDiagnostic(run.error === null ? run.stopReason : `${run.stopReason}: ${run.error}`);
    return { stopReason, output, diagnostic, usage };
  }
  if (submit === undefined) return { stopReason, output, usage };
  if (submit.submitted === undefined) {
    return { stopReason: 'error', output, diagnostic: 'it ended without a result that fits the schema', usage };
  }
  const structured = submit.submitted.value;
  return { stopReason, output: JSON.stringify(structured), structured, usage };
}

/** The result of a child whose run threw. */
export function failedChild(error: unknown, cancelled: boolean): SubagentResult {
  return { stopReason: cancelled ? 'aborted' : 'error', output: '', diagnostic: safeDiagnostic(messageOf(error)) };
}
