import { createServer } from 'node:net';
import { runPhases, silentLogger } from '@parley/service-kit';
import { createProxyApp } from '../app.js';
import { readProxyConfig } from '../config.js';
import { stopProxies, TOKEN } from '../proxy.test-helper.js';
import { createMember, memberSettings } from './index.js';
import { AWAY, startMember, type MemberProxy } from './member.test-helper.js';

const CONTROL = 'control-token-of-this-test-0123';

afterEach(stopProxies);

let sessions = 0;

async function negotiate(proxy: MemberProxy, fields: object = {}): Promise<Record<string, unknown>> {
  sessions += 1;
  const body = { session_id: `s-${sessions}`, agent_id: 'driver', capabilities: ['playable'], ...fields };
  return (await proxy.post('/negotiate', body)).json as Record<string, unknown>;
}

interface Agreed {
  readonly agreement: { readonly agreement_id: string };
  readonly agreement_proof: string;
}

async function agree(proxy: MemberProxy): Promise<{ id: string; headers: Record<string, string> }> {
  const { agreement, agreement_proof: proof } = (await negotiate(proxy)) as unknown as Agreed;
  const id = agreement.agreement_id;
  return { id, headers: { 'Parley-Agreement-Id': id, 'Parley-Agreement-Proof': proof } };
}

const claim = (proxy: MemberProxy, headers: Record<string, string>, body: unknown = { token: TOKEN }) =>
  proxy.ask('/ext/proxy/claim', { method: 'POST', headers, body });

describe('a proxy without a registry', () => {
  it('is no agent: none of its paths is there, no header counts, and it is ready', async () => {
    const proxy = await startMember();
    expect([proxy.member.agent, proxy.member.grpcPort]).toEqual([undefined, undefined]);
    for (const path of ['/negotiate', '/agreements', '/invoke', '/agreements/agr-1/confirm']) {
      const answer = await proxy.ask(path, { method: 'POST', body: {} });
      expect([path, answer.status, answer.text]).toEqual([path, 404, 'Not Found']);
    }
    expect((await claim(proxy, { 'Parley-Agreement-Id': 'agr-1' })).status).toBe(200);
    expect((await proxy.ask('/readyz')).status).toBe(200);
  });
});

describe('a proxy with a registry', () => {
  it('says that it waits for it', async () => {
    const proxy = await startMember({ env: AWAY });
    const ready = await proxy.ask('/readyz');
    expect([ready.status, ready.json]).toEqual([
      503,
      { status: 'not_ready', checks: { serving: 'yes', registry: 'not registered' } },
    ]);
    expect((await proxy.ask('/healthz')).status).toBe(200);
  });

  it('answers the claim as the wire wants it, in the same order', async () => {
    const proxy = await startMember({ env: AWAY });
    expect(await claim(proxy, {}, '{"tok')).toMatchObject({ status: 400 });
    expect(await claim(proxy, {}, {})).toMatchObject({ status: 400, text: "missing required fields: ['token']" });
    expect((await proxy.ask('/ext/proxy/claim')).status).toBe(405);
    const lonely = await claim(proxy, { 'Parley-Agreement-Id': 'agr-1' });
    expect([lonely.status, lonely.text]).toEqual([400, 'an agreement is shown by its id and its proof together']);
    const unknown = await claim(proxy, { 'Parley-Agreement-Id': 'agr-1', 'Parley-Agreement-Proof': 'x' });
    expect([unknown.status, unknown.text]).toEqual([401, "the agreement isn't known here, or its proof is wrong"]);
    expect(await claim(proxy, {})).toMatchObject({ status: 200, text: '{}' });
    expect(await claim(proxy, {}, { token: `${TOKEN}x` })).toMatchObject({
      status: 409,
      text: 'this proxy is already claimed',
    });
  });

  it('is claimed under the agreement that is shown, until that ends; open turns wait for the next driver', async () => {
    const proxy = await startMember({ env: AWAY });
    const { id, headers } = await agree(proxy);
    expect((await claim(proxy, {})).status).toBe(409);
    expect((await claim(proxy, headers)).status).toBe(200);
    const open = await proxy.open('hello');
    const ended = await proxy.ask(`/agreements/${id}?reason=completed`, { method: 'DELETE', headers });
    expect(ended).toMatchObject({ status: 200, json: { state: 'ended', end_reason: 'completed' } });
    expect((await proxy.op('next')).status).toBe(401);
    const next = { token: 'another-token-0123456789' };
    expect((await claim(proxy, {}, next)).status).toBe(200);
    expect((await proxy.post('/ext/proxy/next', next)).json).toMatchObject({ turns: [{ task_id: open }] });
    expect(await negotiate(proxy)).toMatchObject({ accepted: false, reason: { code: 'capacity' } });
  });

  it('does no work under an agreement but being played, and hands none on', async () => {
    const proxy = await startMember({ env: AWAY });
    const { agreement, agreement_proof: proof } = (await negotiate(proxy)) as {
      agreement: { agreement_id: string; terms_digest: string };
      agreement_proof: string;
    };
    const { agreement_id, terms_digest } = agreement;
    const body = { agreement_id, terms_digest, capability: 'playable', call_id: 'c-1' };
    const headers = { 'Parley-Agreement-Proof': proof };
    const answer = await proxy.ask('/invoke', { method: 'POST', body, headers });
    expect([answer.status, answer.json]).toMatchObject([422, { code: 'capability_not_callable' }]);
    expect((await proxy.post('/delegate', {})).status).toBe(404);
  });

  it('shows its agreements to whoever has the control token, where there is one', async () => {
    const proxy = await startMember({ env: { ...AWAY, PROXY_CONTROL_TOKEN: CONTROL } });
    await agree(proxy);
    expect((await proxy.ask('/agreements')).status).toBe(401);
    const shown = await proxy.ask('/agreements', { headers: { authorization: `Bearer ${CONTROL}` } });
    expect(shown.json).toMatchObject({ agreements: [{ terms: { initiator: 'driver', responder: 'proxy-0' } }] });
  });

  it('counts what agents count', async () => {
    const proxy = await startMember({ env: AWAY });
    await agree(proxy);
    await negotiate(proxy);
    const { text } = await proxy.ask('/metrics');
    expect(text).toMatch(/parley_agreements_living\{[^}]*\} 1/u);
    expect(text).toMatch(/parley_negotiations_total\{[^}]*outcome="accepted"[^}]*\} 1/u);
    expect(text).toMatch(/parley_negotiations_total\{[^}]*outcome="declined"[^}]*\} 1/u);
  });

  it('stops within its time while the registry is away, and frees what was claimed under an agreement', async () => {
    const proxy = await startMember({ env: AWAY });
    const { headers } = await agree(proxy);
    await claim(proxy, headers);
    const startedAt = performance.now();
    expect(new Set(await proxy.stop())).toEqual(new Set(['done']));
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });

  it('does not start when its gRPC port is taken', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as { port: number };
    const config = readProxyConfig({
      A2A_HOST: '127.0.0.1',
      A2A_PORT: '0',
      ...AWAY,
      PROXY_GRPC_PORT: String(port),
      PROXY_DRAIN_DELAY_MS: '0',
    });
    const app = createProxyApp(config, silentLogger, {
      extend: (parts) => createMember({ ...memberSettings(config), ...parts, logger: silentLogger }),
    });
    await expect(app.start()).rejects.toThrow('address');
    const phases = await runPhases(app.shutdownPhases(), silentLogger);
    expect(new Set(phases.map(({ outcome }) => outcome))).toEqual(new Set(['done']));
    other.close();
  });
});
