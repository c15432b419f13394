import type { AssistantMessage, Message, ToolCall } from '../../messages.js';

/** A call that was made already, and what it gave. */
export interface MadeCall {
  readonly call: ToolCall;
  /** Undefined if the history has no result of it. */
  readonly result: string | undefined;
}

/** What has been asked and done since the last final answer. */
export interface OpenRequest {
  readonly texts: readonly string[];
  readonly made: readonly MadeCall[];
}

/** Reads the newest part of a history, from behind: how long the rest is does not matter. */
export function readOpenRequest(messages: readonly Message[]): OpenRequest {
  const last = messages.findLastIndex((message) => message.role === 'assistant' && message.toolCalls.length === 0);
  const open = messages.slice(last + 1);
  const results = new Map<string, string>();
  for (const message of open) if (message.role === 'tool') results.set(message.toolCallId, message.content);
  const calls = open
    .filter((message): message is AssistantMessage => message.role === 'assistant')
    .flatMap((message) => message.toolCalls);
  return {
    texts: open.filter((message) => message.role === 'user').map((message) => message.content),
    made: calls.map((call) => ({ call, result: results.get(call.id) })),
  };
}
