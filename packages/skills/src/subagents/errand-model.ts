import { usageOf, type ModelAdapter, type ModelRequest, type ModelStreamEvent, type ToolCall } from '@parley/harness';
import { AppError } from '@parley/service-kit/base';
import type { ErrandTool } from './errand-tool.js';
import { readErrand, writeAnswer } from './skill-errand.js';

/** Characters of one piece of the answer. */
const PIECE = 16_384;

/** A model without a model for one skill: calls it with what was sent, and answers with what it gave, as JSON. */
export class ErrandModel implements ModelAdapter {
  readonly name = 'offline';
  readonly offline = true;
  readonly #tool: ErrandTool;

  constructor(tool: ErrandTool) {
    this.#tool = tool;
  }

  async *stream({ messages }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    // Time for whoever aborts in the same turn of the event loop.
    await Promise.resolve();
    signal.throwIfAborted();
    const last = messages.at(-1);
    const errand = last?.role === 'user' ? readErrand(last.content) : undefined;
    if (errand !== undefined) {
      this.#tool.answer = undefined;
      const { tool: name, input, parameters } = errand;
      yield completed(null, [
        { id: `errand_${messages.length}`, name, arguments: JSON.stringify({ input, parameters }) },
      ]);
      return;
    }
    const nothing = { error: new AppError('invalid_request', 'This is no piece of work, or none of this agent.') };
    const text = writeAnswer((last?.role === 'tool' ? this.#tool.answer : undefined) ?? nothing);
    for (let from = 0; from < text.length;) {
      const to = pieceEnd(text, from);
      yield { type: 'text_delta', delta: text.slice(from, to) };
      from = to;
    }
    yield completed(text, []);
  }
}

/** Two halves of one character stay together: alone they would not survive the way. */
function pieceEnd(text: string, from: number): number {
  const to = Math.min(from + PIECE, text.length);
  const isHalf = to < text.length && /[\ud800-\udbff]/u.test(text.charAt(to - 1));
  return isHalf ? to + 1 : to;
}

/** Tokens are estimates, four characters each, of what is written. */
function completed(text: string | null, toolCalls: readonly ToolCall[]): ModelStreamEvent {
  const written = (text?.length ?? 0) + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  const usage = usageOf(1, Math.max(1, Math.ceil(written / 4)));
  return {
    type: 'completed',
    response: {
      message: { role: 'assistant', content: text, toolCalls, usage },
      usage,
      finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    },
  };
}
