import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import type { SubagentRequest } from '@parley/harness';
import { AcpOptionsError } from './acp-errors.js';
import type { AcpSubagentOptions } from './acp-options.js';
import { AcpSubagentProvider } from './acp-provider.js';
import { FakeChild, type Behaviour } from './fake-child.test-helper.js';

const exporter = new InMemorySpanExporter();
const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test');
const POOL = { size: 1, idleMs: 60_000 };
const NEVER = (): void => undefined;

function requestOf(signal: AbortSignal = new AbortController().signal): SubagentRequest {
  return { label: 'test', prompt: [{ type: 'text', text: 'Do it.' }], parent: { agentId: 'parent', depth: 0 }, signal };
}

describe('a provider of children over ACP', () => {
  let children: FakeChild[];
  let provider: AcpSubagentProvider;

  /** Each child behaves like the one of its turn, and the last one for all further ones. */
  function providerOf(options: Partial<AcpSubagentOptions>, ...behaviours: (Behaviour | FakeChild)[]): void {
    const all = { command: 'agent', cwd: '/work', tracer, ...options };
    provider = new AcpSubagentProvider(all, () => {
      const behaviour = behaviours[Math.min(children.length, behaviours.length - 1)];
      const child = behaviour instanceof FakeChild ? behaviour : new FakeChild(behaviour);
      children.push(child);
      return Promise.resolve(child);
    });
  }

  async function runOnce(): Promise<void> {
    const run = await provider.start(requestOf());
    await run.result;
    await run.dispose();
  }

  beforeEach(() => {
    children = [];
    exporter.reset();
  });

  afterEach(async () => {
    await provider.close();
    expect(children.every(({ exit }) => exit !== undefined)).toBe(true);
  });

  it('refuses options that cannot be meant', () => {
    providerOf({});
    const wrong: Partial<AcpSubagentOptions>[] = [
      { deadlines: { idleMs: Number.NaN } },
      { deadlines: { promptMs: -1 } },
      { pool: { size: 0, idleMs: 1 } },
      { permissionTimeoutMs: -1 },
      { maxOutputBytes: 0 },
    ];
    for (const options of wrong) {
      expect(() => new AcpSubagentProvider({ command: 'agent', cwd: '/work', ...options })).toThrow(AcpOptionsError);
    }
  });

  it('refuses a request without a prompt, and any after its end, before any child exists', async () => {
    providerOf({});
    await expect(provider.start({ ...requestOf(), prompt: [] })).rejects.toMatchObject({
      code: 'subagent_prompt_empty',
    });
    await provider.close();
    await expect(provider.start(requestOf())).rejects.toMatchObject({ code: 'acp_provider_closed' });
    expect(children).toEqual([]);
  });

  it('has a signal for many runs at once, and no listener on it when they are over', async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', onWarning);
    const controller = new AbortController();
    providerOf(
      {},
      {
        'session/prompt': NEVER,
        'session/cancel': (call, child) => child.answer({ ...call, id: 2 }, { stopReason: 'cancelled' }),
      },
    );
    const runs = await Promise.all(Array.from({ length: 50 }, () => provider.start(requestOf(controller.signal))));
    controller.abort(new Error('changed my mind'));
    const results = await Promise.all(runs.map(({ result }) => result));
    expect(results).toHaveLength(50);
    expect(new Set(results.map(({ stopReason }) => stopReason))).toEqual(new Set(['aborted']));
    await Promise.all(runs.map((run) => run.dispose()));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('has no listener on the signal of a run whose result is known, or that could not be started', async () => {
    const { signal } = new AbortController();
    const child = new FakeChild();
    const gone = Promise.withResolvers<undefined>();
    const end = child.end.bind(child);
    child.end = async (atOnce) => {
      await gone.promise;
      await end(atOnce);
    };
    providerOf({}, child, { initialize: (call, self) => self.answer(call, { protocolVersion: 2 }) });
    const run = await provider.start(requestOf(signal));
    await run.result;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    gone.resolve(undefined);
    await expect(provider.start(requestOf(signal))).rejects.toThrow('version');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('starts no run when the child takes only a part of the prompt, and gives it no time to read the rest', async () => {
    providerOf({ deadlines: { newSessionMs: 50 } }, { 'session/prompt': () => new Promise(NEVER) });
    await expect(provider.start(requestOf())).rejects.toMatchObject({
      code: 'acp_timeout',
      waitedFor: 'session/prompt',
    });
    expect(children[0]?.ends).toEqual([true]);
  });

  it('does not tell of a prompt that was cancelled while it was on its way as of one that was never sent', async () => {
    const controller = new AbortController();
    providerOf(
      { deadlines: { cancelGraceMs: 20 } },
      {
        'session/prompt': async () => {
          controller.abort(new Error('changed my mind'));
          await new Promise(setImmediate);
        },
      },
    );
    const run = await provider.start(requestOf(controller.signal));
    expect(await run.result).toMatchObject({ stopReason: 'aborted', diagnostic: 'cancelled: changed my mind' });
    expect(children[0]?.methods).toContain('session/cancel');
  });

  it('tells the child of no cancel when it has answered already', async () => {
    const controller = new AbortController();
    providerOf(
      {},
      {
        'session/prompt': async (call, child) => {
          controller.abort();
          await child.answer(call, { stopReason: 'end_turn' });
          await new Promise(setImmediate);
        },
      },
    );
    const run = await provider.start(requestOf(controller.signal));
    expect(await run.result).toMatchObject({ stopReason: 'aborted', diagnostic: 'cancelled' });
    await run.dispose();
    expect(children[0]?.methods).not.toContain('session/cancel');
  });

  it('tells that a run is cancelled when the child has said so, or has ended', async () => {
    providerOf({ deadlines: { cancelGraceMs: 20 } }, { 'session/prompt': NEVER });
    const run = await provider.start(requestOf());
    run.cancel('enough');
    expect(await run.result).toMatchObject({ stopReason: 'aborted', diagnostic: 'cancelled: enough' });
    expect(children[0]?.exit).toBeDefined();
  });

  it('tells a refusal in the words of the child, without what it must not tell', async () => {
    const refuse: Behaviour = {
      'session/prompt': (call, child) =>
        child.say({ id: call.id, error: { code: -32603, message: 'key secret is wrong' } }),
    };
    providerOf({}, refuse);
    const run = await provider.start(requestOf());
    expect((await run.result).diagnostic).toBe(
      'the child answered its prompt with error -32603: key [hidden] is wrong',
    );
  });

  it('names what one can log in with when the child wants that', async () => {
    const error = { code: -32000, message: 'Authentication required' };
    const child = new FakeChild(
      { 'session/new': (call, self) => self.say({ id: call.id, error }) },
      { authMethods: [{ id: 'api-key', name: 'API key' }] },
    );
    providerOf({}, child);
    await expect(provider.start(requestOf())).rejects.toMatchObject({
      code: 'acp_auth_required',
      methods: ['api-key (API key)'],
    });
    expect(child.exit).toBeDefined();
  });

  it('asks about a permission from where the run was started, also with a warm child', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const permission = (): 'reject' => {
      seen.push(storage.getStore());
      return 'reject';
    };
    const asks: Behaviour = {
      'session/prompt': (call, child) => {
        const params = { ...call.params, toolCall: { toolCallId: 'a' }, options: [] };
        void child.ask('session/request_permission', params).then(() => child.answer(call, { stopReason: 'end_turn' }));
      },
    };
    providerOf({ permission, pool: POOL }, asks);
    await storage.run('first', runOnce);
    await storage.run('second', runOnce);
    expect(seen).toEqual(['first', 'second']);
    expect(children).toHaveLength(1);
  });

  describe('with a pool', () => {
    it('can take a child again as soon as the result of its run is known', async () => {
      providerOf({ pool: POOL });
      for (let i = 0; i < 5; i += 1) {
        const run = await provider.start(requestOf());
        expect(await run.result).toEqual({ stopReason: 'completed', output: 'It is 42' });
      }
      expect(children).toHaveLength(1);
      expect(children[0]?.methods.filter((method) => method === 'initialize')).toHaveLength(1);
    });

    it('closes a session before the next one is opened, and keeps no child that cannot', async () => {
      const capabilities = { agentCapabilities: { sessionCapabilities: { close: {} } } };
      const first = new FakeChild({}, capabilities);
      const refuses: Behaviour = {
        'session/close': (call, child) => child.say({ id: call.id, error: { code: -32603, message: 'no' } }),
      };
      providerOf({ pool: POOL }, first);
      await runOnce();
      await runOnce();
      expect(children).toHaveLength(1);
      expect(first.methods.slice(1)).toEqual([
        ...['session/new', 'session/prompt', 'session/close'],
        ...['session/new', 'session/prompt', 'session/close'],
      ]);
      await provider.close();
      children = [];
      providerOf({ pool: POOL }, new FakeChild(refuses, capabilities), {});
      await runOnce();
      await runOnce();
      expect(children).toHaveLength(2);
    });

    it('keeps no child that wrote lines which are no messages', async () => {
      const noisy: Behaviour = {
        'session/prompt': async (call, child) => {
          child.garbageLines += 1;
          await child.answer(call, { stopReason: 'end_turn' });
        },
      };
      providerOf({ pool: POOL }, noisy);
      await runOnce();
      await runOnce();
      expect(children).toHaveLength(2);
    });

    it.each([
      ['end_turn', 1],
      ['max_tokens', 1],
      ['refusal', 1],
      ['cancelled', 2],
      ['max_turn_requests', 2],
      ['coffee_break', 2],
    ])('needs after %s so many children for two runs: %d', async (stopReason, count) => {
      providerOf({ pool: POOL }, { 'session/prompt': (call, child) => child.answer(call, { stopReason }) });
      await runOnce();
      await runOnce();
      expect(children).toHaveLength(count);
    });

    it('does not trust a child with a session id that it gave before', async () => {
      providerOf({ pool: POOL }, { 'session/new': (call, child) => child.answer(call, { sessionId: 'always' }) });
      await runOnce();
      await runOnce();
      expect(children).toHaveLength(2);
      expect(children[1]?.methods).toEqual(['initialize', 'session/new', 'session/prompt']);
    });
  });

  describe('in a trace', () => {
    const manager = new AsyncLocalStorageContextManager();

    beforeAll(() => {
      context.setGlobalContextManager(manager.enable());
      propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    });

    afterAll(() => {
      context.disable();
      propagation.disable();
    });

    function span(): ReadableSpan | undefined {
      return exporter.getFinishedSpans().find(({ name }) => name === 'subagent helper');
    }

    it('has a span for each run, which the child can go on from', async () => {
      providerOf(
        { name: 'helper', meta: () => ({ origin: 'test' }), newId: () => 'run-1' },
        new FakeChild({}, { agentInfo: { name: 'mock' } }),
      );
      await tracer.startActiveSpan('parent', async (parent) => {
        await runOnce();
        parent.end();
        expect(span()?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
      });
      expect(span()).toMatchObject({
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'mock',
          'parley.subagent.provider': 'helper',
          'parley.subagent.id': 'run-1',
          'parley.subagent.warm': false,
          'parley.subagent.stop_reason': 'completed',
          'parley.subagent.exit': 'code 0',
        },
        status: { code: SpanStatusCode.UNSET },
      });
      const { traceId, spanId } = span()?.spanContext() ?? {};
      const sent = children[0]?.received.find(({ method }) => method === 'session/prompt');
      expect(sent?.params['_meta']).toEqual({ origin: 'test', traceparent: `00-${traceId}-${spanId}-01` });
    });

    it('belongs each run of a warm child to its own trace', async () => {
      providerOf({ name: 'helper', pool: POOL });
      await runOnce();
      await runOnce();
      const spans = exporter.getFinishedSpans().filter(({ name }) => name === 'subagent helper');
      expect(spans.map(({ attributes }) => attributes['parley.subagent.warm'])).toEqual([false, true]);
      const prompts = children[0]?.received.filter(({ method }) => method === 'session/prompt') ?? [];
      const sentIds = prompts.map(
        ({ params }) => (params['_meta'] as { traceparent: string }).traceparent.split('-')[2],
      );
      expect(sentIds).toEqual(spans.map((one) => one.spanContext().spanId));
    });

    it('says what failed, and no word of the child', async () => {
      providerOf({ name: 'helper' }, { 'session/prompt': (_call, child) => child.die(3) });
      await runOnce();
      expect(span()).toMatchObject({
        attributes: { 'error.type': 'subagent_failed', 'parley.subagent.exit': 'code 3' },
        status: { code: SpanStatusCode.ERROR },
      });
      expect(JSON.stringify([span()?.status, span()?.events])).not.toContain('exited');
    });

    it('has a span too for a start that failed, and a cancel is no error', async () => {
      providerOf({ name: 'helper' }, { initialize: (call, child) => child.answer(call, { protocolVersion: 2 }) });
      await expect(provider.start(requestOf())).rejects.toMatchObject({ code: 'acp_version' });
      expect(span()).toMatchObject({
        attributes: { 'error.type': 'acp_version' },
        status: { code: SpanStatusCode.ERROR },
      });
      exporter.reset();
      await expect(provider.start(requestOf(AbortSignal.abort()))).rejects.toMatchObject({
        code: 'subagent_cancelled',
      });
      expect(span()).toMatchObject({
        attributes: { 'parley.cancelled': true },
        status: { code: SpanStatusCode.UNSET },
      });
    });

    it('counts what the child told of sessions that are not its own', async () => {
      const warnings: unknown[] = [];
      const foreign: Behaviour = {
        'session/prompt': async (call, child) => {
          await child.text({ ...call, params: { sessionId: 'another' } }, 'not yours');
          await child.answer(call, { stopReason: 'end_turn' });
        },
      };
      providerOf({ name: 'helper', logger: { warn: (_message, details) => warnings.push(details) } }, foreign);
      await runOnce();
      expect(span()?.attributes['parley.subagent.foreign_updates']).toBe(1);
      expect(warnings).toEqual([{ sessionId: 's1', foreignUpdates: 1 }]);
    });

    it('sends nothing of a trace where there is none, and nothing beside the prompt at all', async () => {
      const silent = trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 });
      providerOf({ tracer: { startSpan: () => silent, startActiveSpan: () => undefined as never } });
      await runOnce();
      const sent = children[0]?.received.find(({ method }) => method === 'session/prompt');
      expect(Object.keys(sent?.params ?? {})).toEqual(['sessionId', 'prompt']);
    });
  });
});
