export { agreementCall, checkApplied, heedAnswer, type AgreementCall, type AppliedTerms } from './agreement-call.js';
export {
  AGREEMENT_EXTENSION,
  AGREEMENT_PROOF_HEADER,
  agreementExtension,
  type AgreementExtensionOptions,
} from './agreement-extension.js';
export type { AdmittedWork, AgreementGate } from './agreement-gate.js';
export { createAgreementGate, type AgreementGateOptions } from './create-agreement-gate.js';
