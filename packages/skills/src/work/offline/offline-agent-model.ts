import {
  OfflineModel,
  type ModelAdapter,
  type ModelRequest,
  type ModelStreamEvent,
  type ToolCall,
} from '@parley/harness';
import { offlineResponse } from './offline-response.js';
import { readOpenTask } from './open-task.js';
import { nextMove } from './next-move.js';

/**
 * Plans the tasks of an agent without a language model: it knows the words by which people ask for a review, a summary
 * or a translation in four languages, does one after the other, each on what the one before gave, and says that it is
 * offline. The same conversation gives the same answer. What is no task of an agent is answered as
 * {@link OfflineModel} does.
 */
export class OfflineAgentModel implements ModelAdapter {
  readonly name = 'offline';
  readonly offline = true;
  readonly #other = new OfflineModel();

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    const task = readOpenTask(request.messages);
    if (task === undefined) {
      yield* this.#other.stream(request, signal);
      return;
    }
    // Time for whoever aborts in the same turn of the event loop.
    await Promise.resolve();
    signal.throwIfAborted();
    const { calls, text } = nextMove(task, request.tools);
    if (text !== null) yield { type: 'text_delta', delta: text };
    signal.throwIfAborted();
    const { messages } = request;
    const toolCalls = calls.map(({ name, arguments: args }, index): ToolCall => ({
      // From the place in the history: no other call of the conversation has it.
      id: `offline_${messages.length}_${index}`,
      name,
      arguments: JSON.stringify(args),
    }));
    // Of what it was sent only the newest message counts: it reads nothing else again.
    const response = offlineResponse(text, toolCalls, messages.at(-1)?.content?.length ?? 0);
    yield { type: 'completed', response };
  }
}
