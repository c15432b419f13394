import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { endEverything, eventually, startRedis, type RedisServer } from '@parley/testkit';
import { expectUnavailable, get, post, propose } from './support/http.js';
import {
  freePorts,
  START_MS,
  startAgentB,
  startRegistry,
  untilReady,
  type Service,
  type StartAgentOptions,
} from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);
const AGREEMENT_SECONDS = 5;

interface Held {
  readonly agreement_id: string;
  readonly terms_digest: string;
  readonly proof: string;
}

describe('an agent that keeps its agreements in Redis', () => {
  let registry: Service;
  let redis: RedisServer;
  let agentB: Service;
  let options: StartAgentOptions;

  beforeEach(async () => {
    const [httpPort = 0] = await freePorts(1);
    [registry, redis] = await Promise.all([startRegistry(), startRedis({ appendonly: true })]);
    options = {
      registryUrl: registry.url,
      httpPort,
      env: {
        REDIS_URL: redis.url,
        AGENT_OWNER_TOKEN: 'the-configured-owner-token-of-agent-b',
        AGENT_AGREEMENT_TTL_SECONDS: String(AGREEMENT_SECONDS),
      },
    };
    agentB = await startAgentB(options);
  }, 2 * START_MS);
  afterEach(endEverything, 30_000);

  const agree = async (wishes: object = {}): Promise<Held> => {
    const { status, body } = await propose(agentB.url, { agent_id: 'curl', capabilities: ['code_review'], ...wishes });
    expect([status, body.accepted]).toEqual([200, true]);
    const { agreement_id, terms_digest } = body.agreement;
    return { agreement_id, terms_digest, proof: body.agreement_proof };
  };
  const work = ({ proof, ...held }: Held, callId: string = randomUUID()) =>
    post(
      `${agentB.url}/invoke`,
      { ...held, call_id: callId, capability: 'code_review', input: { source: 'eval("1")' } },
      { proof },
    );
  const state = async ({ agreement_id, proof }: Held) =>
    (await get(`${agentB.url}/agreements/${agreement_id}`, { proof })).body;

  it('honours them after it was killed and started again', async () => {
    const held = await agree({
      agreement_ttl_seconds: 60,
      limits: { max_calls: 3 },
      parameters: { max_findings: 7 },
    });
    expect((await work(held)).body.remaining).toEqual({ calls: 2 });
    agentB.kill('SIGKILL');
    await agentB.exited;
    agentB = await startAgentB(options);

    expect(await state(held)).toMatchObject({ state: 'active', calls_used: 1 });
    const done = await work(held);
    expect(done.status).toBe(200);
    expect(done.body).toMatchObject({ remaining: { calls: 1 }, applied: { max_findings: 7 } });
    expect((await work({ ...held, proof: 'not the proof' })).status).toBe(404);
    expect((await work(held)).status).toBe(200);
    const used = await work(held);
    expect([used.status, used.body.code]).toEqual([410, 'agreement_ended']);
    expect(await state(held)).toMatchObject({ state: 'ended', end_reason: 'limit_exhausted' });
  });

  it('keeps them when it stops in order: others may go on with them', async () => {
    const held = await agree({ agreement_ttl_seconds: 60 });
    expect(await agentB.stop()).toEqual({ code: 0, signal: null });
    agentB = await startAgentB(options);
    expect((await work(held)).status).toBe(200);
  });

  it('refuses at once while that Redis is dead, stays registered, and heals', async () => {
    const held = await agree({ agreement_ttl_seconds: 60 });
    await redis.stop();
    const since = performance.now();
    expectUnavailable(await propose(agentB.url, { agent_id: 'curl', capabilities: ['code_review'] }));
    expectUnavailable(await work(held));
    const many = await Promise.all(
      Array.from({ length: 10 }, () => propose(agentB.url, { agent_id: 'curl', capabilities: ['code_review'] })),
    );
    many.forEach(expectUnavailable);
    expect(performance.now() - since).toBeLessThan(3_000);
    expect((await get(`${agentB.url}/healthz`)).status).toBe(200);
    expect((await get(`${registry.url}/agents/agent_B`)).status).toBe(200);

    await redis.restart({ keepData: true });
    await eventually(async () => expect((await work(held)).status).toBe(200), { timeoutMs: 5_000 });
    await agree();
    await untilReady(agentB, 1_000);
  });

  it('spares the agreements that nobody could renew while that Redis was frozen', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => agree()));
    redis.pause();
    expectUnavailable(await propose(agentB.url, { agent_id: 'curl', capabilities: ['code_review'] }));
    // Longer than each of them would have lasted.
    await sleep(AGREEMENT_SECONDS * 1_000 + 1_000);
    await redis.resume();
    await eventually(async () => expect((await state(all[0] as Held)).state).toBe('active'), { timeoutMs: 3_000 });
    for (const held of all) expect((await work(held)).status).toBe(200);
    await eventually(async () => expect((await state(all[0] as Held)).end_reason).toBe('expired'), {
      timeoutMs: 15_000,
    });
  });

  it('stops in order while that Redis is frozen', async () => {
    await agree();
    redis.pause();
    const since = performance.now();
    expect(await agentB.stop({ graceMs: 20_000 })).toEqual({ code: 0, signal: null });
    expect(performance.now() - since).toBeLessThan(6_000);
    expect((await get(`${registry.url}/agents/agent_B`)).status).toBe(404);
  });
});
