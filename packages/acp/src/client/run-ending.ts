import { messageOf, safeDiagnostic, type SubagentResult } from '@parley/harness';
import type { OutputText } from './output-text.js';
import type { PromptEnd } from './stop-reasons.js';

export function cancelledEnd(reason: unknown): PromptEnd {
  // Without a reason of its own, a signal has one that says no more.
  const isPlain = !(reason instanceof Error) || reason.name === 'AbortError';
  return {
    stopReason: 'aborted',
    diagnostic: isPlain ? 'cancelled' : `cancelled: ${messageOf(reason)}`,
    orderly: false,
  };
}

export function failedEnd(diagnostic: string): PromptEnd {
  return { stopReason: 'error', diagnostic, orderly: false };
}

/** The result of a run from its end and its text. */
export function runResult({ stopReason, diagnostic }: PromptEnd, output: OutputText): SubagentResult {
  const cut = output.wasCut ? `the output was longer than is kept of it (${output.maxBytes} bytes)` : undefined;
  const parts = [diagnostic, cut].filter((part) => part !== undefined);
  const base = { stopReason, output: output.text };
  return parts.length === 0 ? base : { ...base, diagnostic: safeDiagnostic(parts.join('; ')) };
}
