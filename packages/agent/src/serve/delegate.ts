import { operation, type CallContext, type Operation } from '@parley/service-kit';
import { z } from 'zod';
import type { Agent } from '../agent/agent.js';
import type { NegotiationAttempt } from '../registry-client/index.js';
import type { Scalar } from '../skill.js';
import { parameterKey, parameterMap, type Agreement } from '../wire/agreement.js';
import { agentId } from '../wire/identifiers.js';
import { requirementText } from '../wire/negotiation.js';

const delegateInput = z.strictObject({
  capability: requirementText,
  input: z.record(z.string(), z.json()).default({}),
  parameters: parameterMap.default({}),
  required_parameters: z.array(parameterKey).max(64, 'at most 64 names').default([]),
  accept_counters: z.boolean().default(false),
  deadline_ms: z.int().min(100, 'at least 100').max(60_000, 'at most 60,000').default(20_000),
  candidate_timeout_ms: z.int().min(10, 'at least 10').max(15_000, 'at most 15,000').default(2_000),
  labels: z.record(z.string().min(1).max(64), z.string().max(256)).default({}),
  exclude: z.array(agentId).max(1_000, 'at most 1,000 ids').default([]),
  prefer: z.array(agentId).max(64, 'at most 64 ids').default([]),
});
type DelegateInput = z.output<typeof delegateInput>;

export interface DelegateOutput {
  readonly partner: { readonly agent_id: string; readonly endpoint: string };
  readonly agreement: Agreement;
  readonly output: Readonly<Record<string, unknown>>;
  readonly applied: Readonly<Record<string, Scalar>>;
  readonly attempts: readonly NegotiationAttempt[];
}

export interface DelegateDeps {
  readonly agent: Agent;
  readonly registryUrl: string;
  readonly authorize: (call: CallContext) => void;
}

/** Finds somebody, agrees, has the work done, and gives the agreement back, whatever became of the work. */
export function delegateOperation(deps: DelegateDeps): Operation<DelegateInput, DelegateOutput> {
  return operation(delegateInput, async (input, call) => {
    deps.authorize(call);
    const deadline = Date.now() + input.deadline_ms;
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(input.deadline_ms)]);
    const { agreement, attempts } = await deps.agent.negotiateFirst(
      deps.registryUrl,
      [input.capability],
      input.parameters,
      {
        requiredParameters: input.required_parameters,
        acceptCounters: input.accept_counters,
        candidateTimeoutMs: input.candidate_timeout_ms,
        timeoutMs: input.deadline_ms,
        labels: input.labels,
        exclude: input.exclude,
        prefer: input.prefer,
        limits: { max_calls: 1 },
        signal,
      },
    );
    let reason: 'completed' | 'released_by_initiator' = 'released_by_initiator';
    try {
      const [name = input.capability] = input.capability.split('@');
      const answer = await deps.agent.invoke(agreement, name, input.input, {
        signal,
        deadlineMs: Math.max(1, deadline - Date.now()),
      });
      reason = 'completed';
      return {
        partner: { agent_id: agreement.agentId, endpoint: agreement.endpoint },
        agreement: agreement.snapshot(),
        output: answer.output,
        applied: answer.applied,
        attempts,
      };
    } finally {
      void agreement.end(reason);
    }
  });
}
