import type { ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError } from './model-errors.js';
import { OddServer } from './odd-server.test-helper.js';
import { oddShapes, oddShapesTable } from './odd-shapes/index.test-helper.js';
import type { FailedAnswer, OddShape, WholeAnswer } from './odd-shapes/odd-shape.test-helper.js';
import { OpenAiModelAdapter } from './openai-model-adapter.js';

interface Outcome {
  readonly events: readonly ModelStreamEvent[];
  readonly error: unknown;
  readonly warnings: readonly string[];
}

async function outcomeOf(shape: OddShape, server: OddServer): Promise<Outcome> {
  server.answerWith(shape.answer);
  const warnings: string[] = [];
  let made = 0;
  const adapter = new OpenAiModelAdapter(
    { model: 'm', apiKey: 'key-of-the-test', baseUrl: server.baseUrl, maxRetries: 0, ...shape.config },
    { logger: { warn: (message) => warnings.push(message) }, newId: () => `made-${++made}` },
  );
  const events: ModelStreamEvent[] = [];
  try {
    const request = { messages: [{ role: 'user' as const, content: 'hi' }], tools: [] };
    for await (const event of adapter.stream(request, new AbortController().signal)) events.push(event);
    return { events, error: undefined, warnings };
  } catch (error) {
    return { events, error, warnings };
  }
}

function shown(events: readonly ModelStreamEvent[], type: 'text_delta' | 'thinking_delta'): string {
  return events.map((event) => (event.type === type ? event.delta : '')).join('');
}

function expectFailure({ events, error }: Outcome, expected: FailedAnswer): void {
  expect(error).toBeInstanceOf(ModelProviderError);
  expect(error).toMatchObject({ kind: expected.fails, message: expect.stringContaining(expected.says) });
  expect(shown(events, 'text_delta')).toBe(expected.shown ?? '');
  expect(events.filter((event) => event.type === 'completed')).toEqual([]);
}

function expectWhole({ events, error, warnings }: Outcome, expected: WholeAnswer): void {
  expect(error).toBeUndefined();
  const last = events.at(-1);
  if (last?.type !== 'completed') throw new Error('the stream did not complete');
  const { message, finishReason, usage } = last.response;
  expect(finishReason).toBe(expected.finish);
  expect(message.content).toBe(expected.text ?? null);
  expect(message.reasoning).toBe(expected.reasoning);
  expect(message.toolCalls.map((call) => `${call.name}(${call.arguments})`)).toEqual(expected.calls ?? []);
  expect(message.toolCalls.map((call) => call.id)).toEqual(expected.ids ?? []);
  const counters =
    usage === null || usage === undefined ? undefined : [usage.inputTokens, usage.outputTokens, usage.totalTokens];
  expect(counters).toEqual(expected.usage);
  expect(message.usage).toEqual(usage);
  expect(warnings).toHaveLength(expected.warns === true ? 1 : 0);
  // What was shown is what the message says.
  expect(shown(events, 'text_delta')).toBe(expected.text ?? '');
  expect(shown(events, 'thinking_delta')).toBe(expected.reasoning ?? '');
  expect(events.filter((event) => event.type === 'completed')).toHaveLength(1);
}

describe('what servers send', () => {
  let server: OddServer;

  beforeAll(async () => {
    server = await OddServer.start();
  });

  afterAll(async () => {
    await server.stop();
  });

  it.each(oddShapes.map((shape) => [shape.name, shape] as const))('%s', async (_name, shape) => {
    const outcome = await outcomeOf(shape, server);
    if ('fails' in shape.result) expectFailure(outcome, shape.result);
    else expectWhole(outcome, shape.result);
  });

  it('is listed once each in a table', () => {
    const rows = oddShapesTable().split('\n').slice(2);
    expect(rows).toHaveLength(oddShapes.length);
    expect(new Set(oddShapes.map((shape) => shape.name)).size).toBe(oddShapes.length);
    expect(rows[0]).toMatch(/^\| text in pieces, .* \| `stop`, text, usage known \|$/u);
  });
});
