import type { Message, ToolCall } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { stopIfAborted } from './abortable.js';
import type { ModelAdapter, ModelRequest, ModelResponse, ModelStreamEvent } from './model-adapter.js';
import { asksForSummary, summarize } from './offline/extractive-summary.js';
import { composeAnswer } from './offline/offline-answer.js';
import { readOpenRequest } from './offline/open-request.js';
import { type PlannedCall, Planner } from './offline/plan.js';
import { usageOf } from './scripted-model.js';
import type { ModelUsage } from './usage.js';

/** Pieces in which an answer is shown. */
const DELTAS = 4;

/**
 * A model without a model: it needs no network and answers the same every time. It takes the request apart into steps,
 * calls for each the tool whose name and description fit it best, with the arguments that the text gives, and
 * puts the results together. Its answers say so.
 *
 * A request that is `{"tool": name, "arguments": {…}}`, or a list of those, alone or in a fenced block, is done
 * exactly. Read-only calls come in one message, others one after the other. Nothing is called twice for one request,
 * and arguments that the text does not give are asked for instead of guessed. The token counts that it reports are
 * estimates: four characters to a token.
 */
export class OfflineModel implements ModelAdapter {
  readonly name = 'offline';
  readonly offline = true;
  readonly #planners = new WeakMap<readonly ToolDefinition[], Planner>();

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    // Time for whoever aborts in the same turn of the event loop.
    await Promise.resolve();
    stopIfAborted(signal);
    const response = this.#respond(request);
    for (const delta of response.message.content === null ? [] : inPieces(response.message.content)) {
      yield { type: 'text_delta', delta };
      stopIfAborted(signal);
    }
    yield { type: 'completed', response };
  }

  #respond(request: ModelRequest): ModelResponse {
    if (asksForSummary(request)) return respond(request, summarize(request), []);
    const open = readOpenRequest(request.messages);
    const { calls, notes } = this.#plannerOf(request.tools).plan(open);
    if (calls.length > 0) return respond(request, null, withIds(calls, request.messages));
    const names = request.tools.map((tool) => tool.name);
    return respond(request, composeAnswer(open.made, notes, names), []);
  }

  #plannerOf(tools: readonly ToolDefinition[]): Planner {
    const known = this.#planners.get(tools);
    if (known !== undefined) return known;
    const planner = new Planner(tools);
    this.#planners.set(tools, planner);
    return planner;
  }
}

function respond(request: ModelRequest, content: string | null, toolCalls: readonly ToolCall[]): ModelResponse {
  const usage = estimateUsage(request, content, toolCalls);
  return {
    message: { role: 'assistant', content, toolCalls, usage },
    usage,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
  };
}

/** Ids from the place in the history: the same every time, and none that the history has. */
function withIds(calls: readonly PlannedCall[], messages: readonly Message[]): readonly ToolCall[] {
  const used = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : [])).map(({ id }) => id),
  );
  let number = messages.length;
  return calls.map((call) => {
    while (used.has(`offline_${number}`)) number++;
    return { id: `offline_${number++}`, name: call.tool.name, arguments: call.arguments };
  });
}

function inPieces(text: string): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / DELTAS));
  // Cut by characters, not by halves of them.
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? [];
}

function estimateUsage(request: ModelRequest, content: string | null, toolCalls: readonly ToolCall[]): ModelUsage {
  const inputTokens = request.messages.reduce((sum, message) => sum + tokensOf(message), 0);
  const outputTokens = Math.max(1, Math.ceil(((content?.length ?? 0) + lengthOf(toolCalls)) / 4));
  return usageOf(inputTokens, outputTokens);
}

function tokensOf(message: Message): number {
  const calls = message.role === 'assistant' ? lengthOf(message.toolCalls) : 0;
  return Math.ceil(((message.content?.length ?? 0) + calls) / 4);
}

function lengthOf(calls: readonly ToolCall[]): number {
  return calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
}
