import { AppError, validate } from '@parley/service-kit';
import type { CapabilityDetail } from '../skill.js';
import { manifestSchema, type Manifest } from '../wire/manifest.js';
import type { AgentIdentity, AnySkill } from './agent-options.js';

/** @throws AppError invalid_request naming every wrong field, or a capability that two skills claim. */
export function manifestOf(identity: AgentIdentity, skills: readonly AnySkill[]): Manifest {
  const details = new Map<string, CapabilityDetail>();
  const given: Readonly<Record<string, CapabilityDetail>> | readonly string[] = identity.capabilities ?? [];
  if (isNames(given)) for (const name of given) details.set(name, {});
  else for (const [name, detail] of Object.entries(given)) details.set(name, detail);
  const claimed = new Set<string>();
  for (const { capability, detail } of skills) {
    if (claimed.has(capability)) {
      throw new AppError('invalid_request', `Two skills have the capability ${capability}.`, {
        code: 'capability_twice',
      });
    }
    claimed.add(capability);
    details.set(capability, { ...details.get(capability), ...detail });
  }
  const { agentId, name, endpoint, version, labels, interfaces, metadata, ttlSeconds } = identity;
  return validate(manifestSchema, {
    agent_id: agentId,
    name: name ?? agentId,
    endpoint,
    capabilities: Object.fromEntries(details),
    version,
    labels,
    interfaces,
    metadata,
    ttl_seconds: ttlSeconds,
  });
}

function isNames(given: AgentIdentity['capabilities'] & object): given is readonly string[] {
  return Array.isArray(given);
}
