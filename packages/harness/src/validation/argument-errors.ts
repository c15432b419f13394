import type { ErrorObject } from 'ajv';
import type { JsonObject } from '../json.js';

/** One rule that the arguments break. */
export interface ArgumentError {
  /** JSON Pointer; empty for the arguments as a whole. Of a missing property: where it should be. */
  readonly path: string;
  readonly keyword: string;
  /** Describes the rule; holds no value. */
  readonly message: string;
}

export interface ArgumentErrors {
  readonly errors: readonly ArgumentError[];
  readonly truncated: boolean;
}

/** Names of properties are written by the model too and may be of any length. */
const MAX_PATH_LENGTH = 256;

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['additionalProperties', 'unexpected properties are not allowed'],
  ['anyOf', 'value does not match any allowed schema'],
  ['const', 'value does not match the required constant'],
  ['contains', 'array does not contain a required item'],
  ['dependentRequired', 'dependent properties are missing'],
  ['dependencies', 'dependent properties are missing'],
  ['enum', 'value is not in the allowed set'],
  ['exclusiveMaximum', 'number is above the allowed exclusive maximum'],
  ['exclusiveMinimum', 'number is below the allowed exclusive minimum'],
  ['format', 'value does not match the required format'],
  ['maxItems', 'array contains too many items'],
  ['maxLength', 'string is longer than allowed'],
  ['maxProperties', 'object contains too many properties'],
  ['maximum', 'number is above the allowed maximum'],
  ['minItems', 'array contains too few items'],
  ['minLength', 'string is shorter than allowed'],
  ['minProperties', 'object contains too few properties'],
  ['minimum', 'number is below the allowed minimum'],
  ['multipleOf', 'number is not an allowed multiple'],
  ['not', 'value matches a forbidden schema'],
  ['oneOf', 'value does not match exactly one allowed schema'],
  ['pattern', 'string does not match the required pattern'],
  ['propertyNames', 'property name is not allowed'],
  ['required', 'required property is missing'],
  ['type', 'value does not match the required type'],
  ['unevaluatedProperties', 'unexpected properties are not allowed'],
  ['uniqueItems', 'array items must be unique'],
]);

/** Keywords whose error stands for those of the alternatives that were tried. */
const SUMMARIES = new Set(['anyOf', 'oneOf']);

/** Turns a validator's errors into what a model is told: each place and rule once, in order of place. */
export function argumentErrors(found: readonly ErrorObject[], maxErrors: number): ArgumentErrors {
  const unique = new Map<string, ArgumentError>();
  for (const error of withoutAlternatives(found)) {
    const path = pathOf(error);
    const keyword = MESSAGES.has(error.keyword) ? error.keyword : keywordOf(error);
    const message = MESSAGES.get(keyword) ?? 'value does not match the tool schema';
    unique.set(`${keyword}\n${path}`, { path, keyword, message });
  }
  const errors = [...unique.values()].sort((a, b) => compare(a.path, b.path) || compare(a.keyword, b.keyword));
  return { errors: errors.slice(0, maxErrors), truncated: errors.length > maxErrors };
}

/** For arguments that could not be checked to their end. */
export function uncheckableArguments(message: string): ArgumentErrors {
  return { errors: [{ path: '', keyword: 'schema', message }], truncated: false };
}

/** The result that a model gets for arguments that are not valid. */
export function invalidArgumentsResult(tool: string, { errors, truncated }: ArgumentErrors): JsonObject {
  const list = errors.map(({ path, keyword, message }) => ({ path, keyword, message }));
  return { status: 'error', tool, code: 'invalid_tool_arguments', errors: list, ...(truncated && { truncated }) };
}

function withoutAlternatives(found: readonly ErrorObject[]): readonly ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of found) {
    // `if` repeats what `then` or `else` found, and errors about a name are summed up by propertyNames.
    if (error.keyword === 'if' || error.propertyName !== undefined) continue;
    if (SUMMARIES.has(error.keyword)) {
      while (kept.length > 0 && isAlternativeOf(kept.at(-1), error)) kept.pop();
    }
    kept.push(error);
  }
  return kept;
}

/** Errors of alternatives come right before their summary. Through a reference they have a path of their own. */
function isAlternativeOf(error: ErrorObject | undefined, summary: ErrorObject): boolean {
  if (error === undefined || !isAtOrBelow(error.instancePath, summary.instancePath)) return false;
  const parent = summary.schemaPath.slice(0, -summary.keyword.length);
  return error.schemaPath.startsWith(`${summary.schemaPath}/`) || !error.schemaPath.startsWith(parent);
}

function isAtOrBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

function pathOf(error: ErrorObject): string {
  const missing: unknown = error.keyword === 'required' ? error.params['missingProperty'] : undefined;
  const path = typeof missing === 'string' ? `${error.instancePath}/${escapePointer(missing)}` : error.instancePath;
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function keywordOf(error: ErrorObject): string {
  return error.keyword === 'false schema' ? 'schema' : error.keyword;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
