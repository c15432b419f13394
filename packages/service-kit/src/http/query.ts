import { AppError, type FieldError } from '../errors/app-error.js';
import { formatPath } from '../errors/validate.js';

const MAX_FIELD_ERRORS = 32;

/** How a query parameter is read: a list may be repeated or comma-separated; pairs are `key=value` in a list. */
export type QueryKind = 'text' | 'number' | 'boolean' | 'list' | 'pairs';

/**
 * Reads a query string into a plain object by declared names. Parameters that nobody declared, and single
 * ones given twice, are refused, so that a typo does not vanish.
 *
 * @throws AppError `invalid_request` with the names as paths.
 */
export function readQuery(query: URLSearchParams, kinds: Readonly<Record<string, QueryKind>>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const name of new Set(query.keys())) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const values = query.getAll(name);
    if (kind === undefined) errors.push({ path: formatPath([name]), message: 'unknown query parameter' });
    else if (values.length > 1 && kind !== 'list' && kind !== 'pairs') {
      errors.push({ path: name, message: 'given more than once' });
    } else {
      const read = readValue(kind, values);
      if (read instanceof Error) errors.push({ path: name, message: read.message });
      else out[name] = read;
    }
  }
  const [first] = errors;
  if (first !== undefined) {
    const more = errors.length > 1 ? ` (and ${String(errors.length - 1)} more)` : '';
    throw new AppError('invalid_request', `${first.path}: ${first.message}${more}`, {
      errors: errors.slice(0, MAX_FIELD_ERRORS),
    });
  }
  return out;
}

function readValue(kind: QueryKind, values: readonly string[]): unknown {
  const [first = ''] = values;
  switch (kind) {
    case 'text':
      return first;
    case 'number':
      return /^-?\d{1,16}$/.test(first) ? Number(first) : new Error('must be a whole number');
    case 'boolean':
      if (first === 'true' || first === '1') return true;
      return first === 'false' || first === '0' ? false : new Error('must be true or false');
    case 'list':
      return splitList(values);
    case 'pairs':
      return readPairs(splitList(values));
  }
}

/** `a,b` and repeated parameters; blank entries stay, so that the schema can name them. */
function splitList(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(',')).map((entry) => entry.trim());
}

function readPairs(entries: readonly string[]): Record<string, string> | Error {
  const pairs: [string, string][] = [];
  for (const entry of entries) {
    const at = entry.search(/[:=]/);
    if (at < 1) return new Error(`"${entry.slice(0, 64).toWellFormed()}" is not key:value`);
    if (entry.slice(0, at) === '__proto__') return new Error('"__proto__" is a reserved name');
    pairs.push([entry.slice(0, at), entry.slice(at + 1)]);
  }
  return Object.fromEntries(pairs);
}
