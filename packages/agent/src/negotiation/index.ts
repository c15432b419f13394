export { offeredCapabilities, type OfferedCapabilities } from './match-capabilities.js';
export type { NegotiationPolicy, PolicyContext, PolicyRequest, PolicyVerdict } from './policy.js';
export { hashProof, newProof, proofMatches, type Proof } from './proof.js';
export { digestTerms, normalTerms } from './terms-digest.js';
