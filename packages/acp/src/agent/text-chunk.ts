import type { SessionUpdate } from '@agentclientprotocol/sdk';

/** A piece of a message. Thoughts have a message of their own. */
export function textChunk(
  sessionUpdate: 'user_message_chunk' | 'agent_thought_chunk' | 'agent_message_chunk',
  text: string,
  messageId: string,
): SessionUpdate {
  const ownId = sessionUpdate === 'agent_thought_chunk' ? `${messageId}-thought` : messageId;
  return { sessionUpdate, content: { type: 'text', text }, messageId: ownId };
}
