import { HarnessError } from '../errors.js';
import type { ModelAdapter, ModelRequest, ModelResponse } from '../model/model-adapter.js';
import { abortable } from '../model/abortable.js';
import type { CompactionRequest, Compactor, CompactorOutput } from './compaction-types.js';
import { DEFAULT_COMPACTION_PROMPT } from './context-texts.js';
import { deadlineOf } from './deadline.js';
import { fitSummary } from './fit-summary.js';
import { renderTranscript } from './transcript.js';

export interface ModelCompactorOptions {
  /** System prompt of the request. Default {@link DEFAULT_COMPACTION_PROMPT}. */
  readonly prompt?: string;
  /** Who the summary says wrote it. Default the model's name. */
  readonly source?: string;
  /** A longer summary is cut and says so. Default 20,000 characters. */
  readonly maxSummaryChars?: number;
  /** How much of the old messages is shown, long ones shortened first. Default 200,000 characters. */
  readonly maxInputChars?: number;
  /** Time of the request in milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** Builds the whole request instead of prompt and transcript. */
  readonly contextBuilder?: (request: CompactionRequest) => ModelRequest;
}

/** A summary did not come about; the message says why. */
export class SummaryFailedError extends HarnessError {
  override readonly name = 'SummaryFailedError';

  constructor(message: string) {
    super('summary_failed', message);
  }
}

/**
 * Has a model write the summary. The model is borrowed: whoever made it starts and stops it.
 *
 * @example
 * new ModelCompactor(model, { timeoutMs: 60_000 })
 */
export class ModelCompactor implements Compactor {
  readonly #model: ModelAdapter;
  readonly #source: string;
  readonly #maxSummaryChars: number;
  readonly #timeoutMs: number;
  readonly #build: (request: CompactionRequest) => ModelRequest;

  /** @throws RangeError for a blank source, or a limit that is no positive number. */
  constructor(model: ModelAdapter, options: ModelCompactorOptions = {}) {
    const { prompt = DEFAULT_COMPACTION_PROMPT, maxInputChars = 200_000 } = options;
    this.#model = model;
    this.#source = (options.source ?? model.name).trim();
    this.#maxSummaryChars = options.maxSummaryChars ?? 20_000;
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#build = options.contextBuilder ?? ((request) => summaryRequest(request, prompt, maxInputChars));
    if (this.#source === '') throw new RangeError('source must not be blank');
    requirePositive('maxSummaryChars', this.#maxSummaryChars);
    requirePositive('maxInputChars', maxInputChars);
    requirePositive('timeoutMs', this.#timeoutMs);
  }

  /**
   * @throws SummaryFailedError if the answer holds no text, calls a tool, or broke off.
   * @throws ModelProviderError as the model throws it.
   */
  async compact(request: CompactionRequest, signal: AbortSignal): Promise<CompactorOutput> {
    signal.throwIfAborted();
    const deadline = deadlineOf(signal, this.#timeoutMs, `the model wrote no summary within ${this.#timeoutMs} ms`);
    try {
      const response = await completed(this.#model.stream(this.#build(request), deadline.signal), deadline.signal);
      return { content: fitSummary(textOf(response), request, this.#maxSummaryChars), source: this.#source };
    } finally {
      deadline.release();
    }
  }
}

function summaryRequest(request: CompactionRequest, prompt: string, maxInputChars: number): ModelRequest {
  return {
    messages: [
      { role: 'system', content: prompt },
      { role: 'user', content: renderTranscript(request, maxInputChars) },
    ],
    tools: [],
  };
}

/** The one completed response. A stream that does not heed the signal is left behind when that is aborted. */
async function completed(
  stream: AsyncIterable<{ readonly type: string; readonly response?: ModelResponse }>,
  signal: AbortSignal,
): Promise<ModelResponse> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await abortable(iterator.next(), signal);
      if (next.done === true) throw new SummaryFailedError('the model ended its answer without completing it');
      if (next.value.response !== undefined) return next.value.response;
    }
  } finally {
    // Not awaited: a generator that hangs in its own await returns only after that.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function textOf({ message, finishReason }: ModelResponse): string {
  if (finishReason === 'length')
    throw new SummaryFailedError('the summary was cut off at the length limit of the model');
  if (finishReason === 'content_filter') throw new SummaryFailedError('the summary was withheld by a content filter');
  if (message.toolCalls.length > 0)
    throw new SummaryFailedError('the model called a tool instead of writing a summary');
  const text = message.content?.trim() ?? '';
  if (text === '') throw new SummaryFailedError('the model wrote an empty summary');
  return text;
}

function requirePositive(name: string, value: number): void {
  if (!(value > 0)) throw new RangeError(`${name} must be more than 0`);
}
