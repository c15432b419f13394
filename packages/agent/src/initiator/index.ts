export { AgreementBook, type AgreementBookOptions } from './agreement-book.js';
export type { AgreementHandle, HandleState } from './agreement-handle.js';
export { invokeUnder, type InvokeOptions } from './invoke.js';
export { negotiateFirst, type Accepted, type Candidate, type NegotiateFirstOptions } from './negotiate-first.js';
export { negotiateWith, type NegotiateWithOptions, type NegotiatorDeps } from './negotiate-with.js';
export { NegotiationFailed } from './negotiation-failed.js';
export type {
  AcceptableValue,
  CounterRules,
  CounterVerdict,
  NegotiateOptions,
  NegotiationResult,
  NegotiationTarget,
  NegotiationWish,
  NoAgreement,
} from './negotiation-types.js';
export { PenaltyBox, type PenaltyBoxOptions } from './penalty-box.js';
export { httpResponderClient, invokeResponse, type InvokeResponse, type ResponderClient } from './responder-client.js';
