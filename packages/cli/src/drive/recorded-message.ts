import type { AssistantMessage, ModelUsage } from '@parley/harness';
import type { CallBook } from './call-book.js';
import { isCommandTool, type TurnTools } from './turn-tools.js';

/**
 * A model's message as it goes on record: OpenAI's form, with the names that the proxy knows. A call that cannot be run
 * for its arguments stands in the text: as a call it would be waited for.
 */
export function recordedMessage(message: AssistantMessage, tools: TurnTools, book: CallBook): object {
  const calls: object[] = [];
  const texts = message.content === null ? [] : [message.content];
  for (const { id, name, arguments: text } of message.toolCalls) {
    const tool = tools.toolOf(name);
    const args = book.read(text);
    const canRun = args !== undefined && (!tool || !isCommandTool(tool) || typeof args['command'] === 'string');
    const written = text.trim() === '' ? '{}' : text;
    if (canRun) calls.push({ id, type: 'function', function: { name: tool?.name ?? name, arguments: written } });
    else texts.push(`[not a call of ${tool?.name ?? name} that can be run: ${text}]`);
  }
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join('\n'),
    ...(message.reasoning !== undefined && message.reasoning !== '' && { reasoning_content: message.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Token counts in OpenAI's form; what the provider did not say is left out. */
export function recordedUsage(usage: ModelUsage | null | undefined): object | null {
  if (usage === null || usage === undefined) return null;
  const counts = {
    ...known('prompt_tokens', usage.inputTokens),
    ...known('completion_tokens', usage.outputTokens),
    ...known('total_tokens', usage.totalTokens),
    ...details('prompt_tokens_details', {
      ...known('cached_tokens', usage.cacheReadTokens),
      ...known('cache_write_tokens', usage.cacheWriteTokens),
    }),
    ...details('completion_tokens_details', known('reasoning_tokens', usage.reasoningTokens)),
  };
  return Object.keys(counts).length === 0 ? null : counts;
}

function known(name: string, count: number | null): Readonly<Record<string, number>> {
  return count === null ? {} : { [name]: count };
}

function details(name: string, counts: Readonly<Record<string, number>>): Readonly<Record<string, object>> {
  return Object.keys(counts).length === 0 ? {} : { [name]: counts };
}
