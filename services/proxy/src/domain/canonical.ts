import type { Json } from './facts.js';
import { isObject, rawNumberText } from './json-values.js';

interface Frame {
  /** Undefined for an array. */
  readonly names: readonly string[] | undefined;
  readonly items: readonly Json[];
  at: number;
}

/**
 * One text for all JSON values that are equal: members sorted, no whitespace, a number with a fraction or an exponent
 * as the double it is and, if whole, as the integer with that value; other integers by their digits, however many.
 */
export function canonicalText(value: Json): string {
  const open: Frame[] = [];
  let text = '';
  let next: Json | undefined = value;
  for (;;) {
    if (next !== undefined) {
      const frame = frameOf(next);
      if (frame === undefined) text += scalarText(next);
      else {
        text += frame.names === undefined ? '[' : '{';
        open.push(frame);
      }
    }
    const frame = open.at(-1);
    if (frame === undefined) return text;
    next = frame.items[frame.at];
    if (frame.at === frame.items.length || next === undefined) {
      text += frame.names === undefined ? ']' : '}';
      open.pop();
      next = undefined;
      continue;
    }
    if (frame.at > 0) text += ',';
    if (frame.names !== undefined) text += `${JSON.stringify(frame.names[frame.at])}:`;
    frame.at += 1;
  }
}

function frameOf(value: Json): Frame | undefined {
  if (Array.isArray(value)) return { names: undefined, items: value as readonly Json[], at: 0 };
  if (!isObject(value)) return undefined;
  const names = Object.keys(value).sort();
  return { names, items: names.map((name) => value[name] ?? null), at: 0 };
}

function scalarText(value: Json): string {
  if (typeof value === 'number') return doubleText(value);
  const number = rawNumberText(value);
  return number === undefined ? JSON.stringify(value) : rawText(number);
}

function rawText(text: string): string {
  if (!/^-?\d+$/.test(text)) return doubleText(Number(text));
  return text === '-0' ? '0' : text;
}

function doubleText(value: number): string {
  // Digits by way of BigInt: a string of the double itself would have an exponent from 1e21 on.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : String(value);
}
