export { createDelegate, type DelegateOptions } from './create-delegate.js';
export { DEFAULT_DELEGATE_LIMITS, type DelegateLimits } from './delegate-limits.js';
export type { Delegate, DelegateRequest, DelegateResult } from './delegate.js';
export { HOPS_HEADER, HOPS_METADATA, hopsOf } from './hops.js';
