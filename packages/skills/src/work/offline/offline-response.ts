import { usageOf, type ModelResponse, type ToolCall } from '@parley/harness';

/** An answer without a language model. Tokens are estimates, four characters each, of what was read and is written. */
export function offlineResponse(
  text: string | null,
  toolCalls: readonly ToolCall[],
  readCharacters: number,
): ModelResponse {
  const written = (text?.length ?? 0) + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  const usage = usageOf(tokens(readCharacters), tokens(written));
  return {
    message: { role: 'assistant', content: text, toolCalls, usage },
    usage,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
  };
}

function tokens(characters: number): number {
  return Math.max(1, Math.ceil(characters / 4));
}
