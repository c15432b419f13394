import type { IncomingHttpHeaders } from 'node:http';
import { AGREEMENT_PROOF_HEADER } from '@parley/agent';
import { Refusal } from '../domain/facts.js';

/** The agreement that a driver shows in place of being the first. */
export interface ShownAgreement {
  readonly agreementId: string;
  /** The secret behind the proof hash of its negotiation. */
  readonly proof: string;
}

/** @throws Refusal 400 for one without the other. */
export function shownAgreement(headers: IncomingHttpHeaders): ShownAgreement | undefined {
  const agreementId = headers['parley-agreement-id'];
  const proof = headers[AGREEMENT_PROOF_HEADER];
  if (agreementId === undefined && proof === undefined) return undefined;
  if (typeof agreementId === 'string' && typeof proof === 'string') return { agreementId, proof };
  throw new Refusal(400, 'an agreement is shown by its id and its proof together');
}
