import { RegistryService, type WatchResponse } from '@parley/proto';
import { serviceDefinition } from '@parley/service-kit';
import * as grpc from '@grpc/grpc-js';
import { startRegistry, type RunningRegistry } from './testing/start-registry.js';

interface WatchEvent {
  readonly type: string;
  readonly revision: number;
  readonly agentId: string | undefined;
}

/** Reads events until enough have come; the deadline is the test's. */
interface Watcher {
  take(count: number): Promise<readonly WatchEvent[]>;
  close(): void;
}

async function overSse(registry: RunningRegistry, query = '', lastEventId?: number): Promise<Watcher> {
  const leave = new AbortController();
  const response = await fetch(`${registry.httpUrl}/watch${query}`, {
    signal: leave.signal,
    headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const pending: WatchEvent[] = [];
  const readMore = async (): Promise<void> => {
    const { value, done } = await reader.read();
    if (done) throw new Error('the stream ended');
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      const {
        type,
        revision,
        agent_id: agentId,
      } = JSON.parse(data) as { type: string; revision: number; agent_id?: string };
      expect(/^event: (.*)$/m.exec(block)?.[1]).toBe(type);
      pending.push({ type, revision, agentId });
    }
  };
  return {
    take: async (count) => {
      while (pending.length < count) await readMore();
      return pending.splice(0, count);
    },
    close: () => {
      leave.abort();
    },
  };
}

function overGrpc(
  registry: RunningRegistry,
  request: Partial<WatchResponse> & { afterRevision?: number; agentIds?: string[] } = {},
): Watcher {
  const Client = grpc.makeGenericClientConstructor(serviceDefinition(RegistryService), 'registry');
  const client = new Client(registry.grpcTarget, grpc.credentials.createInsecure());
  const open = (client as unknown as Record<string, (message: unknown) => grpc.ClientReadableStream<WatchResponse>>)[
    'watch'
  ];
  const stream = open?.call(client, { $typeName: 'parley.v1.WatchRequest', agentIds: [], ...request });
  if (stream === undefined) throw new Error('no method');
  stream.on('error', () => undefined);
  const items = stream[Symbol.asyncIterator]() as AsyncIterator<WatchResponse>;
  return {
    take: async (count) => {
      const out: WatchEvent[] = [];
      while (out.length < count) {
        const { value, done } = await items.next();
        if (done === true) throw new Error('the stream ended');
        out.push({ type: value.type, revision: value.revision, agentId: value.agentId });
      }
      return out;
    },
    close: () => {
      stream.cancel();
      client.close();
    },
  };
}

const TOKEN = 'owner-token-of-the-test-suite';
let registry: RunningRegistry;
beforeAll(async () => {
  registry = await startRegistry({ REGISTRY_MAX_WATCHERS: '4' });
});
afterAll(() => registry.stop());

async function register(agentId: string, ttlSeconds = 60): Promise<void> {
  const body = {
    agent_id: agentId,
    name: agentId,
    endpoint: 'http://127.0.0.1:9',
    capabilities: ['a'],
    ttl_seconds: ttlSeconds,
  };
  const response = await fetch(`${registry.httpUrl}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
}

async function deregister(agentId: string): Promise<void> {
  await fetch(`${registry.httpUrl}/agents/${agentId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
}

describe('watching the registry', () => {
  it('gives a snapshot and then the same events in the same order over both transports', async () => {
    const sse = await overSse(registry);
    const rpc = overGrpc(registry);
    expect((await sse.take(1))[0]).toMatchObject({ type: 'snapshot' });
    expect((await rpc.take(1))[0]).toMatchObject({ type: 'snapshot' });
    await register('w1');
    await register('w1');
    await register('w2', 1);
    await deregister('w1');
    const [overHttp, overRpc] = [await sse.take(5), await rpc.take(5)];
    expect(overHttp.map(({ type, agentId }) => `${type} ${agentId ?? ''}`)).toEqual([
      'registered w1',
      'updated w1',
      'registered w2',
      'deregistered w1',
      'expired w2',
    ]);
    expect(overRpc).toEqual(overHttp);
    sse.close();
    rpc.close();
  });

  it('gives a large snapshot in pieces, of which only the last can be resumed from', async () => {
    for (let i = 0; i < 205; i += 1) await register(`piece-${String(i).padStart(3, '0')}`);
    const response = await fetch(`${registry.httpUrl}/watch`);
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"complete":true')) text += (await reader.read()).value ?? '';
    await reader.cancel();
    const blocks = text.split('\n\n').filter((block) => block.startsWith('event: snapshot'));
    expect(blocks.map((block) => /^id: /m.test(block))).toEqual([false, false, true]);
    const agents = blocks.flatMap((block) => {
      const { agents: piece } = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as {
        agents: { agent_id: string }[];
      };
      return piece.map(({ agent_id: id }) => id).filter((id) => id.startsWith('piece-'));
    });
    expect(new Set(agents).size).toBe(205);
    for (let i = 0; i < 205; i += 1) await deregister(`piece-${String(i).padStart(3, '0')}`);
  });

  it('resumes after a revision: nothing lost, nothing twice', async () => {
    const first = await overSse(registry);
    const [snapshot] = await first.take(1);
    first.close();
    await register('r1');
    await register('r2');
    const resumed = await overSse(registry, '', snapshot?.revision);
    const missed = await resumed.take(2);
    expect(missed.map(({ agentId }) => agentId)).toEqual(['r1', 'r2']);
    const rpc = overGrpc(registry, { afterRevision: missed[0]?.revision ?? 0 });
    expect((await rpc.take(1))[0]).toEqual(missed[1]);
    resumed.close();
    rpc.close();
  });

  it('says resync and gives a new snapshot to a reader that was away too long', async () => {
    const late = await overSse(registry, '', 1);
    expect((await late.take(2)).map(({ type }) => type)).toEqual(['resync', 'snapshot']);
    late.close();
  });

  it('gives only the events of the agents that were asked for', async () => {
    const sse = await overSse(registry, '?agent_ids=only-this');
    await sse.take(1);
    await register('not-this');
    await register('only-this');
    expect(await sse.take(1)).toEqual([expect.objectContaining({ type: 'registered', agentId: 'only-this' })]);
    sse.close();
  });

  it('refuses more watchers than configured with 503, and takes new ones when others left', async () => {
    const watchers = await Promise.all([1, 2, 3, 4].map(() => overSse(registry)));
    const refused = await fetch(`${registry.httpUrl}/watch`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ code: 'too_many_watchers' });
    for (const watcher of watchers) watcher.close();
    let status = 503;
    while (status === 503) {
      const leave = new AbortController();
      ({ status } = await fetch(`${registry.httpUrl}/watch`, { signal: leave.signal }));
      leave.abort();
    }
    expect(status).toBe(200);
  });
});
