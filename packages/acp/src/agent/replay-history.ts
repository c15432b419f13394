import { resolve } from 'node:path';
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { SessionEntry, ToolCall, ToolMessage } from '@parley/harness';
import { askedChange, describeToolCall, diffContent } from './describe-tool-call.js';
import { shownResult, type ShownResult } from './result-content.js';
import { textChunk } from './text-chunk.js';

/** Everything that was ever said in a session, as updates. Summaries are not shown: what they replaced is. */
export function* replayHistory(entries: readonly SessionEntry[], cwd: string): Generator<SessionUpdate> {
  const results = new Map<string, ToolMessage>();
  for (const { message } of entries) if (message.role === 'tool') results.set(message.toolCallId, message);
  for (const { message, runId, sequence } of entries) {
    const messageId = `${runId}-${sequence}`;
    if (message.role === 'user' && message.content !== '') {
      yield textChunk('user_message_chunk', message.content, messageId);
    }
    if (message.role !== 'assistant') continue;
    const { reasoning = '', content } = message;
    if (reasoning !== '') yield textChunk('agent_thought_chunk', reasoning, messageId);
    if (content !== null && content !== '') yield textChunk('agent_message_chunk', content, messageId);
    for (const call of message.toolCalls) yield toolCall(call, results.get(call.id), cwd);
  }
}

function toolCall(call: ToolCall, message: ToolMessage | undefined, cwd: string): SessionUpdate {
  const result = message === undefined ? undefined : shownResult(message.content);
  return {
    sessionUpdate: 'tool_call',
    toolCallId: call.id,
    name: call.name,
    ...describeToolCall(call, cwd),
    status: result === undefined || result.isFailed ? 'failed' : 'completed',
    content: result === undefined ? [] : contentOf(call, result, cwd),
    ...(result?.rawOutput !== undefined && { rawOutput: result.rawOutput }),
  };
}

function contentOf(call: ToolCall, { isFailed, content }: ShownResult, cwd: string): ToolCallContent[] {
  const change = isFailed ? undefined : askedChange(call);
  // What a whole file replaced is not recorded.
  if (change?.oldText === undefined) return content;
  return [diffContent(resolve(cwd, change.path), change.oldText, change.newText)];
}
