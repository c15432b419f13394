import type { Message } from '../messages.js';
import type { ModelRequest, ModelResponse } from '../model/model-adapter.js';
import { ModelProviderError } from '../model/model-errors.js';
import { addUsage, normalizeUsage } from '../model/usage-accounting.js';
import { observed } from './observed.js';
import type { Run } from './run.js';
import { StreamReader } from './stream-reader.js';

/** Sends one request and shows its deltas. The text that has come so far is in `run.partialText`. */
export async function requestModel(run: Run, messages: readonly Message[]): Promise<ModelResponse> {
  const { services } = run;
  const request: ModelRequest = { messages, tools: services.tools.definitions };
  if (services.observers.length === 0) return send(run, request);
  const about = { agentId: run.agentId, runId: run.runId, turn: run.turn, modelName: services.model.name, request };
  return observed(
    services.observers,
    (observer, work: () => Promise<ModelResponse>) => observer.aroundModelRequest(about, work),
    () => send(run, request),
    services.logger,
  );
}

async function send(run: Run, request: ModelRequest): Promise<ModelResponse> {
  run.partialText = '';
  run.answerShown = false;
  try {
    const response = withSaneUsage(run, await receive(run, request));
    run.usage = addUsage(run.usage, response.usage ?? null);
    // Not every adapter streams: until it is committed the whole text is what would be lost.
    run.partialText = response.message.content ?? '';
    return response;
  } catch (error) {
    run.usage = addUsage(run.usage, null);
    throw error;
  }
}

async function receive(run: Run, request: ModelRequest): Promise<ModelResponse> {
  const { model, policy } = run.services;
  const limits = { totalMs: policy.modelTimeoutMs, idleMs: policy.modelIdleTimeoutMs };
  const reader = new StreamReader((signal) => model.stream(request, signal), run.signal, limits);
  try {
    for (;;) {
      const step = await reader.next();
      if (step.done === true) {
        throw new ModelProviderError('provider_error', 'the model stream ended without a completed response');
      }
      const event = step.value;
      if (event.type === 'completed') return event.response;
      run.answerShown = true;
      if (event.type === 'text_delta') run.partialText += event.delta;
      const kind = event.type === 'text_delta' ? 'assistant_text_delta' : 'assistant_thinking_delta';
      await run.emit({ kind, turn: run.turn, delta: event.delta });
    }
  } finally {
    reader.close();
  }
}

/** A provider that miscounts must neither fail a good answer nor spoil the budget. */
function withSaneUsage(run: Run, response: ModelResponse): ModelResponse {
  const { message } = response;
  const visibleOutput = (message.content ?? '') !== '' || message.toolCalls.length > 0;
  const { usage, warning } = normalizeUsage(response.usage ?? message.usage, { visibleOutput });
  if (warning !== null) run.services.logger.warn(warning, { model: run.services.model.name });
  return { ...response, message: { ...message, usage }, usage };
}
