import { jest } from '@jest/globals';
import { storeUnavailable } from '@parley/service-kit';
import type { AgreementStore } from './agreement-store.js';
import { createMemoryAgreementStore } from './memory-store.js';
import { flakyStore } from '../../test-support/flaky-store.js';
import { agree, keeperFixture, manualClock, refusal, request, type Agreed } from '../../test-support/keeper-fixture.js';

const away = { code: 'store_unavailable', reason: 'unavailable' };

function fixture(wrap: (store: AgreementStore) => AgreementStore = (store) => store) {
  const clock = manualClock();
  const store = flakyStore(wrap(createMemoryAgreementStore({ now: clock.now })));
  return { store, ...keeperFixture({ store, clock }) };
}

describe('while the store is away', () => {
  it('everything says so, nothing is answered that is not stored, and the same request is served later (yagna#430)', async () => {
    const { keeper, store, events } = fixture();
    const { id, agreement, proof } = await agree(keeper);
    const body = request();
    const termsDigest = agreement.terms_digest;
    store.health = 'away';
    expect(await refusal(keeper.negotiate(body))).toEqual(away);
    expect(await refusal(keeper.confirm(id, { termsDigest, proof }))).toEqual(away);
    expect(await refusal(keeper.renew(id, { leaseRevision: 1, termsDigest, proof }))).toEqual(away);
    expect(await refusal(keeper.end(id, { proof }))).toEqual(away);
    expect(await refusal(keeper.list())).toEqual(away);
    expect(await refusal(keeper.sweep())).toEqual(away);
    expect(events).toHaveLength(1);
    store.health = 'well';
    expect((await keeper.negotiate(body)).accepted).toBe(true);
    expect((await keeper.get(id, { proof })).state).toBe('active');
  });

  it('giving a call back does no harm: the place frees itself', async () => {
    const { keeper, store, clock, logs } = fixture();
    const { id, agreement, proof } = await agree(keeper, {
      limits: { max_concurrent_calls: 1 },
      agreement_ttl_seconds: 3_600,
    });
    const call = { agreementId: id, termsDigest: agreement.terms_digest, capability: 'code_review', proof };
    const first = await keeper.reserveCall({ ...call, callId: 'a' });
    store.health = 'away';
    await first.release();
    store.health = 'well';
    expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect((await refusal(keeper.reserveCall({ ...call, callId: 'b' }))).code).toBe('agreement_limit');
    clock.advance(600_000);
    expect((await keeper.reserveCall({ ...call, callId: 'b' })).repeated).toBe(false);
  });
});

describe('a write whose answer was lost', () => {
  it('is found again by the repeated request, with the same agreement and its one event', async () => {
    const { keeper, store, events } = fixture();
    const body = request();
    const original = store.commit;
    store.commit = async (commit) => {
      expect(await original(commit)).toBe('done');
      throw storeUnavailable(new Error('no answer'));
    };
    expect(await refusal(keeper.negotiate(body))).toEqual(away);
    store.commit = original;
    expect(events).toEqual([]);
    expect(await keeper.countLiving()).toBe(1);
    const answer = await keeper.negotiate(body);
    expect(answer).toMatchObject({ accepted: true, agreement: { version: 1 } });
    expect(await keeper.countLiving()).toBe(1);
    expect(events.map(({ type, agreement }) => [type, agreement.agreement_id])).toEqual([
      ['agreed', answer.agreement?.agreement_id],
    ]);
    await keeper.sweep();
    expect(events).toHaveLength(1);
  });

  it('that ended an agreement is still told, once, by the next sweep (support#438)', async () => {
    const { keeper, store, events } = fixture();
    const { id, proof } = await agree(keeper);
    const original = store.compareAndSet;
    store.compareAndSet = async (version, next) => {
      await original(version, next);
      throw new Error('lost');
    };
    await expect(keeper.end(id, { proof, reason: 'completed' })).rejects.toThrow('lost');
    store.compareAndSet = original;
    expect(events.map(({ type }) => type)).toEqual(['agreed']);
    await keeper.sweep();
    await keeper.sweep();
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'ended']);
  });

  it('is not told when it was not done', async () => {
    const { keeper, store, events } = fixture();
    const { id, proof } = await agree(keeper);
    const original = store.compareAndSet;
    store.compareAndSet = () => Promise.reject(new Error('lost'));
    await expect(keeper.end(id, { proof, reason: 'completed' })).rejects.toThrow('lost');
    store.compareAndSet = original;
    await keeper.sweep();
    expect(events).toHaveLength(1);
    await keeper.end(id, { proof, reason: 'breach' });
    expect(events.map(({ record }) => record.endReason)).toEqual([undefined, 'breach']);
  });
});

describe('after an absence of the keeper itself', () => {
  async function many(count: number) {
    const all = fixture();
    const agreed: Agreed[] = [];
    for (let at = 0; at < count; at += 1) agreed.push(await agree(all.keeper, { agent_id: `agent-${String(at)}` }));
    return { ...all, agreed };
  }

  it('many agreements that could not be renewed get one more lease, once (support#15)', async () => {
    const { keeper, store, clock, events, agreed, logs } = await many(6);
    store.health = 'away';
    expect(await refusal(keeper.sweep())).toEqual(away);
    clock.advance(61_000);
    store.health = 'well';
    // A renewal may come before the first sweep.
    const [first] = agreed;
    if (first === undefined) throw new Error('no agreement');
    const renew = { leaseRevision: 1, termsDigest: first.agreement.terms_digest, proof: first.proof };
    expect((await keeper.renew(first.id, renew)).state).toBe('active');
    expect(await keeper.sweep()).toBe(0);
    expect(logs.filter(({ message }) => message.includes('one more lease'))).toHaveLength(1);
    clock.advance(60_000);
    expect(await keeper.sweep()).toBe(6);
    expect(events.filter(({ type }) => type === 'ended')).toHaveLength(6);
  });

  it('few agreements end as they would have', async () => {
    const { keeper, store, clock } = await many(4);
    store.health = 'away';
    expect(await refusal(keeper.sweep())).toEqual(away);
    clock.advance(61_000);
    store.health = 'well';
    expect(await keeper.sweep()).toBe(4);
  });

  it('those that had run out before it end', async () => {
    const { keeper, store, clock } = await many(6);
    clock.advance(60_000);
    expect(await keeper.countLiving()).toBe(6);
    store.health = 'away';
    expect(await refusal(keeper.sweep())).toEqual(away);
    clock.advance(1_000);
    store.health = 'well';
    expect(await keeper.sweep()).toBe(6);
  });

  it('a process that stood still counts as away', async () => {
    jest.useFakeTimers();
    try {
      const { keeper, clock } = await many(6);
      keeper.start();
      clock.advance(61_000);
      await jest.advanceTimersByTimeAsync(1_000);
      expect(await keeper.countLiving()).toBe(6);
      for (let second = 0; second < 60; second += 1) {
        clock.advance(1_000);
        await jest.advanceTimersByTimeAsync(1_000);
      }
      expect(await keeper.countLiving()).toBe(0);
      await keeper.stop();
    } finally {
      jest.useRealTimers();
    }
  });
});
