import { safeJson } from '../ui/neutralise.js';

/**
 * What came from an agent as one line of JSON: bytes as base64, and one of several kinds under the name of the kind, as
 * the protocol itself writes them.
 */
export function jsonLine(value: unknown): string {
  return `${safeJson(plain(value))}\n`;
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => keyed(key, one)));
}

function keyed(key: string, value: unknown): [key: string, value: unknown] {
  if (typeof value !== 'object' || value === null || !('$case' in value)) return [key, plain(value)];
  const { $case: kind, value: inner } = value as { readonly $case: string; readonly value?: unknown };
  return [kind, plain(inner)];
}
