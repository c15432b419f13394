import type { ToolCallResult } from '../events.js';
import type { JsonObject } from '../json.js';
import type { ToolCall } from '../messages.js';
import { JsonTextWriter } from './json-text-writer.js';
import type { StepOutcome } from './step-outcome.js';
import { thrownText } from './thrown-text.js';
import { resultText } from './result-text.js';

/** Enough for any error that helps a model; a whole page of HTML does not. */
const MAX_ERROR_CHARS = 16_384;
/** A name that nobody offers is what a model wrote, of any length. */
const MAX_SHOWN_NAME_CHARS = 128;

/** Why a call has no result of its own. */
export type CancelledCode = 'cancelled_before_start' | 'outcome_unknown';

export function shownName(name: string): string {
  return shortened(name, MAX_SHOWN_NAME_CHARS);
}

/** A call that its tool has answered. */
export function answeredResult(call: ToolCall, outcome: StepOutcome, maxBytes: number): ToolCallResult {
  return {
    message: { role: 'tool', toolCallId: call.id, content: resultText(outcome.data, maxBytes) },
    control: outcome.control,
    cancelled: false,
    error: errorOf(outcome),
  };
}

/** Untyped tools give anything as the text of their failure. */
function errorOf(outcome: StepOutcome): string | null {
  const error: unknown = outcome.error;
  return error === undefined || error === null ? null : shortened(thrownText(error), MAX_ERROR_CHARS);
}

/** A call that failed; the run goes on and the model can react. */
export function errorResult(call: ToolCall, error: string, code?: string): ToolCallResult {
  const text = shortened(error, MAX_ERROR_CHARS);
  const content = { status: 'error', tool: shownName(call.name), ...(code === undefined ? {} : { code }), error: text };
  return resultOf(call, content, false, text);
}

/** A call that has no result because the run ended or was aborted. */
export function cancelledResult(call: ToolCall, code: CancelledCode, reason: string): ToolCallResult {
  const text = shortened(reason, MAX_ERROR_CHARS);
  return resultOf(call, { status: 'cancelled', tool: shownName(call.name), code, error: text }, true, text);
}

function resultOf(call: ToolCall, content: JsonObject, cancelled: boolean, error: string): ToolCallResult {
  return {
    message: { role: 'tool', toolCallId: call.id, content: new JsonTextWriter(Infinity).write(content) },
    control: 'continue',
    cancelled,
    error,
  };
}

function shortened(text: string, maxChars: number): string {
  const whole = text.toWellFormed();
  return whole.length <= maxChars ? whole : `${whole.slice(0, maxChars).toWellFormed()}…`;
}
