import type { Message } from '../messages.js';

/**
 * The longest beginning of a history in which every call has its result. A parent that starts a child is in the
 * middle of a call; a history with that call and without its result would be refused by providers of models.
 */
export function settledHistory(messages: readonly Message[]): readonly Message[] {
  const open = new Set<string>();
  let settled = 0;
  messages.forEach((message, index) => {
    if (message.role === 'assistant') for (const call of message.toolCalls) open.add(call.id);
    if (message.role === 'tool') open.delete(message.toolCallId);
    if (open.size === 0) settled = index + 1;
  });
  return messages.slice(0, settled);
}
