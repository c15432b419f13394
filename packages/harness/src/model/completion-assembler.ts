import type { AssistantMessage } from '../messages.js';
import { asRecord } from './as-record.js';
import type { FinishReason, ModelResponse, ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError } from './model-errors.js';
import { type ProviderFailure, readFailure } from './provider-failure.js';
import { ToolCallAssembler } from './tool-call-assembler.js';
import { normalizeUsage } from './usage-accounting.js';
import { readWireUsage } from './wire-usage.js';

type Delta = Exclude<ModelStreamEvent, { readonly type: 'completed' }>;
type Fields = Readonly<Record<string, unknown>>;

const FINISH_REASONS: Readonly<Partial<Record<string, FinishReason>>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  stop_sequence: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content_filter',
  safety: 'content_filter',
};

/** Finish reasons with which a server says that it broke off. */
const FAILURES = new Set(['abort', 'aborted', 'cancelled', 'error', 'insufficient_system_resource']);

export interface CompletionAssemblerOptions {
  readonly toError: (failure: ProviderFailure) => ModelProviderError;
  /** Makes the id of a call that has none. */
  readonly newId: () => string;
  /** Hears of a usage report that was not believed. */
  readonly warn: (message: string) => void;
}

/** Puts one answer together from its chunks, or from a whole completion given as the only chunk. */
export class CompletionAssembler {
  readonly #options: CompletionAssemblerOptions;
  readonly #text: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #calls = new ToolCallAssembler();
  #finish: string | undefined;
  #usage: unknown;

  constructor(options: CompletionAssemblerOptions) {
    this.#options = options;
  }

  /** The server has said why the answer ends: what is missing after that is at most the usage. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /**
   * Takes in one chunk.
   *
   * @returns What to show of it.
   * @throws ModelProviderError for a failure that the server reports inside the stream.
   */
  accept(chunk: unknown): readonly Delta[] {
    const fields = asRecord(chunk);
    if (fields === undefined)
      throw new ModelProviderError('provider_error', 'the model server sent a chunk that is no object');
    if (isPresent(fields['error'])) throw this.#options.toError(readFailure(fields));
    const choice = firstChoice(fields['choices']);
    const usage = fields['usage'] ?? choice?.['usage'] ?? asRecord(fields['x_groq'])?.['usage'];
    if (isPresent(usage)) this.#usage = usage;
    if (choice === undefined) return [];
    const finish = choice['finish_reason'];
    if (typeof finish === 'string' && finish !== '') this.#finish = finish.toLowerCase();
    const delta = asRecord(choice['delta']) ?? asRecord(choice['message']);
    return delta === undefined ? [] : this.#acceptDelta(delta);
  }

  /** @throws ModelProviderError if the answer is not whole. */
  complete(): ModelResponse {
    const finish = this.#finish;
    if (finish === undefined) {
      throw new ModelProviderError('provider_error', 'the answer of the model ended without a finish reason');
    }
    if (FAILURES.has(finish)) {
      throw new ModelProviderError('provider_error', `the model server broke off its answer (${finish})`);
    }
    const toolCalls = this.#calls.finish(this.#options.newId);
    if (toolCalls === undefined)
      throw new ModelProviderError('provider_error', 'the model sent a tool call without a name');
    const reasoning = this.#reasoning.join('');
    const content = this.#text.join('');
    const visibleOutput = content !== '' || reasoning !== '' || toolCalls.length > 0;
    const { usage, warning } = normalizeUsage(readWireUsage(this.#usage), { visibleOutput });
    if (warning !== null) this.#options.warn(warning);
    const message: AssistantMessage = {
      role: 'assistant',
      content: content === '' ? null : content,
      toolCalls,
      ...(reasoning === '' ? {} : { reasoning }),
      usage,
    };
    return { message, usage, finishReason: reasonFor(finish, toolCalls.length > 0) };
  }

  #acceptDelta(delta: Fields): readonly Delta[] {
    const shown: Delta[] = [];
    const think = (text: string): void => {
      if (text === '') return;
      this.#reasoning.push(text);
      shown.push({ type: 'thinking_delta', delta: text });
    };
    const speak = (text: string): void => {
      if (text === '') return;
      this.#text.push(text);
      shown.push({ type: 'text_delta', delta: text });
    };
    think(firstText(delta['reasoning_content'], delta['reasoning'], delta['reasoning_text']));
    readContent(delta['content'], speak, think);
    // Why a model refuses is its answer.
    speak(firstText(delta['refusal']));
    for (const call of listOf(delta['tool_calls'])) this.#calls.add(call);
    if (isPresent(delta['function_call'])) this.#calls.add({ index: 0, function: delta['function_call'] });
    return shown;
  }
}

function reasonFor(finish: string, hasCalls: boolean): FinishReason {
  const reason = FINISH_REASONS[finish] ?? 'other';
  // Servers mix these two up; what the answer holds decides.
  if (reason === 'stop' || reason === 'tool_calls') return hasCalls ? 'tool_calls' : 'stop';
  return reason;
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}

// Asked for is one; a server that sends more says which is which.
function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.map(asRecord).find((choice) => choice !== undefined && (choice['index'] ?? 0) === 0);
}

function firstText(...values: readonly unknown[]): string {
  return (values.find((value) => typeof value === 'string' && value !== '') as string | undefined) ?? '';
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isPresent(value) ? [value] : [];
}

/** Content is text, or a list of parts of which some are reasoning. */
function readContent(content: unknown, speak: (text: string) => void, think: (text: string) => void): void {
  if (typeof content === 'string') speak(content);
  if (!Array.isArray(content)) return;
  for (const entry of content) {
    const part = asRecord(entry);
    if (part?.['type'] === 'thinking') listOf(part['thinking']).forEach((inner) => think(textOfPart(inner)));
    else speak(textOfPart(part));
  }
}

function textOfPart(part: unknown): string {
  return firstText(part, asRecord(part)?.['text']);
}
