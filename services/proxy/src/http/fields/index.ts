export { nullable, wrongField, type FieldCheck } from './field-check.js';
export { looseInteger, seconds, strictInteger } from './number-checks.js';
export { anyObject, listOf, recordOf, request, requireFields, shape } from './object-checks.js';
export { literal, text } from './text-checks.js';
