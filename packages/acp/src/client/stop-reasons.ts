import type { SubagentStopReason } from '@parley/harness';

/** How a prompt of a child ended. */
export interface PromptEnd {
  readonly stopReason: SubagentStopReason;
  /** What there is to say of an end that is not plain. */
  readonly diagnostic?: string;
  /** Whether the child ended its turn in good order, so that it may be given another. */
  readonly orderly: boolean;
}

const ENDS: ReadonlyMap<unknown, PromptEnd> = new Map<unknown, PromptEnd>([
  ['end_turn', { stopReason: 'completed', orderly: true }],
  ['max_tokens', { stopReason: 'max-tokens', diagnostic: 'the child reached its token limit', orderly: true }],
  ['refusal', { stopReason: 'refusal', diagnostic: 'the child refused', orderly: true }],
  ['cancelled', { stopReason: 'aborted', diagnostic: 'the child cancelled its turn', orderly: false }],
  [
    'max_turn_requests',
    { stopReason: 'error', diagnostic: 'the child reached its limit of requests (max_turn_requests)', orderly: false },
  ],
]);

const MAX_SHOWN_CHARS = 100;

/** The end of a prompt from the answer to it, which nobody has checked. A reason that is not known is an error. */
export function promptEnd(answer: unknown): PromptEnd {
  const reason = typeof answer === 'object' && answer !== null ? (answer as { stopReason?: unknown }).stopReason : null;
  const known = ENDS.get(reason);
  if (known !== undefined) return known;
  const shown = typeof reason === 'string' ? JSON.stringify(reason.slice(0, MAX_SHOWN_CHARS)) : undefined;
  const diagnostic =
    shown === undefined
      ? 'the child ended its turn without a stop reason'
      : `the child ended its turn with an unknown stop reason: ${shown}`;
  return { stopReason: 'error', diagnostic, orderly: false };
}
