import { AppError } from './app-error.js';
import { formatPath } from './validate.js';

/** Deeper input is refused: whatever walks it recursively would run out of stack. */
const MAX_DEPTH = 64;

interface Visit {
  readonly value: object;
  readonly parent: Visit | undefined;
  readonly key: string | number;
  readonly depth: number;
}

/**
 * Refuses what JSON can say and no message of ours means: members named `__proto__` (schemas drop them
 * silently, assignments change a prototype), text with half a surrogate pair (it cannot be encoded as UTF-8,
 * which every other transport and store needs), and nesting beyond 64 levels.
 *
 * @throws AppError `invalid_request` with the path.
 */
export function checkPlainJson(root: unknown): void {
  if (typeof root === 'string') checkText(root, undefined, '');
  if (typeof root !== 'object' || root === null) return;
  const open: Visit[] = [{ value: root, parent: undefined, key: '', depth: 1 }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    if (visit.depth > MAX_DEPTH)
      throw refuse(visit.parent, visit.key, `nested deeper than ${String(MAX_DEPTH)} levels`);
    const isArray = Array.isArray(visit.value);
    for (const name of Object.keys(visit.value)) {
      const key = isArray ? Number(name) : name;
      if (name === '__proto__') throw refuse(visit, key, 'reserved name');
      if (!isArray) checkText(name, visit, key);
      const value = (visit.value as Record<string, unknown>)[name];
      if (typeof value === 'string') checkText(value, visit, key);
      else if (typeof value === 'object' && value !== null)
        open.push({ value, parent: visit, key, depth: visit.depth + 1 });
    }
  }
}

function checkText(text: string, parent: Visit | undefined, key: string | number): void {
  if (!text.isWellFormed()) throw refuse(parent, key, 'half a surrogate pair is no text');
}

function refuse(parent: Visit | undefined, key: string | number, message: string): AppError {
  const path: (string | number)[] = parent === undefined ? [] : [key];
  for (let visit = parent; visit?.parent !== undefined; visit = visit.parent) path.unshift(visit.key);
  const formatted = formatPath(path);
  return new AppError('invalid_request', `${formatted === '' ? 'The request' : formatted}: ${message}`, {
    errors: [{ path: formatted, message }],
  });
}

/**
 * Parses JSON text and refuses what {@link checkPlainJson} refuses. Ordinary text is not walked:
 * a member can only be named so, and text only be ill-formed, when the text says so literally or by an escape.
 *
 * @throws AppError `invalid_request`; SyntaxError when the text is no JSON.
 */
export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (text.includes('__proto__') || text.includes('\\u') || isDeep(text)) checkPlainJson(value);
  return value;
}

/** Counts brackets outside of strings, which is exact for text that did parse. */
function isDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}
