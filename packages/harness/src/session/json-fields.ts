import type { JsonObject } from '../json.js';
import { SessionSerializationError } from './session-errors.js';

type Fields = Readonly<Record<string, unknown>>;

/** Readers for parsed JSON: each gives the value in its type or throws SessionSerializationError naming the field. */
export function objectValue(value: unknown, label: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(label, 'an object');
  return value as JsonObject;
}

export function arrayValue(value: unknown, label: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(label, 'an array');
  return value;
}

export function stringField(fields: Fields, key: string, label: string): string {
  const value = fields[key];
  if (typeof value !== 'string') throw wrong(`${label}.${key}`, 'a string');
  return value;
}

export function idField(fields: Fields, key: string, label: string): string {
  const value = stringField(fields, key, label);
  if (value.trim() === '') throw wrong(`${label}.${key}`, 'a text that is not empty');
  return value;
}

export function optionalStringField(fields: Fields, key: string, label: string): string | null {
  return fields[key] === undefined || fields[key] === null ? null : stringField(fields, key, label);
}

export function optionalIdField(fields: Fields, key: string, label: string): string | null {
  return fields[key] === undefined || fields[key] === null ? null : idField(fields, key, label);
}

/** An integer of at least `minimum`. */
export function integerField(fields: Fields, key: string, label: string, minimum = 0): number {
  const value = fields[key];
  if (!Number.isSafeInteger(value) || (value as number) < minimum) {
    throw wrong(`${label}.${key}`, `an integer of at least ${minimum}`);
  }
  return value as number;
}

export function optionalIntegerField(fields: Fields, key: string, label: string): number | null {
  return fields[key] === undefined || fields[key] === null ? null : integerField(fields, key, label);
}

export function oneOfField<Value extends string>(
  fields: Fields,
  key: string,
  label: string,
  values: readonly Value[],
): Value {
  const value = stringField(fields, key, label);
  const found = values.find((known) => known === value);
  if (found === undefined) throw wrong(`${label}.${key}`, `one of ${values.join(', ')}`);
  return found;
}

function wrong(label: string, wanted: string): SessionSerializationError {
  return new SessionSerializationError(`${label} must be ${wanted}`);
}
