import type { ToolCall } from '../messages.js';
import { abortable, stopIfAborted } from './abortable.js';
import type { FinishReason, ModelAdapter, ModelRequest, ModelResponse, ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError } from './model-errors.js';
import type { ModelUsage } from './usage.js';

/** What a scripted request does: events in order, where an Error in the list is thrown at its place. */
export type ScriptedEvents = readonly (ModelStreamEvent | Error)[];

/** A step made when its request comes. It may wait; an abort of the request ends the wait. */
export type ScriptedAnswer = (request: ModelRequest, signal: AbortSignal) => ScriptedStep | Promise<ScriptedStep>;

/** What one request gets. A response alone comes without deltas, an Error is thrown. */
export type ScriptedStep = ModelResponse | ScriptedEvents | Error | ScriptedAnswer;

export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly name?: string;
  /** Answers every request after the last step. Without it such a request fails. */
  readonly whenExhausted?: ScriptedStep;
}

/**
 * A model that says what it was told to say, one step for each request; for tests and examples.
 *
 * @example
 * new ScriptedModel([say(null, call('c1', 'add', { a: 1, b: 2 })), say('3')])
 */
export class ScriptedModel implements ModelAdapter {
  readonly name: string;
  /** Every request so far, oldest first. */
  readonly requests: ModelRequest[] = [];
  readonly #steps: readonly ScriptedStep[];
  readonly #whenExhausted: ScriptedStep | undefined;

  constructor(steps: readonly ScriptedStep[] = [], options: ScriptedModelOptions = {}) {
    this.#steps = steps;
    this.name = options.name ?? 'scripted';
    this.#whenExhausted = options.whenExhausted;
  }

  /** @throws ModelProviderError of kind `provider_error` if no step is left. */
  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    const step = this.#steps[this.requests.length] ?? this.#whenExhausted;
    this.requests.push(request);
    if (step === undefined) throw new ModelProviderError('provider_error', 'the script of the model has no more steps');
    for (const event of await eventsOf(step, request, signal)) {
      stopIfAborted(signal);
      if (event instanceof Error) throw event;
      yield event;
    }
    // An abort by whoever took the last event ends the request as any other does.
    stopIfAborted(signal);
  }
}

async function eventsOf(step: ScriptedStep, request: ModelRequest, signal: AbortSignal): Promise<ScriptedEvents> {
  stopIfAborted(signal);
  if (typeof step === 'function') {
    return eventsOf(await abortable(Promise.resolve(step(request, signal)), signal), request, signal);
  }
  if (isEvents(step)) return step;
  return [step instanceof Error ? step : { type: 'completed', response: step }];
}

// Array.isArray alone does not narrow away a readonly array.
function isEvents(step: ScriptedStep): step is ScriptedEvents {
  return Array.isArray(step);
}

/** Whatever of a response is not to be as {@link say} has it. */
export interface SayOptions {
  /** Null: not reported. */
  readonly usage?: ModelUsage | null;
  readonly finishReason?: FinishReason;
  readonly reasoning?: string;
}

/** A response of 10 tokens (9 in, 1 out) that ends with `tool_calls` if it holds calls, else with `stop`. */
export function say(text: string | null, ...calls: readonly ToolCall[]): ModelResponse {
  return sayWith({}, text, ...calls);
}

/** {@link say} with another usage, finish reason, or with reasoning. */
export function sayWith(options: SayOptions, text: string | null, ...calls: readonly ToolCall[]): ModelResponse {
  const usage = options.usage === undefined ? usageOf(9, 1) : options.usage;
  const reasoning = options.reasoning === undefined ? {} : { reasoning: options.reasoning };
  return {
    message: { role: 'assistant', content: text, toolCalls: calls, ...reasoning, usage },
    usage,
    finishReason: options.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
  };
}

/** A tool call; a string goes as it is, so that broken arguments can be written too. */
export function call(id: string, name: string, args: object | string = {}): ToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** A report of input and output tokens whose other counters nobody knows. */
export function usageOf(inputTokens: number, outputTokens: number): ModelUsage {
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    reasoningTokens: null,
  };
}
