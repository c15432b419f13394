export { decodeJsonBody } from './decode-json-body.js';
export { JsonError, type JsonErrorReason } from './json-error.js';
export { hasLoneSurrogate, hasNonFinite } from './json-scan.js';
export type { Json, JsonObject } from './json-value.js';
export { parseExact, type ParseLimits } from './parse-exact.js';
export { isJsonObject, numberOf, type RawJson } from './raw-json.js';
