import { manifestSchema, type Manifest as WireManifest } from '@parley/agent';
import { AppError, operation, quoteList, sameSecret, type Logger, type Operation } from '@parley/service-kit';
import type { Manifest } from '../domain/types.js';
import type { RegistryCore } from '../replica/core-types.js';
import { leaseJson, type LeaseJson } from './present.js';
import { agentIdInput } from './schemas.js';
import { hashToken, newToken, ownTokenOf, requireBearer } from './tokens.js';

export interface RegistrationDeps {
  readonly core: RegistryCore;
  readonly logger: Logger;
  readonly joinToken: string | undefined;
  readonly operatorToken: string | undefined;
  readonly onRegistered?: (kind: 'registered' | 'replaced') => void;
  readonly onRenewed?: () => void;
}

export interface RegisterOutput {
  readonly agent_id: string;
  readonly owner_token?: string;
  readonly lease: LeaseJson;
  readonly revision: number;
  readonly replaced: boolean;
}

export function registerOperation(deps: RegistrationDeps): Operation<WireManifest, RegisterOutput> {
  return operation(manifestSchema, async (wire, call) => {
    if (deps.joinToken !== undefined && !sameSecret(call.header('parley-join-token'), deps.joinToken)) {
      throw new AppError('forbidden', 'Registering needs the join token, as the header Parley-Join-Token.', {
        code: 'join_token_required',
      });
    }
    const shown = ownTokenOf(call);
    const token = shown ?? newToken();
    const listed = quoteList(wire.capabilities);
    try {
      const outcome = await deps.core.register({
        manifest: toDomain(wire),
        ...(wire.ttl_seconds === undefined ? {} : { ttlMs: wire.ttl_seconds * 1_000 }),
        ...(shown === undefined ? {} : { callerTokenHash: hashToken(shown) }),
        newTokenHash: hashToken(token),
      });
      deps.onRegistered?.(outcome.kind);
      deps.logger.step('register', `Register ${wire.agent_id} ${listed} -> OK`, {
        agent_id: wire.agent_id,
        capabilities: wire.capabilities,
        result: outcome.kind,
        revision: outcome.revision,
      });
      return {
        agent_id: outcome.agentId,
        ...(shown === undefined ? { owner_token: token } : {}),
        lease: leaseJson(outcome.lease),
        revision: outcome.revision,
        replaced: outcome.kind === 'replaced',
      };
    } catch (error) {
      const { code } = AppError.from(error);
      deps.logger.step('register', `Register ${wire.agent_id} ${listed} -> ${code}`, {
        agent_id: wire.agent_id,
        result: code,
      });
      throw error;
    }
  });
}

function toDomain(wire: WireManifest): Manifest {
  return {
    agentId: wire.agent_id,
    name: wire.name,
    endpoint: wire.endpoint,
    capabilities: wire.capabilities,
    ...(wire.capability_details === undefined ? {} : { capabilityDetails: wire.capability_details }),
    ...(wire.version === undefined ? {} : { version: wire.version }),
    ...(wire.labels === undefined ? {} : { labels: wire.labels }),
    ...(wire.interfaces === undefined ? {} : { interfaces: wire.interfaces }),
    ...(wire.metadata === undefined ? {} : { metadata: wire.metadata }),
  };
}

export function renewOperation(deps: RegistrationDeps): Operation<{ agent_id: string }, { lease: LeaseJson }> {
  return operation(agentIdInput, async ({ agent_id: id }, call) => {
    const lease = await deps.core.renew(id, hashToken(requireBearer(call)));
    deps.onRenewed?.();
    return { lease: leaseJson(lease) };
  });
}

export function deregisterOperation(deps: RegistrationDeps): Operation<{ agent_id: string }, object> {
  return operation(agentIdInput, async ({ agent_id: id }, call) => {
    const token = requireBearer(call);
    const operator = deps.operatorToken !== undefined && sameSecret(token, deps.operatorToken);
    await deps.core.deregister(id, operator ? { operator: true } : { tokenHash: hashToken(token) });
    deps.logger.step('deregister', `Deregister ${id} -> OK`, { agent_id: id, by: operator ? 'operator' : 'owner' });
    return {};
  });
}
