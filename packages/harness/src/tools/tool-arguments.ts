import type { JsonObject, JsonValue } from '../json.js';
import { canonicalJson } from './canonical-json.js';
import { isJsonObject } from './json-copy.js';

/** Arguments as a tool takes them, or why they cannot be taken. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly canonical: string }
  | { readonly ok: false; readonly error: string; readonly canonical: string };

const EMPTY: JsonObject = Object.freeze({});
const NO_ARGUMENTS: ParsedArguments = { ok: true, value: EMPTY, canonical: '{}' };

/**
 * Reads what a model wrote, strictly: a text that was cut off or is nearly JSON is refused, never guessed at.
 * Blank text means no arguments. Errors do not repeat the text.
 */
export function parseArguments(raw: string): ParsedArguments {
  if (raw.trim() === '') return NO_ARGUMENTS;
  const parsed = parse(raw);
  if (parsed instanceof SyntaxError) return { ok: false, error: syntaxErrorText(parsed), canonical: raw };
  const canonical = canonicalJson(parsed) ?? raw;
  if (isJsonObject(parsed)) return { ok: true, value: parsed, canonical };
  return { ok: false, error: 'tool arguments must be a JSON object', canonical };
}

function parse(raw: string): JsonValue | SyntaxError {
  try {
    return JSON.parse(raw) as JsonValue;
  } catch (error) {
    return error instanceof SyntaxError ? error : new SyntaxError('not readable');
  }
}

/** The engine's message quotes the text; only the position is taken from it. */
function syntaxErrorText(error: SyntaxError): string {
  const position = /position (\d+)/u.exec(error.message)?.[1];
  if (position !== undefined) return `tool arguments are not valid JSON (at character ${position})`;
  if (error.message.includes('end of JSON')) return 'tool arguments are not valid JSON (they end too early)';
  return 'tool arguments are not valid JSON';
}
