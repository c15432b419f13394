import { Agent, sayWith, ScriptedModel, usageOf, type RunObserver } from '@parley/harness';
import { createMetrics, type Metrics } from '@parley/service-kit';
import { runMetrics } from './run-metrics.js';

async function run(observer: RunObserver, step: ReturnType<typeof sayWith> | Error): Promise<void> {
  const agent = new Agent(new ScriptedModel([step]), { observers: [observer] });
  try {
    await agent.run('do it');
  } finally {
    await agent.shutdown();
  }
}

const served = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.render()).split('\n').filter((line) => line.startsWith('parley_run'));

describe('the metrics of runs', () => {
  it('count runs by how they ended, and the tokens of those that were reported', async () => {
    const metrics = createMetrics({ service: 'agent_T', processMetrics: false });
    const observer = runMetrics(metrics);
    await run(observer, sayWith({ usage: usageOf(11, 3) }, 'done'));
    await run(observer, new Error('the model is away'));
    expect(await served(metrics)).toEqual([
      'parley_runs_total{stop_reason="text_response",service="agent_T"} 1',
      'parley_runs_total{stop_reason="runtime_error",service="agent_T"} 1',
      'parley_run_tokens_total{kind="input",service="agent_T"} 11',
      'parley_run_tokens_total{kind="output",service="agent_T"} 3',
    ]);
  });

  it('do not take unknown tokens for none', async () => {
    const metrics = createMetrics({ service: 'agent_T', processMetrics: false });
    await run(runMetrics(metrics), sayWith({ usage: { ...usageOf(5, 0), outputTokens: null } }, 'done'));
    expect(await served(metrics)).toEqual([
      'parley_runs_total{stop_reason="text_response",service="agent_T"} 1',
      'parley_run_tokens_total{kind="input",service="agent_T"} 5',
    ]);
  });
});
