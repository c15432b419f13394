import type { OtlpSpan } from '@parley/proxy-protocol';
import { silentLogger, type Logger } from '@parley/service-kit';
import type { Fact, TurnEnd } from '../domain/facts.js';
import { FakeCollector } from './collector.test-helper.js';
import { createRecorder } from './create-recorder.js';
import type { Recorder, TrajectoryPage } from './recorder-types.js';
import { bashResult, Facts, ROOT_ID, toolResult, TRACE_ID } from './recording.test-helper.js';
import { createSpanExporter, type SpanExporterOptions } from './span-exporter.js';
import type { SpanSink } from './span-sink.js';
import { readTraceTarget } from './trace-target.js';

const CLOSE_MS = 2_000;
const collectors: FakeCollector[] = [];
let said: { message: string; fields: unknown }[] = [];
const logger: Logger = {
  ...silentLogger,
  warn: (message, fields) => said.push({ message, fields }),
  error: (message, fields) => said.push({ message, fields }),
};

beforeEach(() => {
  said = [];
});

afterEach(async () => {
  await Promise.all(collectors.splice(0).map((collector) => collector.stop()));
});

async function collecting(...args: Parameters<typeof FakeCollector.start>): Promise<FakeCollector> {
  const collector = await FakeCollector.start(...args);
  collectors.push(collector);
  return collector;
}

function exporter(url: URL, more: Partial<SpanExporterOptions> & { timeoutMs?: number } = {}): SpanSink {
  const { timeoutMs = 1_000, ...options } = more;
  const target = {
    url,
    headers: { 'x-key': 'k' },
    timeoutMs,
    resource: { 'service.name': 'proxy', 'service.instance.id': 'i' },
  };
  return createSpanExporter({ target, logger, delayMs: 1, retryDelayMs: 5, ...options });
}

function observing(spans: SpanSink, more: { traceContent?: boolean } = {}): Recorder {
  return createRecorder({ logger, spans, ...more });
}

const tell = (recorder: Recorder, facts: readonly Fact[]): void => {
  for (const fact of facts) recorder.observe(fact);
};

function attributeOf(span: OtlpSpan | undefined, key: string): unknown {
  const value = span?.attributes.find((one) => one.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}

const span = (name: string, text = ''): OtlpSpan => ({
  traceId: TRACE_ID,
  spanId: ROOT_ID,
  name,
  kind: 1,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  attributes: [{ key: 'text', value: { stringValue: text } }],
  status: { code: 0 },
});

describe('spans of a turn', () => {
  it('show it while it runs, hang below what was sent first, have the ids of the record, and come once', async () => {
    const collector = await collecting();
    const recorder = observing(exporter(collector.url));
    const facts = new Facts();
    tell(recorder, [facts.submitted({ parentSpanId: '9'.repeat(16) }), facts.opened()]);
    await collector.requested(1);
    expect(collector.spans).toEqual([
      expect.objectContaining({
        name: 'turn opened',
        traceId: TRACE_ID,
        spanId: ROOT_ID,
        parentSpanId: '9'.repeat(16),
      }),
    ]);
    tell(recorder, [
      facts.recorded([{ type: 'text', text: 'hi' }], {
        model: 'claude-x',
        usage: { input_tokens: 5, cache_read_input_tokens: 4 },
      }),
      facts.bash('1', 'exit 3'),
      facts.ended('1', bashResult({ exitCode: 3, stdout: 'out' })),
      facts.tool('2', 'add', { a: 1 }, 'call_9'),
      facts.ended('2', toolResult('1'), 'done', { 'mcp.protocol.version': 'v' }),
      facts.closed(),
    ]);
    await recorder.close(CLOSE_MS);
    const [root, ...below] = collector.spans;
    expect(root?.name).toBe('turn opened');
    expect(below.map(({ name }) => name)).toEqual([
      'chat claude-x',
      'execute_tool bash',
      'execute_tool add',
      'invoke_agent agentenv-proxy',
    ]);
    for (const one of below) expect(one).toMatchObject({ traceId: TRACE_ID, parentSpanId: ROOT_ID });
    const { events }: TrajectoryPage = recorder.page({ taskId: 't' }, 0, 10);
    expect(below.map(({ spanId }) => spanId)).toEqual(events.map((event) => (event as { span_id: string }).span_id));
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(5);
    const [chat, bash, add, turn] = below;
    expect([
      attributeOf(chat, 'gen_ai.provider.name'),
      attributeOf(chat, 'gen_ai.usage.cache_read.input_tokens'),
    ]).toEqual(['anthropic', '4']);
    expect([bash?.status.code, attributeOf(bash, 'error.type'), attributeOf(bash, 'parley.proxy.exit_code')]).toEqual([
      2,
      'nonzero_exit',
      '3',
    ]);
    expect([
      attributeOf(add, 'gen_ai.tool.call.id'),
      attributeOf(add, 'mcp.protocol.version'),
      attributeOf(add, 'parley.proxy.server'),
    ]).toEqual(['call_9', 'v', 'srv']);
    expect([attributeOf(turn, 'gen_ai.conversation.id'), turn?.status.code]).toEqual(['c', 0]);
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-key': 'k', 'content-type': 'application/json' },
    });
    expect(collector.requests[0]?.traces.resourceSpans[0]?.resource.attributes).toContainEqual({
      key: 'service.instance.id',
      value: { stringValue: 'i' },
    });
    expect(said).toEqual([]);
  });

  it.each<[string, TurnEnd, boolean, string]>([
    [
      'an error reply',
      { state: 'failed', errorCode: 'proxy.driver_error', errorType: 'agent_error', error: 'broke' },
      true,
      'proxy.driver_error',
    ],
    [
      'a fault',
      { state: 'failed', errorCode: 'framework.unhandled_exception', errorType: 'infra_error', error: 'x' },
      true,
      'framework.unhandled_exception',
    ],
    [
      'a part that is not text',
      { state: 'failed', errorCode: 'proxy.unsupported_part', errorType: 'agent_error', error: 'x' },
      false,
      'proxy.unsupported_part',
    ],
    ['a cancel', { state: 'canceled' }, true, 'canceled'],
    ['a withdrawal before it opened', { state: 'canceled' }, false, 'canceled'],
  ])('end with %s, as an error of its kind', async (_end, end, opens, errorType) => {
    const collector = await collecting();
    const recorder = observing(exporter(collector.url));
    const facts = new Facts();
    tell(recorder, [facts.submitted(), ...(opens ? [facts.opened()] : []), facts.closed(end)]);
    await recorder.close(CLOSE_MS);
    const turn = collector.spans.at(-1);
    expect(turn).toMatchObject({ name: 'invoke_agent agentenv-proxy', status: { code: 2 } });
    expect(turn?.parentSpanId).toBe(opens ? ROOT_ID : undefined);
    expect(attributeOf(turn, 'error.type')).toBe(errorType);
    expect(collector.spans).toHaveLength(opens ? 2 : 1);
  });

  it('are not sent again after a restart, and go on below the same root', async () => {
    const collector = await collecting();
    const recorder = observing(exporter(collector.url));
    const facts = new Facts();
    for (const fact of [facts.submitted(), facts.opened(), facts.bash('1', 'sleep')])
      recorder.observe(fact, { replayed: true });
    tell(recorder, [facts.ended('1', bashResult(), 'lost'), facts.closed()]);
    await recorder.close(CLOSE_MS);
    expect(collector.spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['execute_tool bash', ROOT_ID],
      ['invoke_agent agentenv-proxy', ROOT_ID],
    ]);
    expect(attributeOf(collector.spans[0], 'error.type')).toBe('lost');
  });

  it('carry no content where it is switched off, and the record has all', async () => {
    const collector = await collecting();
    const recorder = observing(exporter(collector.url), { traceContent: false });
    const facts = new Facts();
    tell(recorder, [
      facts.submitted({ systemPrompt: 'SECRET' }),
      facts.opened(),
      facts.recorded([{ type: 'text', text: 'SECRET' }]),
      facts.bash('1', 'echo SECRET'),
      facts.ended('1', bashResult({ stdout: 'SECRET', exitCode: 0 })),
      facts.closed({ state: 'failed', errorCode: 'proxy.driver_error', errorType: 'agent_error', error: 'SECRET' }),
    ]);
    await recorder.close(CLOSE_MS);
    expect(collector.spans).toHaveLength(4);
    expect(JSON.stringify(collector.spans)).not.toContain('SECRET');
    expect(JSON.stringify(recorder.whole({ taskId: 't' })).split('SECRET')).toHaveLength(6);
  });

  it('of 12 MB of output are sent, cut, and the record has all of it', async () => {
    const collector = await collecting();
    const recorder = observing(exporter(collector.url));
    const facts = new Facts();
    const stdout = '你'.repeat(4_000_000);
    tell(recorder, [
      facts.submitted(),
      facts.opened(),
      facts.bash('1', 'x'),
      facts.ended('1', bashResult({ stdout, exitCode: 0 })),
      facts.closed(),
    ]);
    await recorder.close(CLOSE_MS);
    const bash = collector.spans.find(({ name }) => name === 'execute_tool bash');
    expect(attributeOf(bash, 'gen_ai.tool.call.result')).toBe(`${'你'.repeat(10_922)}… (12000000 bytes in all)`);
    for (const { bytes } of collector.requests) expect(bytes).toBeLessThan(1024 * 1024);
    expect(JSON.stringify(recorder.whole({ taskId: 't' })).length).toBeGreaterThan(12_000_000);
    expect(said).toEqual([]);
  });
});

describe('the exporter', () => {
  it('splits batches by their encoded bytes and fills them', async () => {
    const collector = await collecting();
    const spans = exporter(collector.url, { maxBatchBytes: 10_000, delayMs: 20 });
    for (let index = 0; index < 100; index += 1) spans.add(span(`s${index}`, '你'.repeat(200)));
    await spans.close(CLOSE_MS);
    expect(collector.spans.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, index) => `s${index}`));
    for (const { bytes } of collector.requests) expect(bytes).toBeLessThanOrEqual(10_000);
    expect(collector.requests.length).toBeLessThan(12);
  });

  it('cuts a span that is too large, and drops by name one that stays so', async () => {
    const collector = await collecting();
    const spans = exporter(collector.url, { maxBatchBytes: 2_000 });
    spans.add(span('large', 'x'.repeat(5_000)));
    const attributes = Array.from({ length: 100 }, (_, index) => ({ key: `k${index}`, value: { stringValue: 'v' } }));
    spans.add({ ...span('huge'), attributes });
    await spans.close(CLOSE_MS);
    expect(collector.spans.map(({ name }) => name)).toEqual(['large']);
    expect(said[0]).toEqual({ message: expect.stringContaining('too large'), fields: { span: 'huge' } });
  });

  it('sends again what a busy collector did not take', async () => {
    const collector = await collecting((response, count) => {
      response.writeHead(count === 1 ? 429 : count === 2 ? 503 : 200).end();
    });
    const spans = exporter(collector.url);
    spans.add(span('a'));
    await collector.requested(3);
    await spans.close(CLOSE_MS);
    expect(collector.requests.map((one) => one.spans.map(({ name }) => name))).toEqual([['a'], ['a'], ['a']]);
    expect(said).toEqual([]);
  });

  it.each([413, 400, 500, 502, 504])(
    'does not send again after %d, goes on with the next, and says it once',
    async (status) => {
      const collector = await collecting((response, count) => response.writeHead(count <= 2 ? status : 200).end());
      const spans = exporter(collector.url);
      for (const [index, name] of ['a', 'b', 'c'].entries()) {
        spans.add(span(name));
        await collector.requested(index + 1);
      }
      await spans.close(CLOSE_MS);
      expect(collector.spans.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      expect(said.map(({ fields }) => fields)).toEqual([
        { reason: `the collector answered ${status}`, spans: ['a'] },
        { count: 2 },
      ]);
    },
  );

  it('does not send again what a slow collector may have taken', async () => {
    const collector = await collecting(() => undefined);
    const spans = exporter(collector.url, { timeoutMs: 50 });
    spans.add(span('a'));
    await collector.requested(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await spans.close(CLOSE_MS);
    expect(collector.requests).toHaveLength(1);
    expect(said.at(-1)?.fields).toEqual({ count: 1 });
  });

  it('waits for a collector that is not there yet', async () => {
    const gone = await FakeCollector.start();
    const { port, url } = gone;
    await gone.stop();
    const spans = exporter(url);
    spans.add(span('a'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const collector = await collecting(undefined, port);
    await collector.requested(1);
    await spans.close(CLOSE_MS);
    expect(collector.spans.map(({ name }) => name)).toEqual(['a']);
  });

  it.each(['dead', 'silent'] as const)('closes within its time when the collector is %s', async (kind) => {
    const collector = kind === 'silent' ? await collecting(() => undefined) : await FakeCollector.start();
    if (kind === 'dead') await collector.stop().catch(() => undefined);
    const url = kind === 'dead' ? new URL('http://127.0.0.1:9/v1/traces') : collector.url;
    const spans = exporter(url, { timeoutMs: 60_000 });
    for (let index = 0; index < 3; index += 1) spans.add(span(`s${index}`));
    const before = performance.now();
    await spans.close(200);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(said.at(-1)?.fields).toEqual({ count: 3 });
  });

  it('is bounded in spans and bytes, counts what it drops, and says it once', async () => {
    const collector = await collecting();
    const bySpans = exporter(collector.url, { maxQueueSpans: 5, delayMs: 1_000 });
    const byBytes = exporter(collector.url, { maxQueueBytes: 2_000, delayMs: 1_000 });
    for (let index = 0; index < 10; index += 1) {
      bySpans.add(span(`a${index}`));
      byBytes.add(span(`b${index}`, 'x'.repeat(500)));
    }
    await bySpans.close(CLOSE_MS);
    await byBytes.close(CLOSE_MS);
    const names = collector.spans.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('a'))).toHaveLength(5);
    expect(names.filter((name) => name.startsWith('b'))).toHaveLength(2);
    expect(said.map(({ fields }) => fields)).toContainEqual({ count: 5 });
    expect(said).toHaveLength(4);
  });
});

describe('where spans go', () => {
  const identity = { serviceName: 'proxy', instanceId: 'pod-1' };

  it('is nowhere without an endpoint, or where tracing is switched off', () => {
    expect(readTraceTarget({}, identity)).toBeUndefined();
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
    expect(readTraceTarget({ ...endpoint, OTEL_SDK_DISABLED: 'true' }, identity)).toBeUndefined();
    expect(readTraceTarget({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, identity)).toBeUndefined();
  });

  it('is read from the standard variables', () => {
    const base = readTraceTarget(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/base/',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%20y,broken',
        OTEL_RESOURCE_ATTRIBUTES: 'k=v,service.name=other',
        OTEL_SERVICE_NAME: 'named',
        OTEL_EXPORTER_OTLP_TIMEOUT: '250',
      },
      identity,
    );
    expect(base).toEqual({
      url: new URL('http://c:4318/base/v1/traces'),
      headers: { a: '1', b: 'x y' },
      timeoutMs: 250,
      resource: { 'service.name': 'named', 'service.instance.id': 'pod-1', k: 'v' },
    });
    const own = readTraceTarget({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t/x' }, identity);
    expect(own).toMatchObject({ url: new URL('https://t/x'), resource: { 'service.name': 'proxy' } });
    expect(() => readTraceTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4318' }, identity)).toThrow('must be an http');
  });
});
