import type { Message, ToolMessage } from '@parley/harness';
import { type Block, gap, text } from './block.js';
import { counted } from './numbers.js';
import { renderAssistantText, renderTool, renderUserText } from './render-event.js';

/** How much of a long history is shown again. */
const SHOWN_MESSAGES = 60;

/** The messages of a session that is taken up again, as they looked when they came. */
export function renderHistory(messages: readonly Message[]): Block[] {
  const results = new Map<string, ToolMessage>();
  for (const message of messages) if (message.role === 'tool') results.set(message.toolCallId, message);
  const hidden = messages.length - SHOWN_MESSAGES;
  const lead = hidden > 0 ? [gap, text(`… ${counted(hidden, 'earlier message')}`, 'dim')] : [];
  return [...lead, ...messages.slice(-SHOWN_MESSAGES).flatMap((message) => renderMessage(message, results))];
}

function renderMessage(message: Message, results: ReadonlyMap<string, ToolMessage>): Block[] {
  switch (message.role) {
    case 'user':
      return renderUserText(message.content);
    case 'system':
      return message.summary === undefined ? [] : [gap, text('(a summary stands for what was before)', 'dim')];
    case 'tool':
      return [];
    case 'assistant':
      return [
        ...renderAssistantText(message.content),
        ...message.toolCalls.flatMap((call) => {
          const result = results.get(call.id);
          if (result === undefined) return [];
          return renderTool(call, { message: result, cancelled: false, error: null, control: 'continue' });
        }),
      ];
  }
}
