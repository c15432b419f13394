import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, agreementCall, connectA2a, type AgreementHandle } from '@parley/agent';
import { NegotiationService } from '@parley/proto';
import {
  accepted,
  endEverything,
  eventually,
  freePort,
  grpcWire,
  watchEvents,
  type WatchedEvents,
} from '@parley/testkit';
import { discover, get, propose, register } from './support/http.js';
import { startProxy, type Proxy, type StartProxyOptions } from './support/proxy.js';
import { START_MS, startRegistry, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const ONE = 'token-of-the-first-driver-012345';
const OTHER = 'token-of-another-driver-012345678';

let registry: Service;
let watch: WatchedEvents;
let folder: string;
const agents = new Set<Agent>();

beforeAll(async () => {
  registry = await startRegistry();
  watch = await watchEvents(registry.url);
}, START_MS);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-member-'));
});
afterEach(async () => {
  await Promise.all([...agents].map((agent) => agent.stop()));
  agents.clear();
  await Promise.all([...proxies].map((proxy) => proxy.stop()));
  proxies.clear();
  await rm(folder, { recursive: true, force: true });
});
afterAll(endEverything, 30_000);

const proxies = new Set<Proxy>();

async function start(id: string, options: Partial<StartProxyOptions> = {}): Promise<Proxy> {
  const env = { PROXY_REGISTRY_URL: registry.url, PROXY_AGENT_ID: id, PROXY_TTL_SECONDS: '2', ...options.env };
  const proxy = await startProxy({ folder, ...options, env });
  proxies.add(proxy);
  return proxy;
}

async function driver(agentId: string): Promise<Agent> {
  const agent = new Agent({
    manifest: { agentId, endpoint: 'http://127.0.0.1:9', capabilities: ['drive'], ttlSeconds: 2 },
  });
  agents.add(agent);
  await agent.register(registry.url);
  return agent;
}

/** What a driver shows with its claim. */
function shown(agreement: AgreementHandle): Record<string, string> {
  return { ...agreementCall(agreement).headers, 'parley-agreement-id': agreement.agreementId };
}

const about = (type: string, agentId: string) => (event: { type: string; agentId: string | undefined }) =>
  event.type === type && event.agentId === agentId;

const aboutAgreement =
  (type: string, agreementId: string) =>
  (event: { type: string; data: Readonly<Record<string, unknown>> }): boolean =>
    event.type === type && (event.data['agreement'] as { agreement_id: string }).agreement_id === agreementId;

describe('a proxy at a registry', () => {
  it('is found as playable, by the name of its pod, and leaves when it is stopped', async () => {
    const proxy = await start('', { env: { PROXY_AGENT_ID: '', POD_NAME: 'proxy-7', HOSTNAME: 'elsewhere' } });
    expect(await discover(registry.url, 'playable@^1.0.0')).toEqual(['proxy-7']);
    const { body } = await get(`${registry.url}/agents/proxy-7`);
    expect(body).toMatchObject({
      endpoint: proxy.url,
      labels: { shell: 'on' },
      capability_details: { playable: { version: '1.0.0', parameters: { exclusive: { type: 'boolean' } } } },
    });
    const interfaces = body.interfaces as { protocol: string; version: string; url: string }[];
    expect(interfaces).toContainEqual({ protocol: 'agentenv-proxy', version: 'v1', url: `${proxy.url}/ext/proxy` });
    expect((await proxy.stop()).code).toBe(0);
    await watch.waitFor(about('deregistered', 'proxy-7'));
  });

  it('is gone a lease after it was killed', async () => {
    const proxy = await start('proxy-killed');
    proxy.kill('SIGKILL');
    await watch.waitFor(about('expired', 'proxy-killed'));
    expect(await discover(registry.url, 'playable')).toEqual([]);
  });

  it('serves without one that is away, is not ready, and registers as soon as it is there', async () => {
    const port = await freePort();
    const away = { PROXY_REGISTRY_URL: `http://127.0.0.1:${port}` };
    const proxy = await start('proxy-early', { env: away, ready: false });
    const readiness = await get(`${proxy.url}/readyz`);
    expect([readiness.status, readiness.body.checks.registry]).toEqual([503, 'not registered']);
    expect((await get(`${proxy.url}/healthz`)).status).toBe(200);
    expect((await get(`${proxy.url}/health`)).body).toEqual({ status: 'ok' });
    expect((await proxy.drive('claim', { token: ONE })).status).toBe(200);
    const late = await startRegistry({ httpPort: port });
    await eventually(async () => expect((await get(`${proxy.url}/readyz`)).status).toBe(200), { timeoutMs: 15_000 });
    await proxy.stop();
    await late.stop();
  });

  it('negotiates over gRPC as well', async () => {
    const proxy = await start('proxy-grpc');
    const wire = grpcWire(`127.0.0.1:${proxy.grpcPort}`, [NegotiationService]);
    const request = { session_id: 's-1', agent_id: 'driver', capabilities: ['playable'] };
    expect(accepted(await wire.call('Negotiate', request))).toMatchObject({
      accepted: true,
      parameters: { exclusive: true },
    });
    wire.close();
  });
});

describe('an exclusive agreement', () => {
  it('is one driver’s at a time: the next one gets another proxy, or is told why it gets none', async () => {
    await Promise.all([start('proxy-a'), start('proxy-b')]);
    const [first, second, third] = [await driver('driver-1'), await driver('driver-2'), await driver('driver-3')];
    const one = await first.negotiateFirst(registry.url, ['playable'], { exclusive: true });
    const two = await second.negotiateFirst(registry.url, ['playable'], { exclusive: true });
    expect([one.agreement.agentId, two.agreement.agentId].sort()).toEqual(['proxy-a', 'proxy-b']);
    expect(one.agreement.parametersOf('playable')).toEqual({ exclusive: true });
    expect(await third.negotiate(one.agreement.endpoint, ['playable'], { exclusive: true })).toMatchObject({
      accepted: false,
      outcome: 'declined',
      reason: { code: 'capacity', detail: 'This proxy is played exclusively under another agreement.' },
    });
    await one.agreement.end('completed');
    const again = await third.negotiateFirst(registry.url, ['playable']);
    expect(again.agreement.agentId).toBe(one.agreement.agentId);
  });

  it('is what its driver claims with; the end frees the proxy and leaves open turns to the next driver', async () => {
    const proxy = await start('proxy-claimed');
    const first = await driver('driver-1');
    const { agreement } = await first.negotiateFirst(registry.url, ['playable']);
    expect(await proxy.drive('claim', { token: OTHER })).toMatchObject({
      status: 409,
      body: 'this proxy is already claimed',
    });
    expect((await proxy.drive('claim', { token: ONE }, shown(agreement))).status).toBe(200);
    expect((await proxy.drive('claim', { token: OTHER })).status).toBe(409);
    const [played, open] = [await proxy.send('play this', 'c-1'), await proxy.send('leave this', 'c-2')];
    await proxy.drive('next', { token: ONE, after: 1 });
    expect((await proxy.drive('reply', { token: ONE, task_id: played, parts: [{ text: 'done' }] })).status).toBe(200);

    await agreement.end('completed');
    await eventually(async () => {
      expect((await proxy.drive('next', { token: ONE })).status).toBe(401);
    });
    expect(await proxy.drive('claim', { token: ONE }, {})).toMatchObject({
      status: 200,
    });
    const { body } = await proxy.drive('next', { token: ONE });
    expect(body).toMatchObject({ turns: [{ task_id: open }] });
  });

  it('whose driver is lost runs out, and its claim with it', async () => {
    const proxy = await start('proxy-left');
    const { body } = await propose(proxy.url, {
      agent_id: 'lost',
      capabilities: ['playable'],
      agreement_ttl_seconds: 5,
    });
    const headers = {
      'parley-agreement-id': body.agreement.agreement_id as string,
      'parley-agreement-proof': body.agreement_proof as string,
    };
    expect((await proxy.drive('claim', { token: ONE }, headers)).status).toBe(200);
    await watch.waitFor(aboutAgreement('ended', headers['parley-agreement-id']), 15_000);
    await eventually(async () => expect((await proxy.drive('claim', { token: OTHER })).status).toBe(200));
    expect(await proxy.drive('claim', { token: ONE }, headers)).toMatchObject({
      status: 409,
      body: 'the agreement has ended: expired',
    });
  });

  it('whose driver is gone from the registry is suspended with its claim, and ends with it', async () => {
    const proxy = await start('proxy-ghost');
    await register(registry.url, { agent_id: 'ghost', ttl_seconds: 2 });
    const { body } = await propose(proxy.url, {
      agent_id: 'ghost',
      capabilities: ['playable'],
      agreement_ttl_seconds: 5,
    });
    const { agreement_id: id } = body.agreement as { agreement_id: string };
    const headers = { 'parley-agreement-id': id, 'parley-agreement-proof': body.agreement_proof as string };
    expect((await proxy.drive('claim', { token: ONE }, headers)).status).toBe(200);
    await watch.waitFor(aboutAgreement('suspended', id), 10_000);
    expect((await proxy.drive('next', { token: ONE })).status).toBe(200);
    expect((await proxy.drive('claim', { token: OTHER })).status).toBe(409);
    await watch.waitFor(aboutAgreement('ended', id), 15_000);
    await eventually(async () => expect((await proxy.drive('claim', { token: OTHER })).status).toBe(200));
  });

  it('of a process that was stopped claims nothing in the next one, where a claim by a token alone lives on', async () => {
    const options = { httpPort: await freePort(), env: { PROXY_STATE_DIR: join(folder, 'state') } };
    const proxy = await start('proxy-stopped', options);
    const first = await driver('driver-1');
    const { agreement } = await first.negotiateFirst(registry.url, ['playable']);
    await proxy.drive('claim', { token: ONE }, shown(agreement));
    expect((await proxy.stop()).code).toBe(0);

    const second = await start('proxy-stopped', options);
    expect((await second.drive('claim', { token: OTHER })).status).toBe(200);
    expect((await second.stop()).code).toBe(0);
    const third = await start('proxy-stopped', options);
    expect((await third.drive('next', { token: OTHER })).status).toBe(200);
    expect((await third.drive('claim', { token: ONE })).status).toBe(409);
  });

  it('of a process that was killed claims nothing in the next one, and open turns go on', async () => {
    const [httpPort, state] = [await freePort(), join(folder, 'state')];
    const options = { httpPort, env: { PROXY_STATE_DIR: state } };
    const proxy = await start('proxy-killed-2', options);
    const first = await driver('driver-1');
    const { agreement } = await first.negotiateFirst(registry.url, ['playable']);
    const headers = shown(agreement);
    await proxy.drive('claim', { token: ONE }, headers);
    const task = await proxy.send('go on with this');
    proxy.kill('SIGKILL');
    await proxy.exited;
    const again = await start('proxy-killed-2', options);
    expect((await again.drive('next', { token: ONE })).status).toBe(401);
    expect((await again.drive('claim', { token: ONE }, headers)).status).toBe(401);
    expect((await again.drive('claim', { token: OTHER })).status).toBe(200);
    expect((await again.drive('next', { token: OTHER })).body).toMatchObject({ turns: [{ task_id: task }] });
  });

  it('is not to be had of a proxy that was claimed without', async () => {
    const proxy = await start('proxy-bare');
    await proxy.drive('claim', { token: ONE });
    const first = await driver('driver-1');
    expect(await first.negotiate(proxy.url, ['playable'])).toMatchObject({
      accepted: false,
      reason: { code: 'capacity', detail: 'This proxy is claimed by a driver without an agreement.' },
    });
  });
});

describe('A2A 1.0', () => {
  it('finds the agent by its registration and its answer by its driver', async () => {
    const proxy = await start('proxy-a2a');
    const { body } = await get(`${registry.url}/agents/proxy-a2a`);
    const client = await connectA2a({ url: body.endpoint as string, headers: { 'A2A-Version': '1.0' } });
    expect(client.protocolVersion).toBe('1.0');
    await proxy.drive('claim', { token: ONE });
    const sending = client.send([{ kind: 'text', text: 'hello' }]);
    const taskId = await eventually(async () => {
      const { turns } = (await proxy.drive('next', { token: ONE })).body as { turns: { task_id: string }[] };
      const [turn] = turns;
      if (turn === undefined) throw new Error('no turn yet');
      return turn.task_id;
    });
    await proxy.drive('reply', { token: ONE, task_id: taskId, parts: [{ text: 'hi' }] });
    expect(await sending).toMatchObject({
      task: { taskId, state: 'completed', artifacts: [{ parts: [{ text: 'hi' }] }] },
    });
    await client.close();
  });
});
