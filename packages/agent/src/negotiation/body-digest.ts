import type { NegotiationRequest } from '../wire/negotiation.js';
import { jcs, sha256 } from './terms-digest.js';

/**
 * Tells whether two requests ask the same. Left out: the free text, which decides nothing, and the time that is
 * left, which is another one in each repetition.
 */
export function bodyDigest(request: NegotiationRequest): string {
  const { message: _, deadline_ms: __, ...asked } = request;
  return sha256(jcs(asked));
}
