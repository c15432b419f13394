import { AppError } from '@parley/service-kit';
import { z } from 'zod';
import type { AgreementHandle } from '../../initiator/index.js';
import { appliedDifference } from '../../initiator/invoke.js';
import { LivingAgreement } from '../../initiator/living-agreement.js';
import type { Scalar } from '../../skill.js';
import { agreedScalar, withoutProtoKey } from '../../wire/agreement.js';
import { termsDigest } from '../../wire/identifiers.js';
import type { A2aMessage, A2aMetadata, A2aSendOptions } from '../client/a2a-connection.js';
import { AGREEMENT_EXTENSION, AGREEMENT_PROOF_HEADER } from './agreement-extension.js';

/** What a message under an agreement is sent with. */
export type AgreementCall = Required<Pick<A2aSendOptions, 'extensions' | 'metadata' | 'headers'>>;

/**
 * Puts a message under an agreement: `connection.send(parts, agreementCall(agreement))`.
 * @param capability needed when several were agreed.
 * @throws AppError gone `agreement_ended`; forbidden `agreement_scope`.
 */
export function agreementCall(handle: AgreementHandle, capability?: string): AgreementCall {
  const { agreementId: agreement_id, termsDigest: terms_digest, endReason } = handle;
  if (endReason !== undefined) {
    throw new AppError('gone', `The agreement has ended: ${endReason}.`, { code: 'agreement_ended' });
  }
  const name = agreedCapability(handle, capability);
  return {
    extensions: [AGREEMENT_EXTENSION],
    metadata: { [AGREEMENT_EXTENSION]: { agreement_id, terms_digest, capability: name } },
    headers: { [AGREEMENT_PROOF_HEADER]: living(handle).ref.proof },
  };
}

export interface AppliedTerms {
  readonly applied: Readonly<Record<string, Scalar>>;
  /** Absent: without limit. */
  readonly remainingCalls: number | undefined;
}

const appliedShape = z.object({
  applied: withoutProtoKey(z.record(z.string(), agreedScalar)),
  terms_digest: termsDigest,
  remaining: z.object({ calls: z.int().min(0).optional() }).optional(),
});

/**
 * What an answer says was applied: of a task, of what the agent says to its state, or of a message.
 * @throws AppError bad_gateway `agreement_applied_mismatch` when it is not what was agreed, or is not said.
 */
export function checkApplied(
  answer: { readonly metadata: A2aMetadata; readonly message?: A2aMessage | undefined },
  handle: AgreementHandle,
  capability?: string,
): AppliedTerms {
  const agreed = handle.parametersOf(agreedCapability(handle, capability)) ?? {};
  const said = answer.metadata[AGREEMENT_EXTENSION] ?? answer.message?.metadata[AGREEMENT_EXTENSION];
  if (said === undefined) throw mismatch('it does not say with which parameters');
  const { success, data } = appliedShape.safeParse(said);
  if (!success) throw mismatch('what it says was applied cannot be read');
  if (data.terms_digest !== handle.termsDigest) throw mismatch('it names other terms');
  const difference = appliedDifference(agreed, data.applied);
  if (difference !== undefined) throw mismatch(difference);
  return { applied: data.applied, remainingCalls: data.remaining?.calls };
}

/** Lets the agreement end, or see a difference, when an answer of its responder says so. */
export function heedAnswer(handle: AgreementHandle, error: AppError): void {
  living(handle).heed(error);
}

function agreedCapability(handle: AgreementHandle, capability: string | undefined): string {
  const [first, ...others] = handle.terms.capabilities.map(({ name }) => name);
  const name = capability ?? (others.length === 0 ? first : undefined);
  if (name !== undefined && handle.parametersOf(name) !== undefined) return name;
  const why =
    capability === undefined
      ? 'Several capabilities were agreed: one must be named'
      : `${capability} is not part of the agreement`;
  throw new AppError('forbidden', `${why}.`, { code: 'agreement_scope' });
}

function living(handle: AgreementHandle): LivingAgreement {
  if (!(handle instanceof LivingAgreement)) throw new TypeError('not an agreement of this package');
  return handle;
}

function mismatch(difference: string): AppError {
  return new AppError('bad_gateway', `The work was not done as agreed: ${difference}.`, {
    code: 'agreement_applied_mismatch',
  });
}
