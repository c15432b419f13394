import type { Attributes } from '@opentelemetry/api';
import type { ModelUsage } from '../model/usage.js';

/** Only what is known: an attribute of 0 would claim that nothing was used. */
export function usageAttributes(usage: ModelUsage | null | undefined): Attributes {
  if (usage === null || usage === undefined) return {};
  return {
    ...known('gen_ai.usage.input_tokens', usage.inputTokens),
    ...known('gen_ai.usage.output_tokens', usage.outputTokens),
    ...known('gen_ai.usage.cache_read.input_tokens', usage.cacheReadTokens),
    ...known('gen_ai.usage.cache_creation.input_tokens', usage.cacheWriteTokens),
    ...known('gen_ai.usage.reasoning.output_tokens', usage.reasoningTokens),
  };
}

function known(name: string, value: number | null): Attributes {
  return value === null ? {} : { [name]: value };
}
