import type { ModelAdapter, ModelRequest, ModelStreamEvent } from '@parley/harness';
import { AppError } from '@parley/service-kit/base';
import { offlineResponse } from '../work/offline/offline-response.js';
import type { ErrandTool } from './errand-tool.js';
import { readErrand, writeAnswer } from './skill-errand.js';

/** A piece of the answer. Whole characters: the halves of one would not survive the way alone. */
const PIECE = /.{1,16384}/gsu;

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
      const call = { id: `errand_${messages.length}`, name, arguments: JSON.stringify({ input, parameters }) };
      yield { type: 'completed', response: offlineResponse(null, [call], 0) };
      return;
    }
    const nothing = { error: new AppError('invalid_request', 'This is no piece of work, or none of this agent.') };
    const text = writeAnswer((last?.role === 'tool' ? this.#tool.answer : undefined) ?? nothing);
    for (const [delta] of text.matchAll(PIECE)) yield { type: 'text_delta', delta };
    yield { type: 'completed', response: offlineResponse(text, [], 0) };
  }
}
