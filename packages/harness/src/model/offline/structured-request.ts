import type { JsonObject } from '../../json.js';
import { asRecord } from '../as-record.js';

/** A call that a text asks for by name, with arguments. */
export interface RequestedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/**
 * The calls of a text that is JSON, alone or in one fenced block after at most a line of words: `{"tool": …,
 * "arguments": {…}}` or a list of those. Undefined for any other text.
 */
export function readStructuredRequest(text: string): readonly RequestedCall[] | undefined {
  const trimmed = text.trim();
  const json = insideFence(trimmed) ?? trimmed;
  if (!/^[[{]/u.test(json)) return undefined;
  const parsed = tryParse(json);
  const entries: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const calls = entries.map(readCall).filter((call) => call !== undefined);
  return calls.length > 0 && calls.length === entries.length ? calls : undefined;
}

const FENCE = '```';

function insideFence(text: string): string | undefined {
  const begin = text.indexOf(FENCE);
  if (begin === -1 || !text.endsWith(FENCE)) return undefined;
  const before = text.slice(0, begin).trim();
  const inside = text.slice(begin + FENCE.length, -FENCE.length);
  if (before.includes('\n') || inside.includes(FENCE)) return undefined;
  return inside.replace(/^json\b/u, '').trim();
}

function readCall(value: unknown): RequestedCall | undefined {
  const record = asRecord(value);
  const args = asRecord(record?.['arguments'] ?? {});
  if (typeof record?.['tool'] !== 'string' || args === undefined) return undefined;
  // It came out of JSON.parse.
  return { tool: record['tool'], arguments: args as JsonObject };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
