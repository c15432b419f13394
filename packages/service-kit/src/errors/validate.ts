import type { z } from 'zod';
import { AppError, type FieldError } from './app-error.js';

const MAX_FIELD_ERRORS = 32;

function renamed(error: FieldError, names: Readonly<Record<string, string>>): FieldError {
  const [field = ''] = /^\w*/.exec(error.path) ?? [];
  const name = Object.hasOwn(names, field) ? names[field] : undefined;
  return name === undefined ? error : { ...error, path: name + error.path.slice(field.length) };
}
const MAX_NAME_LENGTH = 64;
const MAX_PATH_LENGTH = 256;
const MAX_MESSAGE_LENGTH = 512;

/**
 * `['capabilities', 2, 'x y']` becomes `capabilities[2]["x y"]`; plain names are joined by dots.
 * Names that a caller made up are cut, so that an answer stays small whatever was sent.
 */
export function formatPath(path: readonly PropertyKey[]): string {
  let out = '';
  for (const step of path) {
    if (typeof step === 'number') out += `[${String(step)}]`;
    else {
      const name = String(step).slice(0, MAX_NAME_LENGTH);
      if (!/^[\w-]+$/.test(name)) out += `[${JSON.stringify(name)}]`;
      else out += out === '' ? name : `.${name}`;
    }
    if (out.length > MAX_PATH_LENGTH) return `${out.slice(0, MAX_PATH_LENGTH).toWellFormed()}...`;
  }
  return out;
}

type Issue = z.core.$ZodIssue;

function flatten(issues: readonly Issue[], base: readonly PropertyKey[], out: FieldError[]): void {
  for (const issue of issues) {
    const path = [...base, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) out.push({ path: formatPath([...path, key]), message: 'unknown field' });
    } else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const meant = meantBranch(issue.errors);
      if (meant === undefined) out.push({ path: formatPath(path), message: noBranchFits(issue.errors) });
      else flatten(meant, path, out);
    } else if (issue.code === 'invalid_key') {
      for (const inner of issue.issues) out.push({ path: formatPath(path), message: `the name: ${inner.message}` });
    } else out.push({ path: formatPath(path), message: issue.message.slice(0, MAX_MESSAGE_LENGTH) });
  }
}

/**
 * Of the branches of a union, the one that the caller meant: of the right type, with the right tag,
 * understood the furthest, with the fewest faults. Undefined when the value has none of the types.
 */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const scores = branches
    .filter((issues) => !issues.some(isWrongType))
    .map((issues) => ({ issues, wrongTags: issues.filter(isWrongTag).length, depth: depthOf(issues) }));
  scores.sort((a, b) => a.wrongTags - b.wrongTags || b.depth - a.depth || a.issues.length - b.issues.length);
  return scores[0]?.issues;
}

function isWrongType(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  return (
    issue.code === 'invalid_type' ||
    (issue.code === 'invalid_union' && issue.errors.every((one) => one.some(isWrongType)))
  );
}

function isWrongTag(issue: Issue): boolean {
  return issue.code === 'invalid_value' && issue.values.length === 1 && issue.path.length > 0;
}

function depthOf(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
}

function noBranchFits(branches: readonly (readonly Issue[])[]): string {
  const expected = new Set<string>();
  const visit = (issues: readonly Issue[]): void => {
    for (const issue of issues) {
      if (issue.code === 'invalid_type') expected.add(issue.expected === 'record' ? 'object' : issue.expected);
      else if (issue.code === 'invalid_union') issue.errors.forEach(visit);
    }
  };
  branches.forEach(visit);
  return `Invalid input: expected ${[...expected].join(' or ')}`;
}

/**
 * Checks input of any origin against a schema.
 *
 * @param names what the caller calls a field that has another name in the schema: `{required_capabilities: 'capabilities'}`.
 * @throws AppError `invalid_request` with the path of every wrong field (at most 32).
 */
export function validate<T>(schema: z.ZodType<T>, input: unknown, names: Readonly<Record<string, string>> = {}): T {
  const result = parse(schema, input);
  if (result.success) return result.data;
  const errors: FieldError[] = [];
  flatten(result.error.issues, [], errors);
  const shown = errors.slice(0, MAX_FIELD_ERRORS).map((error) => renamed(error, names));
  const first = shown[0] ?? { path: '', message: 'not valid' };
  const more = errors.length > 1 ? ` (and ${String(errors.length - 1)} more)` : '';
  throw new AppError('invalid_request', `${first.path === '' ? 'The request' : first.path}: ${first.message}${more}`, {
    errors: shown,
    cause: result.error,
  });
}

function parse<T>(schema: z.ZodType<T>, input: unknown): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(input);
  } catch (error) {
    // Recursive schemas run out of stack on input that is nothing but brackets.
    if (!(error instanceof RangeError)) throw error;
    throw new AppError('invalid_request', 'The request is nested too deeply.', { cause: error });
  }
}
