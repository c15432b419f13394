import { type AgentRunResult, emptyRunUsage, STOP_REASONS, statusOf } from '@parley/harness';
import { stopReasonOf } from './stop-reason.js';

describe('stopReasonOf', () => {
  const result = (stopReason: AgentRunResult['stopReason']): AgentRunResult => ({
    runId: 'f'.repeat(32),
    status: statusOf(stopReason),
    stopReason,
    output: null,
    turns: 1,
    usage: emptyRunUsage(),
    error: 'why',
  });

  it('has a word or an error for every end of a run; only a good one is the end of a turn', () => {
    const ends = STOP_REASONS.map((reason) => {
      try {
        return [reason, stopReasonOf(result(reason))];
      } catch (error) {
        expect(error).toMatchObject({ code: -32603, message: 'Internal error: why', data: { reason } });
        return [reason, 'error'];
      }
    });
    expect(Object.fromEntries(ends)).toEqual({
      text_response: 'end_turn',
      tool_completion: 'end_turn',
      tool_rejected: 'end_turn',
      tool_cancelled: 'cancelled',
      behavior_stop: 'end_turn',
      external_abort: 'cancelled',
      empty_response: 'error',
      max_steps: 'max_turn_requests',
      max_no_tool_responses: 'max_turn_requests',
      repeated_tool_call: 'error',
      token_budget_exceeded: 'max_tokens',
      usage_unavailable: 'error',
      context_overflow: 'error',
      compaction_failed: 'error',
      runtime_error: 'error',
      persistence_failed: 'error',
      output_truncated: 'max_tokens',
      content_filtered: 'refusal',
    });
  });
});
