import { type FieldCheck, wrongField } from './field-check.js';

export interface TextBounds {
  /** In code points, as lengths are counted on this wire. */
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
}

/** A string; other types are never made into one. Half a surrogate pair has no form in UTF-8 and is refused. */
export function text(bounds: TextBounds = {}): FieldCheck<string> {
  return (value, path) => {
    if (typeof value !== 'string') throw wrongField(path, 'must be a string');
    if (!value.isWellFormed()) throw wrongField(path, 'must be valid Unicode, without half a surrogate pair');
    checkLength(value, path, bounds);
    if (bounds.pattern !== undefined && !bounds.pattern.test(value)) {
      throw wrongField(path, `must match ${bounds.pattern.source}`);
    }
    return value;
  };
}

function checkLength(value: string, path: string, { min, max }: TextBounds): void {
  if (min === undefined && max === undefined) return;
  const length = codePoints(value);
  if (min !== undefined && length < min)
    throw wrongField(path, `must have at least ${String(min)} ${min === 1 ? 'character' : 'characters'}`);
  if (max !== undefined && length > max) throw wrongField(path, `must have at most ${String(max)} characters`);
}

function codePoints(value: string): number {
  let count = 0;
  for (let at = 0; at < value.length; at += 1) {
    if ((value.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  }
  return count;
}

export function literal<T extends string>(only: T): FieldCheck<T> {
  return (value, path) => {
    if (value !== only) throw wrongField(path, `must be '${only}'`);
    return only;
  };
}
