export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
}

const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Reads W3C `traceparent`; undefined for one that is missing or broken, which then starts a trace of its own. */
export function readTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, rest] = TRACE_PARENT.exec(header?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  // Only later versions may have more fields.
  return version === '00' && rest !== undefined ? undefined : { traceId, spanId };
}
