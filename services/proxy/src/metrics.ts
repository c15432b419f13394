import type { Metrics } from '@parley/service-kit';
import type { Fact } from './domain/facts.js';
import type { ProxyEngine } from './engine/index.js';
import type { Recorder } from './record/recorder-types.js';

/** Counts what is recorded; what an earlier life recorded was counted then. */
export function countingRecorder(recorder: Recorder, metrics: Metrics): Recorder {
  const count = factCounter(metrics);
  return {
    observe: (fact, options) => {
      if (options?.replayed !== true) count(fact);
      recorder.observe(fact, options);
    },
    whole: (subject) => recorder.whole(subject),
    page: (subject, after, limit) => recorder.page(subject, after, limit),
    close: (timeoutMs) => recorder.close(timeoutMs),
  };
}

function factCounter(metrics: Metrics): (fact: Fact) => void {
  const turns = metrics.counter('parley_proxy_turns_total', 'Turns ended, by how.', ['state']);
  const actions = metrics.counter('parley_proxy_actions_total', 'Actions ended, by kind, cause and outcome.', [
    'kind',
    'cause',
    'ok',
  ]);
  const records = metrics.counter('parley_proxy_recorded_calls_total', 'Model calls recorded.');
  return (fact) => {
    if (fact.kind === 'turn_closed') turns.inc({ state: fact.end.state });
    else if (fact.kind === 'recorded') records.inc();
    else if (fact.kind === 'action_ended') {
      const { result } = fact;
      const isOk = result.kind === 'tool' ? !result.isError : result.exitCode === 0;
      actions.inc({ kind: result.kind, cause: fact.cause, ok: String(isOk) });
    }
  };
}

export function observeEngine(engine: ProxyEngine, metrics: Metrics): void {
  const gauge = (name: string, help: string, count: keyof ProxyEngine['counts']): void => {
    metrics.gauge(name, help, () => engine.counts[count]);
  };
  gauge('parley_proxy_turns_open', 'Turns that wait for their driver.', 'openTurns');
  gauge('parley_proxy_turns_queued', 'Messages that wait to become turns.', 'queuedTurns');
  gauge('parley_proxy_actions_running', 'Actions that run.', 'runningActions');
  gauge('parley_proxy_tasks_kept', 'Tasks that are remembered.', 'keptTasks');
}
