export { termsHold, type TermBounds } from './build-terms.js';
export {
  admit,
  decide,
  judgeTerms,
  type Accepted,
  type Admission,
  type Countered,
  type Decision,
  type Declined,
  type ProposedTerms,
  type TermFacts,
} from './decide.js';
export { offeredCapabilities, type OfferedCapabilities } from './match-capabilities.js';
export type { NegotiationPolicy, PolicyContext, PolicyRefusal, PolicyRequest, PolicyVerdict } from './policy.js';
export { hashProof, newProof, proofMatches, type Proof } from './proof.js';
export type { OfferRecord, SessionRecord, SessionState } from './session-record.js';
export { digestTerms, normalTerms } from './terms-digest.js';
