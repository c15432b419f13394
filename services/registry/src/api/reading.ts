import { operation, type Operation } from '@parley/service-kit';
import type { z } from 'zod';
import { isoTime } from '../domain/iso-time.js';
import type { DiscoverOutcome, RegistryCore } from '../replica/core-types.js';
import { agentJson } from './present.js';
import { agentIdInput, discoverInput, listAgentsInput, type DiscoverInput } from './schemas.js';

/** Pages stay entries until a transport writes them: HTTP as text, gRPC as messages. */
export function discoverOperation(core: RegistryCore): Operation<DiscoverInput, DiscoverOutcome> {
  return operation(discoverInput, (input) =>
    core.discover({
      required: input.required_capabilities,
      labels: input.labels,
      exclude: input.exclude,
      limit: input.limit,
      order: input.order,
      explain: input.explain,
      ...(input.cursor === undefined ? {} : { cursor: input.cursor }),
    }),
  );
}

export function listAgentsOperation(core: RegistryCore): Operation<z.infer<typeof listAgentsInput>, DiscoverOutcome> {
  return operation(listAgentsInput, (input) =>
    core.discover({
      labels: input.labels,
      limit: input.limit,
      order: input.order,
      countTotal: true,
      ...(input.cursor === undefined ? {} : { cursor: input.cursor }),
    }),
  );
}

export interface GetAgentOutput {
  readonly agent: object;
  readonly stale_since?: string;
}

export function getAgentOperation(core: RegistryCore): Operation<{ agent_id: string }, GetAgentOutput> {
  return operation(agentIdInput, ({ agent_id: id }) => {
    const { agent, staleSinceMs } = core.get(id);
    return { agent: agentJson(agent), ...(staleSinceMs === undefined ? {} : { stale_since: isoTime(staleSinceMs) }) };
  });
}
