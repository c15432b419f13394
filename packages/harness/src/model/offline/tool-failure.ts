import { asRecord } from '../as-record.js';

const FAILED = new Set<unknown>(['error', 'cancelled', 'rejected']);

/** What a tool result says about its failure, or undefined if it is none. */
export function failureIn(result: string): string | undefined {
  const record = parsedRecord(result);
  if (record === undefined || !FAILED.has(record['status'])) return undefined;
  const reason = record['error'] ?? record['reason'] ?? record['errors'];
  if (reason === undefined) return result;
  return typeof reason === 'string' ? reason : JSON.stringify(reason);
}

function parsedRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}
