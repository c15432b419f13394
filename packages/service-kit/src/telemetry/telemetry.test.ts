import * as grpc from '@grpc/grpc-js';
import { jest } from '@jest/globals';
import {
  startProcess,
  startRedis,
  startSilentListener,
  waitFor,
  type RedisServer,
  type RunningProcess,
} from '@parley/testkit';
import { compile, fixtures, rootFolder } from '../compiled.test-helper.js';
import { call, watch } from '../grpc/grpc.test-helper.js';
import { Collector, type ReceivedSpan } from './collector.test-helper.js';
import { isUntraced } from './untraced.js';

// Each test starts a process that loads much.
jest.setTimeout(60_000);

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;

let redis: RedisServer;

beforeAll(async () => {
  await compile();
  redis = await startRedis();
}, 120_000);
interface Traced extends RunningProcess {
  readonly url: string;
  readonly grpcPort: number;
}

async function start(endpoint: string | undefined, env: Record<string, string | undefined> = {}): Promise<Traced> {
  const service = await startProcess({
    command: process.execPath,
    args: ['--import', '@parley/service-kit/telemetry', fixtures.traced],
    cwd: rootFolder,
    env: { REDIS_URL: redis.url, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'agent-a', ...env },
    readyWhen: /^serving/,
  });
  const [, http = '', rpc = ''] = await service.waitForLine(/^serving (\d+) (\d+)$/);
  return Object.assign(service, { url: `http://127.0.0.1:${http}`, grpcPort: Number(rpc) });
}

/** Stops the service in order, which flushes its spans. */
async function flush(service: Traced): Promise<void> {
  service.kill('SIGTERM');
  expect(await service.exited).toEqual({ code: 0, signal: null });
}

const get = async (url: string, headers: Record<string, string> = {}): Promise<string> =>
  (await fetch(url, { headers })).text();
const traceparent = (trace: string): { traceparent: string } => ({ traceparent: `00-${trace}-${CALLER}-01` });
const logged = (service: Traced, message: string): Record<string, unknown>[] =>
  service.stdout
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);

describe('one request', () => {
  let service: Traced;
  let received: Collector;
  let last = 0;

  beforeAll(async () => {
    received = await Collector.start();
    service = await start(received.url, { OTEL_BSP_SCHEDULE_DELAY: '20' });
  });
  afterAll(async () => {
    await flush(service);
    await received.stop();
  });

  const newTrace = (): string => String((last += 1)).padStart(32, '0');
  /** The spans of a trace, when there are so many. */
  const spansOf = async (trace: string, count: number): Promise<ReceivedSpan[]> => {
    const found = (): ReceivedSpan[] => received.spans.filter(({ traceId }) => traceId === trace);
    await waitFor(() => found().length >= count, { timeoutMs: 20_000 });
    expect(found()).toHaveLength(count);
    return found();
  };

  it('is one trace through HTTP, express, undici, fetch, gRPC and Redis, and on every line of the log', async () => {
    const trace = newTrace();
    const before = received.spans.length;
    await get(`${service.url}/outer/1`, traceparent(trace));
    // Three requests with a span of HTTP and of express each, two calls out, gRPC on both sides, two commands.
    await spansOf(trace, 12);
    expect(received.spans).toHaveLength(before + 12);
    const [entry, ...others] = received.spans.filter(({ by, name }) => by === 'http' && name === 'GET /outer/:id');
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ kind: SERVER, parentSpanId: CALLER });
    const [handler] = received.childrenOf(entry, 'express');
    const outgoing = received.childrenOf(handler, 'undici');
    // One by the package, one by the built-in fetch.
    expect(outgoing.map(({ kind }) => kind)).toEqual([CLIENT, CLIENT]);
    for (const span of outgoing) {
      expect(received.childrenOf(span, 'http')).toMatchObject([{ kind: SERVER, name: 'GET /inner' }]);
    }
    const [callOut] = received.childrenOf(handler, 'grpc');
    expect(callOut).toMatchObject({ kind: CLIENT, name: 'grpc.parley.v1.RegistryService/GetAgent' });
    const [callIn] = received.childrenOf(callOut, 'grpc');
    expect(callIn).toMatchObject({ kind: SERVER, name: 'grpc.parley.v1.RegistryService/GetAgent' });
    expect(received.childrenOf(callIn, 'ioredis').map(({ name }) => name)).toEqual(['set', 'eval']);
    expect(logged(service, 'in the handler')).toMatchObject([{ trace_id: trace, span_id: handler?.spanId }]);
  });

  it('keeps its own store spans when several are served in the same moment', async () => {
    const traces = Array.from({ length: 8 }, newTrace);
    await Promise.all(traces.map((trace) => get(`${service.url}/store/${trace}`, traceparent(trace))));
    for (const trace of traces) {
      const spans = await spansOf(trace, 3);
      expect(spans.map(({ by }) => by).sort()).toEqual(['express', 'http', 'ioredis']);
    }
  });

  it('keeps its trace on every item of a stream', async () => {
    const trace = newTrace();
    await get(`${service.url}/stream`, traceparent(trace));
    await waitFor(() => logged(service, 'item').length === 3);
    expect(logged(service, 'item').map(({ item, trace_id }) => [item, trace_id])).toEqual(
      [0, 1, 2].map((item) => [item, trace]),
    );
  });

  it('that fails says why on its span, which the answer does not', async () => {
    const trace = newTrace();
    expect(await get(`${service.url}/fails`, traceparent(trace))).not.toContain('the cause of it');
    const events = (await spansOf(trace, 2)).flatMap((span) => span.events ?? []);
    const texts = events.flatMap(({ attributes }) => attributes.map(({ value }) => value.stringValue));
    expect(texts).toContain('the cause of it');
  });

  it('by a fast route is named like any other', async () => {
    const trace = newTrace();
    await get(`${service.url}/fast?x=1`, traceparent(trace));
    expect(await spansOf(trace, 1)).toMatchObject([{ by: 'http', name: 'GET /fast' }]);
  });

  it('leaves no secret in its trace', async () => {
    const trace = newTrace();
    const secrets = {
      Authorization: 'Bearer swordfish-header',
      'Parley-Join-Token': 'swordfish-header',
      Cookie: 'swordfish-header',
    };
    await get(`${service.url}/outer/1`, { ...secrets, ...traceparent(trace) });
    await spansOf(trace, 12);
    expect(received.requests.map(({ text }) => text).join('')).not.toContain('swordfish');
  });
});

describe('what is not traced', () => {
  let collector: Collector;

  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(() => collector.stop());

  it('health, metrics, watching, heartbeats in both directions, and what the service does by itself', async () => {
    const service = await start(collector.url, { HEARTBEATS: '1' });
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/watch'])
      await get(service.url + path, traceparent(TRACE));
    await fetch(`${service.url}/agents/a%20b/lease`, { method: 'PUT', headers: traceparent(TRACE) });
    const client = new grpc.Client(`127.0.0.1:${String(service.grpcPort)}`, grpc.credentials.createInsecure());
    await call(client, 'RenewLease', { agent_id: 'a' }, { metadata: traceparent(TRACE) });
    for await (const item of watch(client)) expect(item).toBeDefined();
    client.close();
    await flush(service);
    expect(collector.spans.map(({ by, name }) => `${by} ${name}`)).toEqual([]);
    expect(collector.requests).toEqual([]);
  });

  it.each([
    ['GET', '/healthz', true],
    ['GET', '/watch?after=1', true],
    ['PUT', '/agents/a/lease', true],
    ['PUT', '/agents/a/lease?x', true],
    ['DELETE', '/agents/a/lease', false],
    ['PUT', '/agents/a/b/lease', false],
    ['GET', '/agents/a', false],
    ['GET', '/discover', false],
    ['GET', '/healthz/x', false],
  ])('%s %s: %s', (method, url, expected) => {
    expect(isUntraced(method, url)).toBe(expected);
  });
});

describe('the environment', () => {
  let collector: Collector;

  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(() => collector.stop());

  it('names and describes the service, and sets when and in what portions spans are sent; nothing else is', async () => {
    const service = await start(collector.url, {
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.version=1.2.3',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
    });
    await get(`${service.url}/inner`);
    // They come by themselves, not with the end of the process.
    await waitFor(() => collector.spans.length === 2, { timeoutMs: 20_000 });
    expect(collector.requests.map(({ spanCount }) => spanCount)).toEqual([1, 1]);
    await flush(service);
    expect(collector.spans[0]?.resource).toMatchObject({
      'service.name': 'agent-a',
      'service.version': '1.2.3',
      'deployment.environment.name': 'test',
      'telemetry.sdk.language': 'nodejs',
    });
    expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  });

  it('gives a service without a name one', async () => {
    const service = await start(collector.url, { OTEL_SERVICE_NAME: undefined });
    await get(`${service.url}/inner`);
    await flush(service);
    expect(collector.spans[0]?.resource['service.name']).toBe('parley');
  });

  it('sets how many are kept', async () => {
    const service = await start(collector.url, { OTEL_TRACES_SAMPLER: 'always_off' });
    await get(`${service.url}/inner`);
    await flush(service);
    expect(collector.requests).toEqual([]);
  });

  it.each([
    ['names no collector', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined }],
    ['has a blank one, as compose files give it', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['switches it off', { OTEL_SDK_DISABLED: 'true' }],
    ['wants no traces', { OTEL_TRACES_EXPORTER: 'none' }],
  ])('that %s: nothing is loaded, sent or complained about', async (_, env) => {
    const service = await start(collector.url, env);
    await get(`${service.url}/outer/1`, traceparent(TRACE));
    await flush(service);
    expect(service.stdout).toContain('telemetry off');
    expect(service.stderr).toEqual([]);
    expect(collector.requests).toEqual([]);
    expect(logged(service, 'in the handler')[0]).not.toHaveProperty('trace_id');
  });
});

describe('a collector that is away', () => {
  it('does not hold up the end of the service, nor make it look failed', async () => {
    const silent = await startSilentListener();
    const service = await start(silent.url);
    await get(`${service.url}/inner`);
    const started = performance.now();
    await flush(service);
    // Three seconds for the last spans, and the other phases.
    expect(performance.now() - started).toBeLessThan(4_500);
    expect(silent.accepted).toBeGreaterThan(0);
  });

  it('is not complained about while the service runs', async () => {
    const service = await start('http://127.0.0.1:1', { OTEL_BSP_SCHEDULE_DELAY: '10' });
    for (let index = 0; index < 20; index += 1) await get(`${service.url}/inner`);
    await flush(service);
    expect(service.stderr).toEqual([]);
    expect(service.stdout.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
