import type { NegotiationResult } from './negotiation-types.js';

/** What became of a negotiation that led to nothing, for the trace log: `Negotiation with X ...`. */
export function inWords(result: Extract<NegotiationResult, { accepted: false }>): string {
  const { code, detail } = result.reason;
  switch (result.outcome) {
    case 'timeout':
      return 'timed out';
    case 'unreachable':
      return 'failed (cannot be reached)';
    case 'declined':
      return `was declined (${code})`;
    case 'countered':
      return `ended without agreement (${code})`;
    case 'invalid_answer':
      return `failed (${detail})`;
    case 'target_refused':
      return 'was not tried (its address is not allowed)';
    case 'error':
      return 'failed';
    case 'withdrawn':
      return 'was withdrawn';
  }
}
