import { randomUUID } from 'node:crypto';
import { endEverything, eventually, startRedis, watchEvents, type RedisServer } from '@parley/testkit';
import { RawConnection, type RawAnswer } from '../../packages/service-kit/src/http/http.test-helper.js';
import { discover, get, post, propose } from './support/http.js';
import { freePorts, START_MS, startAgentB, startRegistry, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const ID = 'agent_B';

describe('two replicas of one agent behind one address', () => {
  let redis: RedisServer;
  let registry: Service;
  let first: Service;
  let second: Service;

  beforeEach(async () => {
    [registry, redis] = await Promise.all([startRegistry(), startRedis()]);
    const ports = await freePorts(2);
    const replica = (httpPort: number) =>
      startAgentB({
        registryUrl: registry.url,
        httpPort,
        env: {
          REDIS_URL: redis.url,
          AGENT_OWNER_TOKEN: 'the-one-owner-token-of-all-replicas',
          AGENT_DRAIN_DELAY_MS: '1000',
          // As that of a load balancer: whichever replica answers there.
          AGENT_PUBLIC_URL: `http://127.0.0.1:${ports[1] ?? 0}`,
        },
      });
    first = await replica(ports[0] ?? 0);
    second = await replica(ports[1] ?? 0);
    // Each has said that it lives.
    await eventually(async () => expect(await redis.cli('ZCARD', `{parley-agent:${ID}}:replicas`)).toBe(2));
  }, 3 * START_MS);
  afterEach(endEverything, 30_000);

  it('stay registered, without a moment in between, when one of them stops', async () => {
    const events = await watchEvents(registry.url);
    first.kill('SIGTERM');
    expect(await first.exited).toEqual({ code: 0, signal: null });
    expect(await discover(registry.url, 'code_review')).toEqual([ID]);
    second.kill('SIGTERM');
    await second.exited;
    // The last one takes the registration along.
    expect(await discover(registry.url, 'code_review')).toEqual([]);
    await eventually(() => expect(events.changes.map(({ type }) => type)).toEqual(['deregistered']));
  });

  it('that stop at once deregister once', async () => {
    const events = await watchEvents(registry.url);
    for (const replica of [first, second]) replica.kill('SIGTERM');
    await Promise.all([first.exited, second.exited]);
    expect(await discover(registry.url, 'code_review')).toEqual([]);
    await eventually(() => expect(events.changes.map(({ type }) => type)).toEqual(['deregistered']));
  });

  it('go on with what one of them agreed when that one has stopped', async () => {
    const { body } = await propose(first.url, { agent_id: 'curl', capabilities: ['code_review'] });
    const { agreement_id, terms_digest } = body.agreement;
    const proof: string = body.agreement_proof;
    first.kill('SIGTERM');
    await first.exited;
    const work = {
      agreement_id,
      terms_digest,
      call_id: randomUUID(),
      capability: 'code_review',
      input: { source: 'eval("1")' },
    };
    expect((await post(`${second.url}/invoke`, work, { proof })).status).toBe(200);
    expect((await get(`${second.url}/agreements/${agreement_id}`, { proof })).body).toMatchObject({ state: 'active' });
  });

  it('answer on a kept connection until its client has been told to go elsewhere', async () => {
    const kept = new RawConnection(first.httpPort);
    const negotiate = (): Promise<RawAnswer> => {
      const json = JSON.stringify({ session_id: randomUUID(), agent_id: randomUUID(), capabilities: ['code_review'] });
      const head = `POST /negotiate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
      return kept.send(`${head}Content-Length: ${json.length}\r\n\r\n${json}`).answer();
    };
    const accepted = { status: 200, body: expect.stringContaining('"accepted":true') as string };
    expect(await negotiate()).toMatchObject(accepted);
    first.kill('SIGTERM');
    await first.waitForLine(/not ready, deregistered/u);
    const last = await negotiate();
    expect(last).toMatchObject(accepted);
    expect(last.head).toMatch(/^connection: close$/imu);
    await kept.closed;
    kept.socket.destroy();
    expect(await first.exited).toEqual({ code: 0, signal: null });
  });
});
