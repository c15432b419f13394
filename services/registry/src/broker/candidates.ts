import { AppError } from '@parley/service-kit';
import type { RegistryCore } from '../replica/core-types.js';
import type { BrokerInput } from './broker-input.js';

export interface Candidate {
  readonly agentId: string;
  readonly endpoint: string;
}

/** Who may be asked: the named target, or whoever offers everything that is wanted, in random order, never the asker. */
export function findCandidates(core: RegistryCore, input: BrokerInput): readonly Candidate[] {
  if (input.target_agent_id !== undefined) return [targetOf(core, input.target_agent_id)];
  const { agents } = core.discover({
    required: input.capabilities,
    labels: input.labels,
    exclude: [...input.exclude, input.agent_id],
    order: 'random',
    limit: input.max_candidates,
  });
  return agents.map((agent) => ({ agentId: agent.agentId, endpoint: agent.manifest().endpoint }));
}

function targetOf(core: RegistryCore, agentId: string): Candidate {
  try {
    const { agent } = core.get(agentId);
    return { agentId, endpoint: agent.manifest().endpoint };
  } catch (error) {
    const refusal = AppError.from(error);
    if (refusal.reason !== 'not_found') throw error;
    throw new AppError('not_found', `No living agent is called ${agentId}.`, {
      code: 'agent_unknown',
      errors: [{ path: 'target_agent_id', message: 'no living agent has this id' }],
    });
  }
}
