import type { Redis } from 'ioredis';
import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { eventually, startRedis, type RedisServer } from '@parley/testkit';
import type { AgreementEvent, AgreementKeeperOptions } from './keeper-types.js';
import { createRedisAgreementStore } from './redis-store.js';
import { agree, keeperFixture, manualClock, refusal, request } from '../../test-support/keeper-fixture.js';

let server: RedisServer;
let connections: Redis[];

beforeAll(async () => {
  server = await startRedis({ appendonly: true });
  connections = [0, 1].map((at) =>
    connectRedis({ url: server.url, name: `keeper-${String(at)}`, logger: silentLogger }),
  );
  for (const connection of connections) await eventually(() => connection.ping());
}, 30_000);

afterAll(async () => {
  for (const connection of connections) await closeRedis(connection);
  await server.stop();
});

let agents = 0;

/** Two keepers of one agent, each with a connection of its own, as in two replicas. */
function replicas(options: Partial<AgreementKeeperOptions> = {}) {
  agents += 1;
  const agentId = `replica-${String(agents)}`;
  const clock = manualClock(Date.now());
  const all = connections.map((redis) =>
    keeperFixture({ agentId, clock, store: createRedisAgreementStore({ redis, agentId, now: clock.now }), ...options }),
  );
  const [a, b] = all;
  if (a === undefined || b === undefined) throw new Error('two connections are needed');
  const events = (): AgreementEvent[] => all.flatMap((each) => each.events);
  return { a: a.keeper, b: b.keeper, clock, events };
}

/** The outcome of each of two attempts: what it was answered, or the code of its refusal. */
async function race<T>(work: readonly Promise<T>[]): Promise<(T | string)[]> {
  const settled = await Promise.allSettled(work);
  return settled.map((each) =>
    each.status === 'fulfilled' ? each.value : String((each.reason as { code?: unknown }).code),
  );
}

const many = Array.from({ length: 10 }, (_, at) => at);

describe('two keepers on one Redis', () => {
  it('make one agreement of one proposal, with one event', async () => {
    const { a, b, events } = replicas();
    for (const _ of many) {
      const body = request();
      const answers = await Promise.all([a.negotiate(body), b.negotiate(body), a.negotiate(body)]);
      expect(new Set(answers.map((answer) => answer.agreement?.agreement_id)).size).toBe(1);
      expect(new Set(answers.map((answer) => answer.agreement_proof)).size).toBe(1);
    }
    expect(events().map(({ type }) => type)).toEqual(many.map(() => 'agreed'));
    expect(await a.countLiving()).toBe(many.length);
  });

  it('never give away more places than there are', async () => {
    const { a, b } = replicas({ settings: { maxAgreements: 3 } });
    const keepers = [a, b];
    const answers = await Promise.all(
      many.map((at) => (keepers[at % 2] ?? a).negotiate(request({ agent_id: `agent-${String(at)}` }))),
    );
    expect(answers.filter(({ accepted }) => accepted)).toHaveLength(3);
    expect(answers.filter(({ reason }) => reason?.code === 'capacity')).toHaveLength(7);
  });

  it('let one of an end and a renewal win, and both tell the same story (index#657)', async () => {
    const { a, b, events } = replicas();
    for (const _ of many) {
      const { id, agreement, proof } = await agree(a);
      await race([
        a.end(id, { proof, reason: 'completed' }),
        b.renew(id, { leaseRevision: 1, termsDigest: agreement.terms_digest, proof }),
        b.end(id, { internal: true, reason: 'shutdown' }),
      ]);
      const [one, other] = await Promise.all([a.get(id, { proof }), b.get(id, { proof })]);
      expect(one).toEqual(other);
      expect(one.state).toBe('ended');
      const ends = events().filter(({ type, record }) => type === 'ended' && record.agreementId === id);
      expect(ends.map(({ record }) => record.endReason)).toEqual([one.end_reason]);
    }
  });

  it('let one of a confirmation and its deadline win', async () => {
    const { a, b, clock, events } = replicas();
    for (const _ of many) {
      const { id, agreement, proof } = await agree(a, { pending: true });
      const confirmation = a.confirm(id, { termsDigest: agreement.terms_digest, proof });
      // The other replica's clock is past the deadline already.
      const [confirmed] = await race<unknown>([confirmation, b.sweep(clock.now() + 15_000)]);
      const { state, end_reason } = await b.get(id, { proof });
      if (confirmed === 'agreement_ended') expect([state, end_reason]).toEqual(['ended', 'not_confirmed']);
      else expect(state).toBe('active');
      const types = events().flatMap(({ type, record }) => (record.agreementId === id ? [type] : []));
      expect(types.slice(1)).toEqual([state === 'active' ? 'confirmed' : 'ended']);
    }
  });

  it('sweep the same deadlines with one end each', async () => {
    const { a, b, clock, events } = replicas();
    for (const _ of many) await agree(a);
    clock.advance(60_000);
    await Promise.all([a.sweep(), b.sweep(), a.sweep()]);
    expect(events().filter(({ type }) => type === 'ended')).toHaveLength(many.length);
    expect(await b.countLiving()).toBe(0);
  });

  it('let one of an acceptance and a withdrawal win, and the withdrawal is never lost (anax#165)', async () => {
    const { a, b } = replicas();
    for (const _ of many) {
      const body = request({ proof_hash: 'h'.repeat(43) });
      const withdraw = request({ session_id: body.session_id, action: 'withdraw' });
      await Promise.all([a.negotiate(body), b.negotiate(withdraw)]);
      expect(await a.countLiving()).toBe(0);
      expect((await b.negotiate(body)).outcome).toBe('withdrawn');
    }
  });

  it('let one of two takers of an offer make the agreement', async () => {
    const { a, b, events } = replicas();
    const session_id = 'taken';
    const { offer } = await a.negotiate(request({ session_id, parameters: { depth: 9 } }));
    const accept = request({
      session_id,
      action: 'accept',
      offer_id: offer?.offer_id,
      terms_digest: offer?.terms_digest,
    });
    const [one, other] = await Promise.all([a.negotiate(accept), b.negotiate(accept)]);
    expect(one).toEqual(other);
    expect(events()).toHaveLength(1);
  });

  it('count calls together', async () => {
    const { a, b } = replicas();
    const { id, agreement, proof } = await agree(a, { limits: { max_calls: 5 } });
    const call = { agreementId: id, termsDigest: agreement.terms_digest, capability: 'code_review', proof };
    const outcomes = await race(
      many.flatMap((at) => [a, b].map((each) => each.reserveCall({ ...call, callId: `call-${String(at)}` }))),
    );
    const reserved = outcomes.filter((each) => typeof each !== 'string');
    expect(reserved.filter(({ repeated }) => !repeated)).toHaveLength(5);
    expect(outcomes.filter((each) => each === 'agreement_limit')).toHaveLength(20 - reserved.length);
    await Promise.all(reserved.map(({ release }) => release()));
    expect(await a.get(id, { proof })).toMatchObject({ end_reason: 'limit_exhausted', calls_used: 5 });
  });
});

describe('a restart', () => {
  it('of the keeper keeps agreements, sessions and proofs', async () => {
    const { a, b } = replicas();
    const body = request({ session_id: 'kept' });
    const { agreement, agreement_proof: proof } = await a.negotiate(body);
    const id = agreement?.agreement_id ?? '';
    expect((await b.negotiate(body)).agreement?.agreement_id).toBe(id);
    const renewed = await b.renew(id, { leaseRevision: 1, termsDigest: agreement?.terms_digest ?? '', proof });
    expect(renewed.lease_revision).toBe(2);
  });

  it('of Redis is answered with 503 meanwhile, and then goes on', async () => {
    const { a } = replicas();
    const { id, proof } = await agree(a);
    await server.stop();
    expect(await refusal(a.negotiate(request()))).toEqual({ code: 'store_unavailable', reason: 'unavailable' });
    await server.restart({ keepData: true });
    await eventually(async () => {
      expect((await a.get(id, { proof })).state).toBe('active');
    });
    expect((await a.negotiate(request())).accepted).toBe(true);
  }, 30_000);

  it('of Redis without its data ends nothing with an error: unknown agreements are unknown', async () => {
    const { a } = replicas();
    const { id, proof } = await agree(a);
    await server.restart({ keepData: false });
    await eventually(async () => {
      expect((await refusal(a.get(id, { proof }))).code).toBe('agreement_unknown');
    });
    expect(await a.countLiving()).toBe(0);
    expect(await a.sweep()).toBe(0);
    expect((await a.negotiate(request())).accepted).toBe(true);
  }, 30_000);
});
