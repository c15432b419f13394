import { RUN_STATUSES, STOP_REASONS } from '../enums.js';
import type { JsonObject } from '../json.js';
import type { AgentRunResult } from '../result.js';
import { integerField, objectValue, oneOfField, optionalStringField } from './json-fields.js';
import { runUsageFromJson, runUsageToJson } from './usage-codec.js';

const PHASES = ['start', 'session', 'task_hook', 'skill'] as const satisfies readonly AgentRunResult['phase'][];

/** The form of a result in a journal; the run's id stands beside it. */
export function resultToJson(result: AgentRunResult): JsonObject {
  return {
    error: result.error,
    output: result.output,
    ...(result.partial !== undefined && { partial: result.partial }),
    ...(result.phase !== undefined && { phase: result.phase }),
    status: result.status,
    stop_reason: result.stopReason,
    turns: result.turns,
    usage: runUsageToJson(result.usage),
  };
}

/** @throws SessionSerializationError */
export function resultFromJson(value: unknown, runId: string, label: string): AgentRunResult {
  const fields = objectValue(value, label);
  const partial = optionalStringField(fields, 'partial', label);
  const hasPhase = fields['phase'] !== undefined && fields['phase'] !== null;
  return {
    runId,
    status: oneOfField(fields, 'status', label, RUN_STATUSES),
    stopReason: oneOfField(fields, 'stop_reason', label, STOP_REASONS),
    output: optionalStringField(fields, 'output', label),
    turns: integerField(fields, 'turns', label),
    usage: runUsageFromJson(objectValue(fields['usage'], `${label}.usage`), `${label}.usage`),
    error: optionalStringField(fields, 'error', label),
    ...(partial !== null && { partial }),
    ...(hasPhase && { phase: oneOfField(fields, 'phase', label, PHASES) }),
  };
}
