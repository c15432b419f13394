import { Refusal, type Json } from '../../domain/facts.js';

/** Reads one value of a request, or refuses it. `path` names the field in the refusal. */
export type FieldCheck<T> = (value: Json, path: string) => T;

export type Checked<C> = C extends FieldCheck<infer T> ? T : never;

/** One plain sentence: the real driver cannot read anything else. The value is not repeated, it may be a secret. */
export function wrongField(path: string, what: string): Refusal {
  return new Refusal(400, path === '' ? what : `${path}: ${what}`);
}

/** `null` stands for a value that is not there. */
export function nullable<T>(check: FieldCheck<T>): FieldCheck<T | null> {
  return (value, path) => (value === null ? null : check(value, path));
}
