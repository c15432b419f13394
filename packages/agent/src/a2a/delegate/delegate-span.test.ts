import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { freePort } from '@parley/testkit';
import { connectA2a } from '../client/index.js';
import { createDelegate } from './create-delegate.js';
import { done, setting } from './delegation.test-helper.js';

describe('the span of work that is handed on', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('test');
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();

  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterEach(() => {
    exporter.reset();
  });
  afterAll(async () => {
    context.disable();
    await provider.shutdown();
  });

  it('is a child of the caller, and the parent of finding, agreeing and calling', async () => {
    const { main, partner, registry } = await setting();
    await partner('one', done);
    const seen: Record<string, string | undefined> = {};
    const note = (what: string): void => {
      seen[what] = trace.getActiveSpan()?.spanContext().spanId;
    };
    const delegate = createDelegate({
      agent: {
        negotiateFirst: (...args) => {
          note('negotiation');
          return main.negotiateFirst(...args);
        },
      },
      registryUrl: registry.url,
      connect: async ({ endpoint }, signal) => {
        note('card');
        const connection = await connectA2a({ url: endpoint, signal });
        return Object.assign(Object.create(connection) as typeof connection, {
          close: connection.close.bind(connection),
          stream: async function* (...args: Parameters<typeof connection.stream>) {
            note('stream');
            yield* connection.stream(...args);
          },
        });
      },
      tracer,
    });
    const { agreementId } = await tracer.startActiveSpan('caller', async (caller) => {
      try {
        return await delegate({
          capability: 'code_review@^1',
          parts: [{ kind: 'text', text: 'look' }],
          parameters: {},
          hops: 1,
          signal: new AbortController().signal,
        });
      } finally {
        caller.end();
      }
    });
    const [span, caller] = spans();
    expect(span).toMatchObject({
      name: 'delegate code_review',
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'parley.capability': 'code_review@^1',
        'parley.hops': 1,
        'parley.delegate.agent_id': 'one',
        'parley.agreement_id': agreementId,
        'parley.delegate.attempt_count': 0,
        'parley.delegate.outcome': 'done',
      },
    });
    expect(span?.parentSpanContext?.spanId).toBe(caller?.spanContext().spanId);
    const own = span?.spanContext().spanId;
    expect(seen).toEqual({ negotiation: own, card: own, stream: own });
  });

  it('names those who were asked in vain', async () => {
    const { partner, run } = await setting();
    await partner('one', done);
    await partner('two', done);
    const nobody = `http://127.0.0.1:${String(await freePort())}`;
    await run(
      {},
      {
        connect: ({ agentId, endpoint }, signal) => connectA2a({ url: agentId === 'one' ? nobody : endpoint, signal }),
        tracer,
      },
    );
    expect(spans()).toMatchObject([
      {
        attributes: {
          'parley.delegate.agent_id': 'two',
          'parley.delegate.attempt_count': 1,
          'parley.delegate.attempts': ['one unreachable'],
          'parley.delegate.outcome': 'done',
        },
      },
    ]);
  });

  it.each([
    ['nobody agrees', { capability: 'code_review@^2' }, 'negotiation_failed', { 'parley.delegate.attempt_count': 1 }],
    ['it is too deep', { hops: 4 }, 'delegation_too_deep', { 'parley.hops': 4 }],
    ['the partner fails', {}, 'delegate_failed', { 'parley.delegate.agent_id': 'one' }],
  ] as const)('is failed when %s, without the words of the partner', async (_why, request, code, attributes) => {
    const { partner, run } = await setting();
    await partner('one', () => ({ state: 'failed', text: 'secret of the partner' }));
    await expect(run(request, { tracer })).rejects.toMatchObject({ code });
    expect(spans()).toMatchObject([
      {
        status: { code: SpanStatusCode.ERROR },
        attributes: { ...attributes, 'parley.delegate.outcome': 'failed', 'error.type': code },
      },
    ]);
    expect(JSON.stringify([spans()[0]?.attributes, spans()[0]?.status, spans()[0]?.events])).not.toContain('secret');
  });

  it('is no failure when somebody wanted the end', async () => {
    const { run } = await setting();
    await expect(run({ signal: AbortSignal.abort() }, { tracer })).rejects.toMatchObject({ reason: 'cancelled' });
    expect(spans()).toMatchObject([
      { status: { code: SpanStatusCode.UNSET }, attributes: { 'parley.delegate.outcome': 'cancelled' } },
    ]);
    expect(spans()[0]?.attributes).not.toHaveProperty('error.type');
  });
});
