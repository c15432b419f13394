import type { ToolCallResult } from '../events.js';
import type { ToolCall } from '../messages.js';
import type { ToolTurnOutcome } from './tool-turn.js';

/** Why no further call of a message starts, and what the run is told. */
export interface TurnEnd {
  /** What the calls that were not started are told. */
  readonly reason: string;
  readonly outcome: Extract<ToolTurnOutcome, { readonly kind: 'ended' }>;
}

/** The end that a tool asked for; undefined if it wants the run to go on. */
export function endOf(call: ToolCall, result: ToolCallResult): TurnEnd | undefined {
  const output = result.message.content;
  switch (result.control) {
    case 'continue':
      return undefined;
    case 'complete':
      return endBy(call, 'tool_completion', output, null);
    case 'reject':
      return endBy(call, 'tool_rejected', output, 'tool execution was rejected');
    case 'cancel':
      return endBy(call, 'tool_cancelled', output, 'tool execution was cancelled');
  }
}

/** The end by a call that came too often in a row. */
export function repeatEnd(call: ToolCall, error: string): TurnEnd {
  return endBy(call, 'repeated_tool_call', null, error);
}

function endBy(
  call: ToolCall,
  stopReason: TurnEnd['outcome']['stopReason'],
  output: string | null,
  error: string | null,
): TurnEnd {
  return { reason: `not started: run ended by ${call.id}`, outcome: { kind: 'ended', stopReason, output, error } };
}
