import type { RunObserver } from '@parley/harness';
import type { Metrics } from '@parley/service-kit';

/** Counts the runs of the harness by how they ended, and the tokens that models reported for them. */
export function runMetrics(metrics: Metrics): RunObserver {
  const runs = metrics.counter('parley_runs_total', 'Runs of the harness ended, by stop reason.', ['stop_reason']);
  const tokens = metrics.counter('parley_run_tokens_total', 'Tokens that models reported, by kind.', ['kind']);
  return {
    aroundRun: async (_run, work) => {
      const result = await work();
      runs.inc({ stop_reason: result.stopReason });
      // Null is unknown, not zero: what nobody reported is not counted.
      const { inputTokens, outputTokens } = result.usage;
      if (inputTokens !== null) tokens.inc({ kind: 'input' }, inputTokens);
      if (outputTokens !== null) tokens.inc({ kind: 'output' }, outputTokens);
      return result;
    },
    aroundModelRequest: (_request, work) => work(),
    aroundToolCall: (_call, work) => work(),
  };
}
