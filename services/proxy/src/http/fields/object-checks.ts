import { hasNonFinite, isJsonObject } from '@parley/proxy-protocol';
import type { Json, JsonObject } from '../../domain/facts.js';
import { type Checked, type FieldCheck, wrongField } from './field-check.js';

type Checks = Readonly<Record<string, FieldCheck<unknown>>>;

type Shape<R extends Checks, O extends Checks> = { readonly [K in keyof R]: Checked<R[K]> } & {
  readonly [K in keyof O]?: Checked<O[K]>;
};

/** An object with exactly these members: an unknown one is refused, so that a misspelt name is not taken for none. */
export function shape<R extends Checks, O extends Checks>(required: R, optional: O): FieldCheck<Shape<R, O>> {
  const checks = new Map<string, FieldCheck<unknown>>([...Object.entries(required), ...Object.entries(optional)]);
  const needed = Object.keys(required);
  return (value, path) => {
    if (!isJsonObject(value)) throw wrongField(path, 'must be an object');
    for (const name of needed) {
      if (!Object.hasOwn(value, name)) throw wrongField(joined(path, name), 'is required');
    }
    const read: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      const check = checks.get(name);
      if (check === undefined) throw wrongField(joined(path, shown(name)), 'is not a known field');
      read.push([name, check(member, joined(path, name))]);
    }
    return Object.fromEntries(read) as Shape<R, O>;
  };
}

/** The fields of a whole request. Those that are missing are named first, all together, whatever else is wrong. */
export function request<R extends Checks, O extends Checks>(
  required: R,
  optional: O,
): (fields: JsonObject) => Shape<R, O> {
  const check = shape(required, optional);
  const needed = Object.keys(required);
  return (fields) => {
    requireFields(fields, needed);
    return check(fields, '');
  };
}

export function requireFields(fields: JsonObject, needed: readonly string[]): void {
  const missing = needed.filter((name) => !Object.hasOwn(fields, name));
  if (missing.length === 0) return;
  throw wrongField('', `missing required fields: [${missing.map((name) => `'${name}'`).join(', ')}]`);
}

export function listOf<T>(
  check: FieldCheck<T>,
  bounds: { readonly min?: number; readonly max?: number } = {},
): FieldCheck<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrongField(path, 'must be a list');
    const { min, max } = bounds;
    if (min !== undefined && value.length < min) throw wrongField(path, `must have at least ${String(min)} item`);
    if (max !== undefined && value.length > max) throw wrongField(path, `must have at most ${String(max)} items`);
    return value.map((item: Json, at) => check(item, `${path}.${String(at)}`));
  };
}

/** An object whose members all pass. */
export function recordOf<T>(check: FieldCheck<T>): FieldCheck<Readonly<Record<string, T>>> {
  return (value, path) => {
    if (!isJsonObject(value)) throw wrongField(path, 'must be an object');
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, check(member, joined(path, shown(name)))]),
    );
  };
}

/** Any object, passed on as it came. NaN and the infinities have no form in JSON, so nothing could be passed on. */
export const anyObject: FieldCheck<JsonObject> = (value, path) => {
  if (!isJsonObject(value)) throw wrongField(path, 'must be an object');
  if (hasNonFinite(value)) throw wrongField(path, 'must hold finite numbers only');
  return value;
};

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const MAX_SHOWN = 64;

/** A name that the caller made up, fit to stand in a sentence. */
function shown(name: string): string {
  const plain = name.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain;
}
