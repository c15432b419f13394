import { agreementSchema, digestTerms, type Agreement } from '@parley/agent';
import { AppError, operation, type Logger, type Operation } from '@parley/service-kit';
import { z } from 'zod';
import type { AgreementChangeType } from '../domain/types.js';
import type { RegistryCore } from '../replica/core-types.js';
import { agreementIdInput, listWitnessedInput } from './schemas.js';
import { hashToken, requireBearer } from './tokens.js';

export interface WitnessDeps {
  readonly core: RegistryCore;
  readonly logger: Logger;
  readonly now: () => number;
}

const reportInput = z.strictObject({ agreement: agreementSchema });

/**
 * What a report says to readers of events; undefined: nothing new. A pending agreement is nobody's agreement yet,
 * and one that stays active was only renewed.
 */
function changeOf(state: Agreement['state'], known: string | undefined): AgreementChangeType | undefined {
  if (state === 'pending' || state === known) return undefined;
  if (state === 'active') return known === 'suspended' ? 'resumed' : 'agreed';
  return state;
}

/** An agreement stays readable for so long after its end. */
const RETENTION_MS = 60 * 60 * 1_000;

/** Renewals are not told, so one whose end was never told is kept until no renewal can have kept it alive. */
function keptForMs(agreement: Agreement, nowMs: number): number {
  if (agreement.state === 'ended') return RETENTION_MS;
  const lastEndMs = Date.parse(agreement.created_at) + agreement.terms.lease.max_lifetime_seconds * 1_000;
  return Math.max(lastEndMs, Date.parse(agreement.expires_at), nowMs) - nowMs + RETENTION_MS;
}

/** A responder tells what became of an agreement. Only the owner of the responder's registration may, and no secret is in it. */
export function reportAgreementOperation(
  deps: WitnessDeps,
): Operation<{ agreement: Agreement }, { agreement_id: string; recorded: boolean }> {
  return operation(reportInput, async ({ agreement }, call) => {
    const { responder, initiator } = agreement.terms;
    const owner = await deps.core.verifyOwner(responder, hashToken(requireBearer(call)));
    if (owner === 'unknown') {
      throw new AppError('not_found', `The responder ${responder} is not registered.`, {
        code: 'agent_unknown',
        errors: [{ path: 'agreement.terms.responder', message: 'not registered' }],
      });
    }
    if (owner === 'other')
      throw new AppError('forbidden', 'Only the responder reports its agreements.', { code: 'not_owner' });
    if (digestTerms(agreement.terms) !== agreement.terms_digest) {
      throw new AppError('invalid_request', 'agreement.terms_digest: not the digest of these terms', {
        errors: [{ path: 'agreement.terms_digest', message: 'not the digest of these terms' }],
      });
    }
    const known = await knownState(deps.core, agreement.agreement_id);
    if (known !== undefined && known.responder !== responder) {
      throw new AppError('conflict', 'Another responder reported an agreement of this id.', {
        code: 'agreement_id_taken',
      });
    }
    const changeType = changeOf(agreement.state, known?.state);
    if (changeType === undefined) return { agreement_id: agreement.agreement_id, recorded: false };
    const { recorded } = await deps.core.recordAgreement({
      agreementId: agreement.agreement_id,
      version: agreement.version,
      state: agreement.state,
      parties: [initiator, responder],
      json: JSON.stringify(agreement),
      ttlMs: keptForMs(agreement, deps.now()),
      changeType,
    });
    return { agreement_id: agreement.agreement_id, recorded };
  });
}

async function knownState(core: RegistryCore, id: string): Promise<{ state: string; responder: string } | undefined> {
  try {
    const stored = await core.getAgreement(id);
    const { terms } = JSON.parse(stored.json) as Agreement;
    return { state: stored.state, responder: terms.responder };
  } catch (error) {
    if (AppError.from(error).reason === 'not_found') return undefined;
    throw error;
  }
}

export function listWitnessedOperation(
  core: RegistryCore,
): Operation<z.infer<typeof listWitnessedInput>, { agreements: object[]; next_cursor?: string }> {
  return operation(listWitnessedInput, async (input) => {
    const page = await core.listAgreements({
      limit: input.limit,
      ...(input.state === undefined ? {} : { state: input.state }),
      ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
      ...(input.cursor === undefined ? {} : { cursor: input.cursor }),
    });
    return {
      agreements: page.agreements.map(({ json }) => JSON.parse(json) as object),
      ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
    };
  });
}

export function getWitnessedOperation(core: RegistryCore): Operation<{ agreement_id: string }, { agreement: object }> {
  return operation(agreementIdInput, async ({ agreement_id: id }) => {
    const stored = await core.getAgreement(id);
    return { agreement: JSON.parse(stored.json) as object };
  });
}
