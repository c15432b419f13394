import { context, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { Agent } from '../agent/index.js';
import type { ToolCallResult } from '../events.js';
import type { ModelResponse } from '../model/model-adapter.js';
import { ModelRateLimitError } from '../model/model-errors.js';
import { call, say, ScriptedModel, usageOf } from '../model/scripted-model.js';
import { emptyRunUsage } from '../model/usage-accounting.js';
import type { AgentRunResult } from '../result.js';
import { AgentCancelledError } from '../run/cancellation.js';
import type { ObservedRun } from '../run-observer.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolHandler } from '../tools/tool-handler.js';
import { OpenTelemetryObserver, type OpenTelemetryObserverOptions } from './open-telemetry-observer.js';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer: Tracer = provider.getTracer('test');
const add: ToolDefinition = { name: 'add', description: 'Adds', effect: 'read_only' };
const run: ObservedRun = {
  agentId: 'calc',
  runId: 'r1',
  task: 'secret task',
  intent: 'task',
  sessionId: 's1',
  modelName: 'gpt-x',
};

function finished(more: Partial<AgentRunResult> = {}): AgentRunResult {
  return {
    runId: 'r1',
    status: 'completed',
    stopReason: 'text_response',
    output: 'secret output',
    turns: 2,
    usage: { ...emptyRunUsage(), ...usageOf(20, 4) },
    error: null,
    ...more,
  };
}

function toolResult(more: Partial<ToolCallResult> = {}): ToolCallResult {
  const message = { role: 'tool', toolCallId: 'c1', content: 'secret result' } as const;
  return { message, control: 'continue', cancelled: false, error: null, ...more };
}

function observer(options: OpenTelemetryObserverOptions = {}): OpenTelemetryObserver {
  return new OpenTelemetryObserver({ tracer, env: {}, ...options });
}

const requestOf = (messages: Parameters<typeof say>[0][]) => ({
  agentId: 'calc',
  runId: 'r1',
  turn: 1,
  modelName: 'gpt-x',
  request: {
    messages: [
      { role: 'system', content: 'secret prompt' } as const,
      ...messages.map((content) => ({ role: 'user', content: content ?? '' }) as const),
    ],
    tools: [],
  },
});

const toolCall = call('c1', 'add', { a: 'secret argument' });

/** A run with one request and one tool call, as a loop makes them. */
async function traced(
  observing: OpenTelemetryObserver,
  parts: { chat?: () => Promise<ModelResponse>; tool?: () => Promise<ToolCallResult>; end?: AgentRunResult } = {},
): Promise<void> {
  await observing.aroundRun(run, async () => {
    await observing.aroundModelRequest(
      requestOf(['secret question']),
      parts.chat ?? (() => Promise.resolve(say('secret answer', toolCall))),
    );
    await observing.aroundToolCall(
      { agentId: 'calc', runId: 'r1', turn: 1, toolCall, tool: add },
      parts.tool ?? (() => Promise.resolve(toolResult())),
    );
    return parts.end ?? finished();
  });
}

function spans(): Record<string, ReadableSpan> {
  return Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));
}

function isChildOf(child: ReadableSpan | undefined, parent: ReadableSpan | undefined): boolean {
  return parent !== undefined && child?.parentSpanContext?.spanId === parent.spanContext().spanId;
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

afterAll(() => {
  context.disable();
});

beforeEach(() => exporter.reset());

describe('spans of a run', () => {
  it('are invoke_agent, chat and execute_tool, one inside the other, with the attributes of the conventions', async () => {
    await traced(observer());
    const { 'invoke_agent calc': agent, 'chat gpt-x': chat, 'execute_tool add': tool } = spans();
    expect(agent?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.id': 'calc',
      'gen_ai.agent.name': 'calc',
      'gen_ai.conversation.id': 's1',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 4,
      'parley.offline': false,
      'parley.run.id': 'r1',
      'parley.run.intent': 'task',
      'parley.run.status': 'completed',
      'parley.run.stop_reason': 'text_response',
      'parley.run.turns': 2,
    });
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.conversation.id': 's1',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 1,
      'parley.turn': 1,
    });
    expect(tool?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'add',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.type': 'function',
      'parley.tool.effect': 'read_only',
      'parley.tool.control': 'continue',
    });
    expect(isChildOf(chat, agent) && isChildOf(tool, agent)).toBe(true);
    for (const span of [agent, chat, tool]) expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('leave counters out that nobody knows', async () => {
    const chat = (): Promise<ModelResponse> => Promise.resolve({ ...say('x'), usage: null });
    await traced(observer(), { chat });
    expect(Object.keys(spans()['chat gpt-x']?.attributes ?? {}).filter((name) => name.includes('usage'))).toEqual([]);
  });

  it('hold what a tool does below its own span', async () => {
    const tool = (): Promise<ToolCallResult> => {
      tracer.startSpan('inside').end();
      return Promise.resolve(toolResult());
    };
    await traced(observer(), { tool });
    const { inside, 'execute_tool add': span } = spans();
    expect(isChildOf(inside, span)).toBe(true);
  });

  it('find their run without a context manager', async () => {
    context.disable();
    await traced(observer());
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { 'invoke_agent calc': agent, 'chat gpt-x': chat } = spans();
    expect(isChildOf(chat, agent)).toBe(true);
  });

  it('say that a model is offline', async () => {
    await observer().aroundRun({ ...run, modelName: 'offline', sessionId: null }, () => Promise.resolve(finished()));
    const attributes = spans()['invoke_agent calc']?.attributes;
    expect(attributes).toMatchObject({ 'parley.offline': true, 'gen_ai.provider.name': 'parley.offline' });
    expect(attributes).not.toHaveProperty(['gen_ai.conversation.id']);
  });
});

describe('content', () => {
  const content = () =>
    JSON.stringify(exporter.getFinishedSpans().map((span) => [span.attributes, span.status, span.events]));

  it('is in no span by default, not even where something failed', async () => {
    const failing = () => Promise.resolve(toolResult({ error: 'secret error' }));
    await traced(observer(), {
      tool: failing,
      end: finished({ status: 'failed', stopReason: 'runtime_error', error: 'secret error' }),
    });
    await expect(traced(observer(), { tool: () => Promise.reject(new Error('secret error')) })).rejects.toThrow();
    expect(content()).not.toContain('secret');
  });

  it.each([
    ['by option', { captureContent: true }],
    ['by environment', { env: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' } }],
  ])('is in spans where it was asked for %s', async (_how, options) => {
    await traced(observer(options));
    const { 'invoke_agent calc': agent, 'chat gpt-x': chat, 'execute_tool add': tool } = spans();
    expect(agent?.attributes['gen_ai.input.messages']).toContain('secret task');
    expect(agent?.attributes['gen_ai.output.messages']).toContain('secret output');
    expect(JSON.parse(String(chat?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'secret question' }] },
    ]);
    expect(chat?.attributes['gen_ai.system_instructions']).toContain('secret prompt');
    expect(JSON.parse(String(chat?.attributes['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', finish_reason: 'tool_calls', parts: [{ type: 'text' }, { type: 'tool_call', id: 'c1' }] },
    ]);
    expect(tool?.attributes['gen_ai.tool.call.arguments']).toContain('secret argument');
    expect(tool?.attributes['gen_ai.tool.call.result']).toBe('secret result');
  });

  it('is bounded: the newest messages are shown, each cut', async () => {
    const observing = observer({ captureContent: true, maxContentChars: 100 });
    const messages = [...Array.from({ length: 1_000 }, () => 'old'), 'x'.repeat(500), 'newest'];
    await observing.aroundModelRequest(requestOf(messages), () => Promise.resolve(say('y'.repeat(500))));
    const { 'chat gpt-x': chat } = spans();
    const shown = String(chat?.attributes['gen_ai.input.messages']);
    expect(shown).toContain('newest');
    expect(shown).not.toContain('old');
    expect(shown.length).toBeLessThan(300);
    expect(String(chat?.attributes['gen_ai.output.messages']).length).toBeLessThan(300);
  });
});

describe('failures', () => {
  it('of a request carry the code of the error and its safe message, and are thrown on', async () => {
    const error = new ModelRateLimitError('too many requests');
    await expect(traced(observer(), { chat: () => Promise.reject(error) })).rejects.toBe(error);
    const { 'chat gpt-x': chat, 'invoke_agent calc': agent } = spans();
    expect(chat?.attributes['error.type']).toBe('model_rate_limit');
    expect(chat?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'too many requests' });
    expect(agent?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('of a run carry its stop reason', async () => {
    await traced(observer(), { end: finished({ status: 'failed', stopReason: 'max_steps', error: 'x' }) });
    const { 'invoke_agent calc': agent } = spans();
    expect(agent?.attributes['error.type']).toBe('max_steps');
    expect(agent?.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it('of a tool are told; a tool that nobody offers does not name the span', async () => {
    const observing = observer();
    await traced(observing, { tool: () => Promise.resolve(toolResult({ error: 'no' })) });
    expect(spans()['execute_tool add']?.attributes['error.type']).toBe('tool_error');
    await observing.aroundToolCall(
      { agentId: 'calc', runId: 'r1', turn: 1, toolCall: call('c2', 'n'.repeat(500)), tool: undefined },
      () => Promise.resolve(toolResult({ error: 'unknown tool' })),
    );
    const unknown = spans()['execute_tool'];
    expect(unknown?.attributes['error.type']).toBe('unknown_tool');
    expect(String(unknown?.attributes['gen_ai.tool.name']).length).toBeLessThan(140);
  });

  it('are not what was aborted', async () => {
    const chat = () => Promise.reject(new AgentCancelledError());
    await expect(traced(observer(), { chat })).rejects.toThrow();
    await traced(observer(), {
      tool: () => Promise.resolve(toolResult({ cancelled: true, error: 'aborted' })),
      end: finished({ status: 'cancelled', stopReason: 'external_abort', error: 'aborted' }),
    });
    for (const span of exporter.getFinishedSpans()) expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(spans()['invoke_agent calc']?.attributes['parley.run.stop_reason']).toBe('external_abort');
  });
});

describe('a real agent', () => {
  it('is traced with its tools, and the spans of a second agent inside of a tool are below that tool', async () => {
    const observing = observer();
    const inner = new Agent(new ScriptedModel([say('inner')]), { agentId: 'inner', observers: [observing] });
    const handler: ToolHandler = {
      tools: [add],
      call: async () => new StepOutcome((await inner.run('go')).output),
    };
    const model = new ScriptedModel([say(null, call('c1', 'add')), say('done')]);
    const outer = new Agent(model, { agentId: 'outer', handlers: [handler], observers: [observing] });
    const result = await outer.run('go');
    await outer.shutdown();
    await inner.shutdown();
    expect(result.output).toBe('done');
    const found = exporter.getFinishedSpans();
    expect(found.map((span) => span.name).sort()).toEqual([
      'chat scripted',
      'chat scripted',
      'chat scripted',
      'execute_tool add',
      'invoke_agent inner',
      'invoke_agent outer',
    ]);
    const byName = spans();
    expect(isChildOf(byName['invoke_agent inner'], byName['execute_tool add'])).toBe(true);
    expect(isChildOf(byName['execute_tool add'], byName['invoke_agent outer'])).toBe(true);
    expect(new Set(found.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(trace.getActiveSpan()).toBeUndefined();
  });

  it('costs little without an SDK', async () => {
    const observing = new OpenTelemetryObserver({ tracer: trace.getTracer('nobody') });
    const begin = process.cpuUsage();
    for (let i = 0; i < 1_000; i += 1) await traced(observing);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});
