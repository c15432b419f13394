import type { JsonObject } from '../json.js';
import type { ModelUsage, RunUsage } from '../model/usage.js';
import { integerField, optionalIntegerField } from './json-fields.js';

export function modelUsageToJson(usage: ModelUsage): JsonObject {
  return {
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    total_tokens: usage.totalTokens,
  };
}

export function modelUsageFromJson(fields: JsonObject, label: string): ModelUsage {
  return {
    inputTokens: optionalIntegerField(fields, 'input_tokens', label),
    outputTokens: optionalIntegerField(fields, 'output_tokens', label),
    totalTokens: optionalIntegerField(fields, 'total_tokens', label),
    cacheReadTokens: optionalIntegerField(fields, 'cache_read_tokens', label),
    cacheWriteTokens: optionalIntegerField(fields, 'cache_write_tokens', label),
    reasoningTokens: optionalIntegerField(fields, 'reasoning_tokens', label),
  };
}

export function runUsageToJson(usage: RunUsage): JsonObject {
  return {
    ...modelUsageToJson(usage),
    reported_request_count: usage.reportedRequestCount,
    request_count: usage.requestCount,
  };
}

export function runUsageFromJson(fields: JsonObject, label: string): RunUsage {
  return {
    ...modelUsageFromJson(fields, label),
    requestCount: integerField(fields, 'request_count', label),
    reportedRequestCount: integerField(fields, 'reported_request_count', label),
  };
}
