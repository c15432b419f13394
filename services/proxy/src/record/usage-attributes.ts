import { GEN_AI } from '@parley/proxy-protocol';
import type { Json, JsonObject } from '../domain/facts.js';

/** Members of a usage in the dialects of providers, the first that is there counts. A dot goes into an object. */
const COUNTS: readonly (readonly [string, readonly string[]])[] = [
  [GEN_AI.inputTokens, ['input_tokens', 'prompt_tokens']],
  [GEN_AI.outputTokens, ['output_tokens', 'completion_tokens']],
  [
    GEN_AI.cacheReadTokens,
    ['cache_read_input_tokens', 'prompt_tokens_details.cached_tokens', 'input_tokens_details.cached_tokens'],
  ],
  [GEN_AI.cacheCreationTokens, ['cache_creation_input_tokens']],
  [GEN_AI.reasoningTokens, ['completion_tokens_details.reasoning_tokens', 'output_tokens_details.reasoning_tokens']],
];

/** Counts are taken as they came: a string stays a string. Null counts as not told. */
export function usageAttributes(usage: JsonObject | undefined): JsonObject {
  if (usage === undefined) return {};
  const attributes: Record<string, Json> = {};
  for (const [attribute, names] of COUNTS) {
    const value = names.map((name) => memberAt(usage, name)).find((found) => found !== undefined);
    if (value !== undefined && value !== null) attributes[attribute] = value;
  }
  return attributes;
}

function memberAt(usage: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = usage;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}
