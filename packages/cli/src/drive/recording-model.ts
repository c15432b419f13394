import {
  type ModelAdapter,
  type ModelRequest,
  type ModelResponse,
  type ModelStreamEvent,
  withUniqueCallIds,
} from '@parley/harness';
import type { PlayedTurn } from '@parley/proxy-protocol';
import type { CallBook } from './call-book.js';
import { recordedMessage, recordedUsage } from './recorded-message.js';
import type { TurnTools } from './turn-tools.js';

export interface RecordingOptions {
  readonly turn: PlayedTurn;
  readonly tools: TurnTools;
  readonly book: CallBook;
  readonly newId: () => string;
}

/** A model each of whose answers is on the proxy's record before anybody sees the calls in it. */
export class RecordingModel implements ModelAdapter {
  readonly #inner: ModelAdapter;
  readonly #options: RecordingOptions;

  constructor(inner: ModelAdapter, options: RecordingOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  get name(): string {
    return this.#inner.name;
  }

  get offline(): boolean {
    return this.#inner.offline === true;
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#inner.start?.(signal);
  }

  async stop(): Promise<void> {
    await this.#inner.stop?.();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    for await (const event of this.#inner.stream(request, signal)) {
      if (event.type === 'completed')
        yield { type: 'completed', response: await this.#record(event.response, request) };
      else yield event;
    }
  }

  async #record(response: ModelResponse, { messages }: ModelRequest): Promise<ModelResponse> {
    const { turn, tools, book, newId } = this.#options;
    const taken = new Set(
      messages.flatMap((one) => (one.role === 'assistant' ? one.toolCalls : [])).map(({ id }) => id),
    );
    // The harness would give calls an id of their own later: then the record would have another one.
    const message = withUniqueCallIds(response.message, newId, (id) => taken.has(id));
    book.keep(message.toolCalls);
    await turn.record({
      message: recordedMessage(message, tools, book),
      model: this.name,
      usage: recordedUsage(response.usage ?? message.usage),
    });
    return { ...response, message };
  }
}
