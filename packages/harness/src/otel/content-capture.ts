import type { JsonObject, JsonValue } from '../json.js';
import type { AssistantMessage, Message } from '../messages.js';
import type { FinishReason } from '../model/model-adapter.js';

/** Values of OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT that put content into spans. */
const SWITCHED_ON = new Set(['true', 'span_only', 'span_and_event']);

const CAPTURE_VARIABLE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

export function capturesContent(env: Readonly<Record<string, string | undefined>>): boolean {
  return SWITCHED_ON.has((env[CAPTURE_VARIABLE] ?? '').trim().toLowerCase());
}

export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}

/**
 * The newest messages of a history as the GenAI conventions write them, as many as fit. It looks at no more than it
 * shows, so that its cost does not grow with the history.
 */
export function inputMessages(messages: readonly Message[], maxChars: number): string {
  const shown: string[] = [];
  let room = maxChars;
  for (let index = messages.length - 1; index >= 0 && room > 0; index -= 1) {
    const message = messages[index];
    if (message === undefined || (message.role === 'system' && message.summary === undefined)) continue;
    const text = JSON.stringify(conventional(message, room));
    shown.unshift(text);
    room -= text.length;
  }
  return `[${shown.join(',')}]`;
}

/** The system prompts, which the conventions keep apart from the messages. */
export function systemInstructions(messages: readonly Message[], maxChars: number): string | undefined {
  const parts: JsonObject[] = [];
  for (const message of messages) {
    // They come first; what follows is history.
    if (message.role !== 'system' || message.summary !== undefined) break;
    parts.push({ type: 'text', content: cutText(message.content, maxChars) });
  }
  return parts.length === 0 ? undefined : JSON.stringify(parts);
}

export function outputMessages(message: AssistantMessage, finishReason: FinishReason, maxChars: number): string {
  return JSON.stringify([{ ...conventional(message, maxChars), finish_reason: finishReason }]);
}

function conventional(message: Message, maxChars: number): JsonObject {
  switch (message.role) {
    case 'tool':
      return {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id: message.toolCallId, response: cutText(message.content, maxChars) }],
      };
    case 'assistant':
      return { role: 'assistant', parts: assistantParts(message, maxChars) };
    default:
      return { role: message.role, parts: [{ type: 'text', content: cutText(message.content, maxChars) }] };
  }
}

/** All parts together keep to the bound, up to their own frames. */
function assistantParts(message: AssistantMessage, maxChars: number): JsonValue[] {
  const parts: JsonValue[] = [];
  let room = maxChars;
  const take = (text: string): string => {
    const taken = cutText(text, Math.max(room, 0));
    room -= taken.length;
    return taken;
  };
  if (message.reasoning) parts.push({ type: 'reasoning', content: take(message.reasoning) });
  if (message.content) parts.push({ type: 'text', content: take(message.content) });
  for (const { id, name, arguments: args } of message.toolCalls) {
    if (room <= 0) break;
    parts.push({ type: 'tool_call', id, name, arguments: take(args) });
  }
  return parts;
}
