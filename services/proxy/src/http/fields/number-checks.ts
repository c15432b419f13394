import { numberOf } from '@parley/proxy-protocol';
import type { Json } from '../../domain/facts.js';
import { type FieldCheck, wrongField } from './field-check.js';

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

const INTEGER_TEXT = /^[+-]?\d+(?:\.0*)?$/;

/** An integer as lenient as the wire's: `3`, `1.0`, `"3"` and `true` all pass. */
export function looseInteger(bounds: NumberBounds = {}): FieldCheck<number> {
  return (value, path) => {
    const number = looseNumberOf(value, INTEGER_TEXT);
    if (number === undefined || !Number.isInteger(number)) throw wrongField(path, 'must be an integer');
    return withinBounds(number, path, bounds);
  };
}

/** An integer written as one: no string, no boolean, no `1.0`. */
export function strictInteger(bounds: NumberBounds = {}): FieldCheck<number> {
  return (value, path) => {
    const number = numberOf(value);
    const isWritten = JSON.isRawJSON(value) ? /^-?\d+$/.test(value.rawJSON) : true;
    if (number === undefined || !Number.isInteger(number) || !isWritten) throw wrongField(path, 'must be an integer');
    return withinBounds(number, path, bounds);
  };
}

const NUMBER_TEXT = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)$/i;
/** What a timer can wait: about 24 days. */
const MAX_SECONDS = 2_147_483;

/** Seconds over 0; what is longer than a timer can wait, infinity too, becomes the longest that it can. */
export const seconds: FieldCheck<number> = (value, path) => {
  const number = looseNumberOf(value, NUMBER_TEXT);
  if (number === undefined) throw wrongField(path, 'must be a number');
  if (!(number > 0)) throw wrongField(path, 'must be greater than 0');
  return Math.min(number, MAX_SECONDS);
};

function looseNumberOf(value: Json, textForm: RegExp): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return numberOf(value);
  const trimmed = value.trim();
  if (!textForm.test(trimmed)) return undefined;
  return Number(trimmed.replace(/inf(?:inity)?$/i, 'Infinity').replace(/nan$/i, 'NaN'));
}

function withinBounds(number: number, path: string, { min, max }: NumberBounds): number {
  if (min !== undefined && number < min) throw wrongField(path, `must be at least ${String(min)}`);
  if (max !== undefined && number > max) throw wrongField(path, `must be at most ${String(max)}`);
  return number;
}
