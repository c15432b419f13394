import { asRecord } from './as-record.js';
import type { RawUsage } from './usage-accounting.js';

/** Reads a `usage` object of chat completions, with the names that other servers have for cached tokens. */
export function readWireUsage(value: unknown): RawUsage | null {
  const usage = asRecord(value);
  if (usage === undefined) return null;
  const input = asRecord(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = asRecord(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  return {
    inputTokens: usage['prompt_tokens'] ?? usage['input_tokens'],
    outputTokens: usage['completion_tokens'] ?? usage['output_tokens'],
    totalTokens: usage['total_tokens'],
    cacheReadTokens: input?.['cached_tokens'] ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens'],
    cacheWriteTokens: input?.['cache_write_tokens'] ?? usage['cache_creation_input_tokens'],
    reasoningTokens: output?.['reasoning_tokens'] ?? usage['reasoning_tokens'],
  };
}
