import type { DelegateResult, TaskPart } from '@parley/agent';
import type { JsonValue } from '@parley/harness';
import type { OutputChecks } from './a2a-subagent-run.js';

/** What an agent has written: its deliverables; without any the last thing it said. */
export function textOfResult({ artifacts, text }: DelegateResult): string {
  const written = artifacts.map(({ parts }) => textOf(parts)).filter((one) => one !== '');
  return written.length > 0 ? written.join('\n\n') : (text ?? '');
}

/** Parts of one artifact came in chunks and belong together as they are. */
function textOf(parts: readonly TaskPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** The newest of the values that an agent has handed in which fits both schemas. */
export function valueOfResult(
  { agentId, artifacts }: DelegateResult,
  { promised, wanted }: OutputChecks,
): { readonly value: JsonValue } | { readonly fault: string } {
  const values = artifacts.flatMap(({ parts }) => parts.flatMap(valuesIn)).reverse();
  let fault = 'there is no data in its artifacts';
  for (const value of values) {
    const found = promised(value) ?? wanted(value);
    if (found === undefined) return { value };
    fault = found;
  }
  return { fault: `${agentId} handed in nothing that fits the schema: ${fault}` };
}

function valuesIn(part: TaskPart): JsonValue[] {
  if (part.kind === 'data') return [part.data as JsonValue];
  if (part.kind !== 'bytes' || part.mediaType?.split(';', 1)[0]?.trim() !== 'application/json') return [];
  try {
    return [JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(part.bytes)) as JsonValue];
  } catch {
    return [];
  }
}
