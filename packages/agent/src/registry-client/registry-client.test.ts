import { AppError } from '@parley/service-kit';
import { freePort, onTestsEnd, startSilentListener } from '@parley/testkit';
import {
  startGrpcRegistry,
  startHttpRegistry,
  type Script,
  type ScriptedCall,
} from '../../test-support/scripted-registry.js';
import { grpcRegistryClient } from './grpc-registry-client.js';
import { httpRegistryClient } from './http-registry-client.js';
import type { RegistryClient } from './registry-client.js';
import type { WatchEvent } from './wire.js';

const signal = new AbortController().signal;
const LEASE = { ttl_seconds: 30, expires_at: '2030-01-01T00:00:00.000Z', renew_every_seconds: 10 };
const OWNER = 'owner-token-of-22-characters';

const agentB = {
  agent_id: 'agent_B',
  name: 'B',
  endpoint: 'http://b:1',
  capabilities: ['code_review'],
  capability_details: {
    code_review: { version: '1.2.0', parameters: { depth: { type: 'integer', maximum: 3, default: 1 } } },
  },
  labels: { region: 'eu' },
  lease: LEASE,
  revision: 7,
};
const terms = {
  initiator: 'agent_A',
  responder: 'agent_B',
  capabilities: [{ name: 'code_review', parameters: { depth: 2, fast: true, style: 'short' } }],
  lease: { ttl_seconds: 60, max_lifetime_seconds: 86_400 },
};
const agreement = {
  agreement_id: 'g1',
  session_id: 's1',
  state: 'active' as const,
  terms,
  terms_digest: `sha256:${'a'.repeat(43)}`,
  created_at: '2030-01-01T00:00:00.000Z',
  expires_at: '2030-01-01T00:01:00.000Z',
  lease_revision: 1,
  version: 2,
  calls_used: 3,
};

function clientOf(target: string, options: { timeoutMs?: number; joinToken?: string } = {}): RegistryClient {
  const shared = { random: () => 0, timeoutMs: 2_000, ...options };
  const client = target.startsWith('grpc') ? grpcRegistryClient(target, shared) : httpRegistryClient(target, shared);
  onTestsEnd(() => client.close());
  return client;
}

describe.each([
  ['HTTP', startHttpRegistry, 'http'],
  ['gRPC', startGrpcRegistry, 'grpc'],
] as const)('a registry over %s', (_, start, scheme) => {
  async function answering(
    answer: Script['answer'],
  ): Promise<{ client: RegistryClient; calls: readonly ScriptedCall[]; target: string }> {
    const { target, calls } = await start({ answer });
    return { client: clientOf(target), calls, target };
  }

  it('registers with owner and join token, and knows a replacement', async () => {
    const registry = await start({
      answer: ({ bearer }) => ({ agent_id: 'agent_B', lease: LEASE, revision: 7, replaced: bearer === OWNER }),
    });
    const client = clientOf(registry.target, { joinToken: 'join' });
    const manifest = {
      agent_id: 'agent_B',
      name: 'B',
      endpoint: 'http://b:1',
      capabilities: ['x'],
      metadata: { deep: [1, { a: null }] },
    };
    expect(await client.register(manifest, { signal, ownerToken: OWNER })).toEqual({
      agent_id: 'agent_B',
      lease: LEASE,
      revision: 7,
      replaced: true,
    });
    expect((await client.register(manifest, { signal })).replaced).toBe(false);
    expect(registry.calls[0]).toMatchObject({
      method: 'register',
      input: { manifest },
      bearer: OWNER,
      joinToken: 'join',
    });
    expect(registry.calls[1]?.bearer).toBeUndefined();
  });

  it('renews, deregisters, and tells an unknown lease from a store that is away', async () => {
    let error: AppError | undefined;
    const { client, calls } = await answering(({ method }) => {
      if (error !== undefined) throw error;
      return method === 'deregister' ? {} : { lease: LEASE };
    });
    expect(await client.renew('agent_B', { signal, ownerToken: OWNER })).toEqual(LEASE);
    await client.deregister('agent_B', { signal, ownerToken: OWNER });
    expect(calls.map(({ method, input, bearer }) => [method, input['agent_id'], bearer])).toEqual([
      ['renewLease', 'agent_B', OWNER],
      ['deregister', 'agent_B', OWNER],
    ]);
    error = new AppError('not_found', 'unknown', { code: 'lease_unknown' });
    await expect(client.renew('agent_B', { signal, ownerToken: OWNER })).rejects.toMatchObject({
      reason: 'not_found',
      code: 'lease_unknown',
    });
    error = new AppError('unavailable', 'away', { code: 'store_unavailable', retryAfterSeconds: 3 });
    await expect(client.renew('agent_B', { signal, ownerToken: OWNER })).rejects.toMatchObject({
      reason: 'unavailable',
      code: 'store_unavailable',
      retryAfterSeconds: 3,
    });
    error = new AppError('invalid_request', 'wrong', { errors: [{ path: 'a[1]', message: 'm' }] });
    await expect(client.renew('agent_B', { signal, ownerToken: OWNER })).rejects.toMatchObject({
      errors: [{ path: 'a[1]', message: 'm' }],
    });
  });

  it('discovers, lists and gets', async () => {
    const { client, calls } = await answering(({ method }) =>
      method === 'getAgent'
        ? { agent: agentB, stale_since: LEASE.expires_at }
        : { agents: [agentB], next_cursor: 'c', ...(method === 'listAgents' ? { total: 5 } : {}) },
    );
    const found = await client.discover(['code_review@>=1 <2', 'x'], {
      signal,
      labels: { region: 'eu' },
      exclude: ['agent_A'],
      limit: 5,
      order: 'random',
      explain: true,
    });
    expect(found).toMatchObject({ agents: [agentB], next_cursor: 'c' });
    expect(calls[0]?.input).toEqual({
      required_capabilities: ['code_review@>=1 <2', 'x'],
      labels: { region: 'eu' },
      exclude: ['agent_A'],
      limit: 5,
      order: 'random',
      explain: true,
    });
    expect(await client.list({ signal })).toMatchObject({ agents: [agentB], total: 5 });
    expect(await client.get('agent_B', { signal })).toMatchObject({ agent: agentB, stale_since: LEASE.expires_at });
  });

  it('discovers with a query that is too long for a line', async () => {
    const { client, calls } = await answering(() => ({ agents: [] }));
    const exclude = Array.from({ length: 500 }, (__, index) => `agent-${String(index)}`);
    await client.discover(['x'], { signal, exclude });
    expect(calls[0]?.input).toMatchObject({ required_capabilities: ['x'], exclude });
  });

  it('brokers a negotiation and takes a report', async () => {
    const { client, calls } = await answering(({ method }) =>
      method === 'reportAgreement'
        ? { agreement_id: 'g1', recorded: true }
        : {
            session_id: 's1',
            accepted: true,
            parameters: { depth: 2 },
            outcome: 'accepted',
            agreement,
            round: 1,
            max_rounds: 4,
            responder: { agent_id: 'agent_B', endpoint: 'http://b:1' },
            attempts: [{ agent_id: 'agent_C', outcome: 'timeout', duration_ms: 5 }],
          },
    );
    const request = {
      session_id: 's1',
      agent_id: 'agent_A',
      capabilities: ['code_review'],
      parameters: { depth: 2 },
      max_candidates: 3,
    };
    const answer = await client.brokerNegotiation(request, { signal });
    expect(answer).toMatchObject({
      accepted: true,
      outcome: 'accepted',
      agreement,
      responder: { agent_id: 'agent_B' },
      attempts: [{ agent_id: 'agent_C', outcome: 'timeout' }],
    });
    expect(calls[0]?.input).toEqual(request);
    expect(await client.reportAgreement(agreement, { signal, ownerToken: OWNER })).toEqual({
      agreement_id: 'g1',
      recorded: true,
    });
    expect(calls[1]).toMatchObject({ input: { agreement }, bearer: OWNER });
  });

  it('ends each call at its deadline or by its signal, and says when nobody listens', async () => {
    const silent = await startSilentListener();
    const client = clientOf(`${scheme}://127.0.0.1:${String(silent.port)}`);
    await expect(client.get('x', { signal, timeoutMs: 100 })).rejects.toMatchObject({ code: 'peer_timeout' });
    const giveUp = new AbortController();
    const call = client.get('x', { signal: giveUp.signal });
    giveUp.abort();
    await expect(call).rejects.toMatchObject({ reason: 'cancelled' });
    const nobody = clientOf(`${scheme}://127.0.0.1:${String(await freePort())}`);
    await expect(nobody.get('x', { signal })).rejects.toMatchObject({
      reason: 'unavailable',
      code: 'peer_unreachable',
    });
  });

  it('has several doors: one that is away is passed over, a refusal is not', async () => {
    const dead = `${scheme}://127.0.0.1:${String(await freePort())}`;
    const sick = await start({
      answer: () => {
        throw new AppError('unavailable', 'away', { code: 'store_unavailable' });
      },
    });
    const good = await start({
      answer: ({ method }) => (method === 'brokerNegotiation' ? { session_id: 's' } : { agents: [] }),
    });
    const client = clientOf(`${dead}, ${sick.target},${good.target}/`);
    expect(await client.discover(['x'], { signal })).toMatchObject({ agents: [] });
    await client.discover(['x'], { signal });
    // The door that answered last is asked first.
    expect([sick.calls.length, good.calls.length]).toEqual([1, 2]);

    // A brokered negotiation may have begun behind a door that answered at all.
    const careful = clientOf(`${dead},${sick.target},${good.target}`);
    const request = { session_id: 's', agent_id: 'a', capabilities: ['x'] };
    await expect(careful.brokerNegotiation(request, { signal })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(good.calls.length).toBe(2);
  });

  it('watches: resumes after the last revision, passes nothing twice, begins anew after half a snapshot', async () => {
    const event = (type: string, revision: number, more: object = {}): Record<string, unknown> => ({
      type,
      revision,
      at: LEASE.expires_at,
      ...more,
    });
    const connections: Record<string, unknown>[][] = [
      [event('snapshot', 5, { agents: [agentB], complete: false })],
      [
        event('snapshot', 5, { agents: [agentB], complete: true }),
        event('registered', 6, { agent_id: 'agent_B', agent: agentB }),
      ],
      [event('registered', 6, { agent_id: 'agent_B', agent: agentB }), event('expired', 7, { agent_id: 'agent_B' })],
      [
        event('resync', 9, { reason: 'too_old' }),
        event('snapshot', 9, { agents: [], complete: true }),
        event('agreed', 10, { agreement }),
      ],
    ];
    const stop = new AbortController();
    const registry = await start({
      answer: () => ({}),
      watch: async function* (__, closed) {
        const events = connections.shift();
        yield* events ?? [];
        if (connections.length > 0) return;
        await new Promise((resolve) => {
          closed.addEventListener('abort', resolve);
        });
      },
    });
    const seen: WatchEvent[] = [];
    const ups: boolean[] = [];
    const watch = clientOf(registry.target).watch({
      signal: stop.signal,
      agentIds: ['agent_B', 'agent_C'],
      onConnection: (up) => ups.push(up),
    });
    for await (const item of watch) {
      seen.push(item);
      if (item.type === 'agreed') stop.abort();
    }
    expect(seen.map(({ type, revision }) => `${type} ${String(revision)}`)).toEqual([
      'snapshot 5',
      'snapshot 5',
      'registered 6',
      'expired 7',
      'resync 9',
      'snapshot 9',
      'agreed 10',
    ]);
    expect(seen[2]?.agent).toMatchObject(agentB);
    expect(seen.at(-1)?.agreement).toMatchObject(agreement);
    expect(registry.calls.map(({ input }) => input['after_revision'])).toEqual([undefined, undefined, 6, 7]);
    expect(registry.calls[0]?.input['agent_ids']).toEqual(['agent_B', 'agent_C']);
    expect(ups).toEqual([true, false, true, false, true, false, true]);
  });

  it('goes on watching behind another door', async () => {
    const dead = `${scheme}://127.0.0.1:${String(await freePort())}`;
    const good = await start({
      answer: () => ({}),
      watch: async function* () {
        yield await Promise.resolve({ type: 'snapshot', revision: 1, complete: true });
      },
    });
    const stop = new AbortController();
    for await (const { type } of clientOf(`${dead},${good.target}`).watch({ signal: stop.signal })) {
      expect(type).toBe('snapshot');
      stop.abort();
    }
    expect(good.calls).toHaveLength(1);
  });
});

it('a watch over HTTP that falls silent is opened anew', async () => {
  const registry = await startHttpRegistry({
    answer: () => ({}),
    watch: async function* (_, closed) {
      yield { type: 'snapshot', revision: 3, complete: true };
      await new Promise((resolve) => {
        closed.addEventListener('abort', resolve);
      });
    },
  });
  const client = httpRegistryClient(registry.target, { watchSilenceMs: 80, random: () => 0 });
  const stop = new AbortController();
  const lost: unknown[] = [];
  const watch = client.watch({
    signal: stop.signal,
    onConnection: (up, cause) => {
      if (!up) lost.push(cause);
    },
  });
  for await (const event of watch) {
    expect(event.type).toBe('snapshot');
    if (lost.length === 1) stop.abort();
  }
  expect(lost).toMatchObject([{ code: 'peer_timeout' }]);
  expect(registry.calls[1]?.input['after_revision']).toBe(3);
  await client.close();
});

it('names a URL that is none', () => {
  expect(() => httpRegistryClient('registry:8000')).toThrow(/registry:8000/);
  expect(() => httpRegistryClient(' , ')).toThrow(expect.objectContaining({ code: 'registry_missing' }));
});
