const DEFAULT_REASON = 'agent run was aborted';

/** The text with which a run was aborted, or a fixed one if `abort()` was called without a reason. */
export function abortReasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  // What `abort()` without an argument leaves: its text names the mechanism, not a reason.
  if (reason instanceof DOMException && reason.name === 'AbortError') return DEFAULT_REASON;
  const text = typeof reason === 'object' && reason !== null && 'message' in reason ? reason.message : reason;
  return typeof text === 'string' && text !== '' ? text : DEFAULT_REASON;
}
