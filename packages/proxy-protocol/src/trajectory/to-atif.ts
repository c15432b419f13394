import { turnSteps } from './atif-steps.js';
import type { AtifMetrics, AtifStep, AtifTrajectory } from './atif-types.js';
import { GEN_AI } from './attribute-names.js';
import { turnsOf } from './event-kind.js';
import type { TrajectoryEvent } from './trajectory-event.js';

export type { AtifStep, AtifTrajectory };

export interface AtifOptions {
  /** Default the conversation's id where the record has it, else the trace's, else `unknown`. */
  readonly sessionId?: string;
  /** Default the agent's name where the record has it, else `agentenv-proxy`. */
  readonly agentName?: string;
  /** Default `1.0.0`. */
  readonly agentVersion?: string;
}

const TOTALS = [
  ['total_prompt_tokens', 'prompt_tokens'],
  ['total_completion_tokens', 'completion_tokens'],
  ['total_cached_tokens', 'cached_tokens'],
] as const satisfies readonly (readonly [string, keyof AtifMetrics])[];

/**
 * A trajectory in the Agent Trajectory Interchange Format of the Harbor project (RFC 0001, version 1.7; readers of 1.8
 * take it as it is). An action becomes the observation of the recorded call that it was; what no recorded call asked
 * for is a step of its own, with `llm_call_count` 0.
 */
export function toAtif(events: readonly TrajectoryEvent[], options: AtifOptions = {}): AtifTrajectory {
  const steps: readonly AtifStep[] = turnsOf(events)
    .flatMap(turnSteps)
    .map((step, index) => ({ step_id: index + 1, ...step }));
  const model = lastText(events, GEN_AI.requestModel);
  return {
    schema_version: 'ATIF-v1.7',
    session_id: options.sessionId ?? lastText(events, GEN_AI.conversationId) ?? events[0]?.trace_id ?? 'unknown',
    agent: {
      name: options.agentName ?? lastText(events, GEN_AI.agentName) ?? 'agentenv-proxy',
      version: options.agentVersion ?? '1.0.0',
      ...(model === undefined ? {} : { model_name: model }),
    },
    steps,
    final_metrics: { ...totals(steps), total_steps: steps.length },
  };
}

function totals(steps: readonly AtifStep[]): Partial<AtifTrajectory['final_metrics']> {
  const sums = TOTALS.map(([total, name]) => {
    const counts = steps.flatMap(({ metrics }) => metrics?.[name] ?? []);
    return [total, counts.length === 0 ? undefined : counts.reduce((left, right) => left + right, 0)] as const;
  });
  return Object.fromEntries(sums.filter(([, sum]) => sum !== undefined));
}

function lastText(events: readonly TrajectoryEvent[], name: string): string | undefined {
  const value = events.findLast(({ attributes }) => typeof attributes[name] === 'string')?.attributes[name];
  return typeof value === 'string' ? value : undefined;
}
