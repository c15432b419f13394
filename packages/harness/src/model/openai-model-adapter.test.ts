import { EventEmitter, getEventListeners, once } from 'node:events';
import { inspect } from 'node:util';
import type { Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { collect } from './collect.test-helper.js';
import type { ModelRequest, ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError } from './model-errors.js';
import { type Answering, OddServer } from './odd-server.test-helper.js';
import type { OpenAiAdapterOptions, OpenAiConfig } from './openai-config.js';
import { OpenAiModelAdapter } from './openai-model-adapter.js';
import { usageOf } from './scripted-model.js';
import { toWireMessage } from './wire-request.js';

const KEY = 'sk-hush-hush-hush';
const hi: ModelRequest = { messages: [{ role: 'user', content: 'hi' }], tools: [] };
const delta = (content: string, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const hello: Answering = (answer) => answer.stream(delta('hello', 'stop'));
const overloaded: Answering = (answer) => answer.status(503, { error: { message: 'Overloaded.' } });

describe('OpenAiModelAdapter', () => {
  let server: OddServer;
  let waits: number[];
  let warnings: unknown[];

  beforeAll(async () => {
    server = await OddServer.start();
  });

  afterAll(async () => {
    await server.stop();
  });

  beforeEach(() => {
    waits = [];
    warnings = [];
  });

  function adapterWith(config: Partial<OpenAiConfig> = {}, options: OpenAiAdapterOptions = {}): OpenAiModelAdapter {
    return new OpenAiModelAdapter(
      { model: 'm', apiKey: KEY, baseUrl: server.baseUrl, ...config },
      {
        random: () => 1,
        wait: async (ms) => void waits.push(ms),
        logger: { warn: (message, details) => warnings.push([message, details]) },
        ...options,
      },
    );
  }

  async function ask(
    adapter: OpenAiModelAdapter,
    request = hi,
    signal = new AbortController().signal,
  ): Promise<readonly ModelStreamEvent[]> {
    return collect(adapter.stream(request, signal));
  }

  async function errorOf(adapter: OpenAiModelAdapter, signal?: AbortSignal): Promise<unknown> {
    return ask(adapter, hi, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  describe('what it sends', () => {
    const tool: ToolDefinition = {
      name: 'read',
      description: 'Reads.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
      effect: 'read_only',
      strict: true,
    };
    const messages: readonly Message[] = [
      { role: 'system', content: 'Be kind.' },
      {
        role: 'system',
        content: 'Before: …',
        summary: { content: '…', source: 'm', historyStart: 0, firstKept: 2, messageCount: 2, tokensBefore: 9 },
      },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        toolCalls: [{ id: 'c1', name: 'read', arguments: '{"path":"a"}' }],
        reasoning: 'hm',
        usage: usageOf(1, 1),
      },
      { role: 'tool', toolCallId: 'c1', content: 'A' },
      { role: 'assistant', content: null, toolCalls: [] },
    ];

    async function sent(config: Partial<OpenAiConfig>, request: ModelRequest = hi): Promise<Record<string, unknown>> {
      server.answerWith(hello);
      await ask(adapterWith(config), request);
      return server.requests[0]?.body ?? {};
    }

    it('is the history in the form of the protocol, and nothing of its own', async () => {
      expect(await sent({}, { messages, tools: [tool] })).toEqual({
        model: 'm',
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'system', content: 'Before: …' },
          { role: 'user', content: 'go' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'A' },
          { role: 'assistant', content: '' },
        ],
        tools: [
          {
            type: 'function',
            function: { name: 'read', description: 'Reads.', parameters: tool.parameters, strict: true },
          },
        ],
        stream: true,
        stream_options: { include_usage: true },
      });
    });

    it('holds reasoning only for a model that wants it back', async () => {
      const body = await sent({ sendReasoning: true }, { messages, tools: [] });
      expect(body).not.toHaveProperty('tools');
      expect((body['messages'] as object[])[3]).toMatchObject({ role: 'assistant', reasoning_content: 'hm' });
      expect(JSON.stringify(await sent({}, { messages, tools: [] }))).not.toContain('hm');
    });

    it('follows the switches', async () => {
      const body = await sent({ includeUsage: false, temperature: 0, extraBody: { max_tokens: 5, stream: false } });
      expect(body).not.toHaveProperty('stream_options');
      expect(body).toMatchObject({ temperature: 0, max_tokens: 5, stream: true });
    });

    it('carries the key and further headers', async () => {
      await sent({ headers: { 'x-team': 'blue' } });
      expect(server.requests[0]?.request.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'blue' });
      expect(server.requests[0]?.request.url).toBe('/v1/chat/completions');
    });

    it('turns arguments that broke off into an object that every server can parse', async () => {
      const toolCalls = ['{"pa', '', '[1]'].map((args, index) => ({ id: `c${index}`, name: 'read', arguments: args }));
      const body = await sent({}, { messages: [{ role: 'assistant', content: null, toolCalls }], tools: [] });
      expect(body['messages']).toMatchObject([
        {
          tool_calls: [
            { function: { arguments: '{"unparsed_arguments":"{\\"pa"}' } },
            { function: { arguments: '{}' } },
            { function: { arguments: '[1]' } },
          ],
        },
      ]);
    });

    it('is translated once for each message', () => {
      for (const message of messages) {
        expect(toWireMessage(message, false)).toBe(toWireMessage(message, false));
        expect(toWireMessage(message, true)).toBe(toWireMessage(message, true));
      }
    });
  });

  describe('retries', () => {
    it('sends a request again after growing waits', async () => {
      server.answerWith(overloaded, (answer) => void answer.socket.destroy(), hello);
      expect((await ask(adapterWith())).at(-1)).toMatchObject({ response: { message: { content: 'hello' } } });
      expect(waits).toEqual([500, 1_000]);
      expect(warnings).toEqual([
        [expect.any(String), { model: 'm', kind: 'provider_error', status: 503, delayMs: 500 }],
        [expect.any(String), { model: 'm', kind: 'provider_error', status: undefined, delayMs: 1_000 }],
      ]);
    });

    it('gives up after the last one with the last error', async () => {
      server.answerWith(overloaded);
      expect(await errorOf(adapterWith({ maxRetries: 1 }))).toMatchObject({ kind: 'provider_error', status: 503 });
      expect(server.requests).toHaveLength(2);
    });

    it.each([
      [400, { error: { message: 'Unknown field.' } }],
      [400, { error: { message: 'No.', code: 'context_length_exceeded' } }],
      [401, 'who?'],
      [413, 'too large'],
      [429, { error: { message: 'No credit.', code: 'insufficient_quota' } }],
    ])('does not send again what got %i %j', async (status, body) => {
      server.answerWith((answer) => answer.status(status, body));
      expect(await errorOf(adapterWith())).toMatchObject({ status });
      expect(server.requests).toHaveLength(1);
      expect(waits).toEqual([]);
    });

    it('waits as long as the server asks', async () => {
      const slow =
        (headers: Record<string, string>): Answering =>
        (answer) =>
          answer.status(429, 'slow', headers);
      const now = Date.UTC(2030, 0, 1);
      const date = new Date(now + 4_000).toUTCString();
      server.answerWith(
        slow({ 'retry-after': '3' }),
        slow({ 'retry-after-ms': '70' }),
        slow({ 'retry-after': date }),
        hello,
      );
      await ask(adapterWith({ maxRetries: 3 }, { now: () => now }));
      expect(waits).toEqual([3_000, 70, 4_000]);
    });

    it('fails at once if that is too long', async () => {
      server.answerWith((answer) => answer.status(429, 'slow', { 'retry-after': '61' }));
      expect(await errorOf(adapterWith())).toMatchObject({ kind: 'rate_limit', retryAfterMs: 61_000 });
      expect(server.requests).toHaveLength(1);
    });

    it('sends a request again whose stream failed before it showed anything', async () => {
      server.answerWith((answer) => answer.stream({ error: { message: 'Busy.', code: 502 } }), hello);
      expect(await ask(adapterWith())).toHaveLength(2);
    });

    it('never sends one again that has shown something', async () => {
      server.answerWith((answer) => answer.begin().chunks(delta('hel')).breakOff(), hello);
      const seen: ModelStreamEvent[] = [];
      const reading = async (): Promise<void> => {
        for await (const event of adapterWith().stream(hi, new AbortController().signal)) seen.push(event);
      };
      await expect(reading()).rejects.toThrow(ModelProviderError);
      expect(seen).toEqual([{ type: 'text_delta', delta: 'hel' }]);
      expect(server.requests).toHaveLength(1);
    });

    it('stops waiting when it is aborted', async () => {
      const controller = new AbortController();
      server.answerWith(overloaded);
      const adapter = adapterWith({}, { wait: () => new Promise(() => controller.abort(new Error('enough'))) });
      await expect(ask(adapter, hi, controller.signal)).rejects.toThrow('enough');
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });
  });

  describe('aborts', () => {
    it('does not begin when it is aborted already', async () => {
      server.answerWith(hello);
      await expect(ask(adapterWith(), hi, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
      expect(server.requests).toHaveLength(0);
    });

    it('closes the connection while it waits for the answer', async () => {
      const controller = new AbortController();
      const gone = new Promise<void>((resolve) => {
        server.answerWith(async (answer) => {
          controller.abort(new Error('enough'));
          await answer.clientGone();
          resolve();
        });
      });
      await expect(ask(adapterWith(), hi, controller.signal)).rejects.toThrow('enough');
      await gone;
      expect(waits).toEqual([]);
    });

    it('closes the connection in the middle of the stream', async () => {
      const controller = new AbortController();
      const gone = new Promise<void>((resolve) => {
        server.answerWith(async (answer) => {
          answer.begin().chunks(delta('hel'));
          await answer.clientGone();
          resolve();
        });
      });
      const events = adapterWith().stream(hi, controller.signal);
      await events.next();
      const next = events.next();
      controller.abort('enough');
      await expect(next).rejects.toMatchObject({ name: 'AbortError', message: 'enough' });
      await gone;
    });

    it('closes the connection when the reader leaves', async () => {
      const gone = new Promise<void>((resolve) => {
        server.answerWith(async (answer) => {
          answer.begin().chunks(delta('hel'));
          await answer.clientGone();
          resolve();
        });
      });
      for await (const event of adapterWith().stream(hi, new AbortController().signal)) {
        expect(event).toEqual({ type: 'text_delta', delta: 'hel' });
        break;
      }
      await gone;
    });

    it('leaves no listener on a signal that lives on', async () => {
      const { signal } = new AbortController();
      const adapter = adapterWith({ maxRetries: 0 });
      const answers: readonly Answering[] = [
        hello,
        overloaded,
        (answer) => answer.stream(delta('hel')),
        (answer) => answer.begin().chunks(delta('hel')).breakOff(),
        (answer) => void answer.socket.destroy(),
      ];
      for (const answering of answers) {
        server.answerWith(answering);
        await errorOf(adapter, signal);
        expect(getEventListeners(signal, 'abort')).toHaveLength(0);
      }
    });
  });

  describe('connections', () => {
    it('are used again after a whole answer', async () => {
      server.answerWith(hello);
      const adapter = adapterWith();
      for (let turn = 0; turn < 4; turn++) await ask(adapter);
      const ports = new Set(server.requests.map((request) => request.socket.remotePort));
      // The answer is not held back until the connection is free, so the next request may need a second one.
      expect(ports.size).toBeLessThanOrEqual(2);
    });

    it('are closed if the server keeps them busy after the end marker', async () => {
      const sockets: Promise<unknown>[] = [];
      server.answerWith((answer) => {
        sockets.push(answer.clientGone());
        answer.begin().chunks(delta('hello', 'stop'), '[DONE]');
      });
      await ask(adapterWith());
      expect(sockets).toHaveLength(1);
      await Promise.all(sockets);
    });

    it('are closed if the answer is broken', async () => {
      const sockets: Promise<unknown>[] = [];
      server.answerWith((answer) => {
        sockets.push(answer.clientGone());
        answer.begin().chunks('{broken');
      });
      await errorOf(adapterWith({ maxRetries: 0 }));
      await Promise.all(sockets);
    });
  });

  describe('credentials', () => {
    const echoes: readonly (readonly [string, Answering])[] = [
      ['401', (answer) => answer.status(401, { error: { message: `Wrong key ${KEY}.`, code: 'invalid_api_key' } })],
      ['a text', (answer) => answer.status(500, `you sent ${KEY} and team-secret-9`)],
      ['an error in the stream', (answer) => answer.stream({ error: { message: `Wrong key ${KEY}.` } })],
      ['JSON', (answer) => answer.status(200, { you: KEY })],
    ];

    it.each(echoes)('are not in the error for %s that repeats them', async (_name, answering) => {
      server.answerWith(answering);
      const error = await errorOf(adapterWith({ maxRetries: 1, headers: { 'x-team': 'team-secret-9' } }));
      expect(error).toBeInstanceOf(ModelProviderError);
      expect(String(error)).toContain('[secret]');
      const dumped = inspect([error, warnings], { depth: 20, showHidden: true });
      expect(dumped).not.toContain('hush');
      expect(dumped).not.toContain('team-secret');
    });
  });

  it('recognises an overflow by a pattern of its own', async () => {
    server.answerWith((answer) => answer.status(400, { error: { message: 'Brain is full.' } }));
    const adapter = adapterWith({ overflowPatterns: [/BRAIN is full/giu] });
    expect(await errorOf(adapter)).toMatchObject({ kind: 'context_overflow' });
    expect(await errorOf(adapter)).toMatchObject({ kind: 'context_overflow' });
  });

  it('does not take the time of its reader for silence of the server', async () => {
    // The server waits for the reader before it goes on, so that each piece is waited for anew.
    const goOn = new EventEmitter();
    server.answerWith(async (answer) => {
      answer.begin().chunks(delta('hel'));
      await once(goOn, 'read');
      answer.chunks(delta('lo'), delta('', 'stop'), '[DONE]').end();
    });
    const kinds: string[] = [];
    for await (const event of adapterWith({ idleTimeoutMs: 40 }).stream(hi, new AbortController().signal)) {
      kinds.push(event.type);
      // Over when a limit of 40 ms that counted this time would have struck.
      await once(AbortSignal.timeout(60), 'abort');
      goOn.emit('read');
    }
    expect(kinds).toEqual(['text_delta', 'text_delta', 'completed']);
  });
});
