import type { ParameterSchema, Scalar } from '../skill.js';
import { parameterFault } from '../wire/manifest.js';

/**
 * The allowed value nearest to a wish, for all of the schemas at once: a number is moved into the bounds
 * (to an integer where one is wanted, to the nearest number of an enumeration); anything else, and a value of
 * the wrong type, becomes a default or else the first enumerated value. Undefined when none of these is allowed.
 */
export function nearestValue(schemas: readonly ParameterSchema[], wish: Scalar): Scalar | undefined {
  const allowed = (value: Scalar): boolean => schemas.every((schema) => parameterFault(schema, value) === undefined);
  const enumerated = schemas.flatMap((schema) => schema.enum ?? []);
  const defaults = schemas.flatMap((schema) => (schema.default === undefined ? [] : [schema.default]));
  const candidates = [...numericCandidates(schemas, enumerated, wish), ...defaults, ...enumerated];
  return candidates.find(allowed);
}

function numericCandidates(schemas: readonly ParameterSchema[], enumerated: readonly Scalar[], wish: Scalar): number[] {
  if (typeof wish !== 'number' || !schemas.every(({ type }) => type === 'number' || type === 'integer')) return [];
  const distance = (value: number): number => Math.abs(value - wish);
  const numbers = enumerated.filter((value) => typeof value === 'number').sort((a, b) => distance(a) - distance(b));
  return [clamp(schemas, wish), ...numbers];
}

function clamp(schemas: readonly ParameterSchema[], wish: number): number {
  const integral = schemas.some(({ type }) => type === 'integer');
  let low = Math.max(...schemas.map(({ minimum }) => minimum ?? -Infinity));
  let high = Math.min(...schemas.map(({ maximum }) => maximum ?? Infinity));
  if (!integral) return Math.min(Math.max(wish, low), high);
  low = Math.max(Math.ceil(low), Number.MIN_SAFE_INTEGER);
  high = Math.min(Math.floor(high), Number.MAX_SAFE_INTEGER);
  return Math.min(Math.max(Math.round(wish), low), high);
}
