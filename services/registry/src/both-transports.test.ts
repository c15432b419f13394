import { accepted as success, refused as failure, type Wire } from '@parley/testkit';
import { startRegistry, type RunningRegistry } from './testing/start-registry.js';
import { overGrpc, overHttp } from './testing/wires.js';

const TOKEN = 'owner-token-of-the-test-suite';
let registry: RunningRegistry;
let counter = 0;

beforeAll(async () => {
  registry = await startRegistry({ REGISTRY_OPERATOR_TOKEN: 'operator-token-of-the-suite' });
});
afterAll(() => registry.stop());

function manifest(fields: Record<string, unknown> = {}): Record<string, unknown> {
  counter += 1;
  const agentId = `agent-${String(counter)}`;
  return { agent_id: agentId, name: agentId, endpoint: 'http://127.0.0.1:9', capabilities: ['translate'], ...fields };
}

const ids = (body: Record<string, unknown>): string[] =>
  ((body['agents'] as { agent_id: string }[] | undefined) ?? []).map(({ agent_id }) => agent_id);

describe.each<[string, () => Wire]>([
  ['HTTP/JSON', () => overHttp(registry)],
  ['gRPC', () => overGrpc(registry)],
])('the registry over %s', (_name, connect) => {
  let wire: Wire;
  beforeAll(() => {
    wire = connect();
  });
  afterAll(() => {
    wire.close();
  });

  it('registers an agent under a lease and hands out its owner token once', async () => {
    const body = success(await wire.call('Register', manifest({ ttl_seconds: 60 })));
    expect(body['owner_token']).toMatch(/^[\w-]{43}$/);
    expect(body['lease']).toMatchObject({ ttl_seconds: 60, renew_every_seconds: 20 });
    expect(Date.parse((body['lease'] as { expires_at: string }).expires_at)).toBeGreaterThan(Date.now());
  });

  it('takes the bearer of a first registration as the owner token and returns none', async () => {
    const agent = manifest();
    const body = success(await wire.call('Register', agent, { bearer: TOKEN }));
    expect(body).not.toHaveProperty('owner_token');
    const again = success(await wire.call('Register', { ...agent, name: 'renamed' }, { bearer: TOKEN }));
    expect(again['replaced']).toBe(true);
    const read = success(await wire.call('GetAgent', { agent_id: agent['agent_id'] }));
    expect((read['agent'] as { name: string }).name).toBe('renamed');
  });

  it('refuses a living id to anybody but its owner', async () => {
    const agent = manifest();
    success(await wire.call('Register', agent, { bearer: TOKEN }));
    expect(failure(await wire.call('Register', agent))).toMatchObject({ status: 409, code: 'agent_id_taken' });
    expect(failure(await wire.call('Register', agent, { bearer: 'another-token-of-22-characters' }))).toMatchObject({
      status: 409,
    });
  });

  it('finds only agents that have all capabilities, in a compatible version', async () => {
    const unique = `cap-${String((counter += 1))}`;
    const old = manifest({ capabilities: [unique, 'x'], capability_details: { [unique]: { version: '1.4.0' } } });
    const recent = manifest({ capabilities: [unique], capability_details: { [unique]: { version: '2.1.0' } } });
    await wire.call('Register', old);
    await wire.call('Register', recent);
    expect(ids(success(await wire.call('Discover', { required_capabilities: [unique] })))).toHaveLength(2);
    expect(ids(success(await wire.call('Discover', { required_capabilities: [unique, 'x'] })))).toEqual([
      old['agent_id'],
    ]);
    expect(ids(success(await wire.call('Discover', { required_capabilities: [`${unique}@^2`] })))).toEqual([
      recent['agent_id'],
    ]);
    expect(ids(success(await wire.call('Discover', { required_capabilities: ['nobody-can-this'] })))).toEqual([]);
  });

  it('explains who did not match', async () => {
    const unique = `cap-${String((counter += 1))}`;
    const agent = manifest({ capabilities: [unique] });
    await wire.call('Register', agent);
    const body = success(await wire.call('Discover', { required_capabilities: [unique, 'more'], explain: true }));
    expect(body['near_misses']).toEqual(
      expect.arrayContaining([expect.objectContaining({ agent_id: agent['agent_id'], missing: ['more'] })]),
    );
  });

  it('gives every agent exactly once over pages', async () => {
    const unique = `cap-${String((counter += 1))}`;
    const wanted: unknown[] = [];
    for (let i = 0; i < 7; i += 1) {
      const agent = manifest({ capabilities: [unique] });
      wanted.push(agent['agent_id']);
      await wire.call('Register', agent);
    }
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const body = success(
        await wire.call('Discover', {
          required_capabilities: [unique],
          limit: 3,
          ...(cursor === undefined ? {} : { cursor }),
        }),
      );
      seen.push(...ids(body));
      cursor = body['next_cursor'];
    } while (cursor !== undefined);
    expect(seen.sort()).toEqual(wanted.sort());
  });

  it('renews a lease for its owner and nobody else, and never revives', async () => {
    const agent = manifest({ ttl_seconds: 30 });
    await wire.call('Register', agent, { bearer: TOKEN });
    const key = { agent_id: agent['agent_id'] };
    expect(success(await wire.call('RenewLease', key, { bearer: TOKEN }))['lease']).toMatchObject({ ttl_seconds: 30 });
    expect(failure(await wire.call('RenewLease', key))).toMatchObject({ status: 401, code: 'token_required' });
    expect(failure(await wire.call('RenewLease', key, { bearer: 'another-token-of-22-characters' }))).toMatchObject({
      status: 403,
    });
    success(await wire.call('Deregister', key, { bearer: TOKEN }));
    expect(failure(await wire.call('RenewLease', key, { bearer: TOKEN }))).toMatchObject({
      status: 404,
      code: 'lease_unknown',
    });
  });

  it('lets the owner and the operator remove, says 401, 403 and 404 to others', async () => {
    const agent = manifest();
    const key = { agent_id: agent['agent_id'] };
    await wire.call('Register', agent, { bearer: TOKEN });
    expect(failure(await wire.call('Deregister', key))).toMatchObject({ status: 401 });
    expect(failure(await wire.call('Deregister', key, { bearer: 'another-token-of-22-characters' }))).toMatchObject({
      status: 403,
    });
    success(await wire.call('Deregister', key, { bearer: 'operator-token-of-the-suite' }));
    expect(failure(await wire.call('GetAgent', key))).toMatchObject({ status: 404, code: 'agent_unknown' });
    expect(failure(await wire.call('Deregister', key, { bearer: TOKEN }))).toMatchObject({ status: 404 });
  });

  it('answers no_candidates as a decline, not as an error', async () => {
    const body = success(
      await wire.call('BrokerNegotiation', {
        session_id: `s-${String(counter)}`,
        agent_id: 'caller',
        capabilities: ['nobody-can-this'],
      }),
    );
    expect(body).toMatchObject({ outcome: 'declined', reason: { code: 'no_candidates' } });
  });

  it('lists every living agent with a total', async () => {
    const body = success(await wire.call('ListAgents', { limit: 1 }));
    expect(ids(body)).toHaveLength(1);
    expect(body['total']).toBeGreaterThan(1);
    expect(body['next_cursor']).toEqual(expect.any(String));
  });
});

describe('both transports', () => {
  const wrong: readonly [string, Record<string, unknown>][] = [
    ['Register', { name: 'x', endpoint: 'http://x', capabilities: ['a'] }],
    ['Register', { agent_id: 'a b', name: '', endpoint: 'nope', capabilities: ['ok', 'not ok'] }],
    ['Register', { agent_id: 'a', name: 'a', endpoint: 'http://x', capabilities: ['a'], ttl_seconds: 4_000 }],
    [
      'Register',
      {
        agent_id: 'a',
        name: 'a',
        endpoint: 'http://x',
        capabilities: ['a'],
        capability_details: { b: { version: '1.0.0' } },
      },
    ],
    ['Discover', { required_capabilities: [] }],
    ['Discover', { required_capabilities: [''] }],
    ['Discover', { required_capabilities: ['a@nope'] }],
    ['Discover', { required_capabilities: ['a'], order: 'sideways' }],
    ['Discover', { required_capabilities: ['a'], cursor: 'broken' }],
    ['Discover', { required_capabilities: ['a'], limit: 0 }],
    ['GetAgent', { agent_id: '-' }],
    ['BrokerNegotiation', { session_id: '', agent_id: 'x', capabilities: ['a'] }],
    ['BrokerNegotiation', { session_id: 's', agent_id: 'x', capabilities: ['a'], max_candidates: 9 }],
    ['BrokerNegotiation', { session_id: 's', agent_id: 'x', capabilities: ['a'], target_agent_id: 'unknown-agent' }],
    ['GetWitnessedAgreement', { agreement_id: 'unknown' }],
  ];

  it.each(wrong)('refuse in the same words: %s %j', async (operation, input) => {
    const http = overHttp(registry);
    const rpc = overGrpc(registry);
    try {
      const overHttp = failure(await http.call(operation, input));
      const overGrpc = failure(await rpc.call(operation, input));
      // The binary form has no empty text: what is blank there is absent here, so the sentences may differ.
      expect({ ...overGrpc, detail: '' }).toEqual({ ...overHttp, detail: '' });
      if (overHttp.status === 400) expect(overHttp.paths.length).toBeGreaterThan(0);
    } finally {
      rpc.close();
    }
  });
});
