import { eventually } from '@parley/testkit';
import type { SessionRecord } from '../negotiation/session-record.js';
import type { AgreementRecord } from './agreement-record.js';
import { MAX_REMEMBERED_CALLS, type AgreementStore, type CommitResult } from './agreement-store.js';
import { createMemoryAgreementStore } from './memory-store.js';
import { createRedisAgreementStore } from './redis-store.js';
import { manualClock, START, type ManualClock } from '../../test-support/keeper-fixture.js';
import { agreementRecord, pendingRecord } from '../../test-support/agreement-records.js';
import { applyChange } from './transitions.js';
import { redisKinds } from '../../test-support/redis-kinds.js';
import { sessionRecord } from '../../test-support/session-record.js';

interface Options {
  readonly clock: ManualClock;
  readonly endedRetentionMs?: number;
  readonly maxRemembered?: number;
}

let stores = 0;
const kinds: [string, (options: Options) => AgreementStore][] = [
  ['memory', ({ clock, ...options }) => createMemoryAgreementStore({ ...options, now: clock.now })],
  ...redisKinds().map(({ name, redis }): [string, (options: Options) => AgreementStore] => [
    name,
    ({ clock, ...options }) => {
      stores += 1;
      const agentId = `store-${String(stores)}`;
      return createRedisAgreementStore({ ...options, redis: redis(), agentId, now: clock.now });
    },
  ]),
];

describe.each(kinds)('the %s store of agreements', (_, createStore) => {
  const clock = manualClock();
  const now = START;
  let store: AgreementStore;

  beforeEach(() => {
    store = createStore({ clock });
  });

  function commit(
    record: SessionRecord,
    agreement?: AgreementRecord,
    bounds: {
      expectedVersion?: number;
      maxAgreements?: number;
      maxOpen?: number;
      maxRemembered?: number;
      now?: number;
    } = {},
  ): Promise<CommitResult> {
    return store.commit({
      session: record,
      expectedVersion: bounds.expectedVersion ?? 0,
      ...(agreement === undefined ? {} : { agreement }),
      maxAgreements: bounds.maxAgreements ?? 10,
      maxOpenPerInitiator: bounds.maxOpen ?? 8,
      maxRemembered: bounds.maxRemembered ?? 1_000,
      now: bounds.now ?? now,
    });
  }

  /** Stores an agreement with its session. */
  async function put(agreement: AgreementRecord): Promise<AgreementRecord> {
    const { agreementId, initiator, sessionId } = agreement;
    const of = sessionRecord({ initiator, sessionId, state: 'agreed', agreementId, expiresAt: START + 1_200_000 });
    expect(await commit(of, agreement)).toBe('done');
    return agreement;
  }

  function numbered(at: number, over: Partial<AgreementRecord> = {}): AgreementRecord {
    return agreementRecord({
      agreementId: `agr-${String(at)}`,
      sessionId: `session-${String(at)}`,
      createdAt: START + at,
      ...over,
    });
  }

  it('gives back what was stored, whatever characters it holds', async () => {
    const odd = 'line\nbreak {tag} / "quoted" \u{1F600}';
    const record = await put(pendingRecord({ sessionId: odd, via: 'registry', initiatorRegistered: true }));
    expect(await store.get('agr-1')).toEqual(record);
    expect((await store.getSession('agent_A', odd, now))?.agreementId).toBe('agr-1');
    expect(await store.get('agr-2')).toBeUndefined();
    expect(await store.getSession('agent_B', odd, now)).toBeUndefined();
  });

  it('writes a session only over the version that was read', async () => {
    expect(await commit(sessionRecord())).toBe('done');
    expect(await commit(sessionRecord())).toBe('conflict');
    expect(await commit(sessionRecord({ version: 2, state: 'withdrawn' }), undefined, { expectedVersion: 1 })).toBe(
      'done',
    );
    expect(await commit(sessionRecord({ version: 2 }), undefined, { expectedVersion: 1 })).toBe('conflict');
    expect((await store.getSession('agent_A', 'session-1', now))?.state).toBe('withdrawn');
  });

  it('keeps the same session id of two initiators apart', async () => {
    expect(await commit(sessionRecord())).toBe('done');
    expect(await commit(sessionRecord({ initiator: 'agent_C' }))).toBe('done');
  });

  it('writes nothing of a session when its agreement finds no place', async () => {
    await put(numbered(1));
    const second = sessionRecord({ sessionId: 'session-2', state: 'agreed', agreementId: 'agr-2' });
    expect(await commit(second, numbered(2), { maxAgreements: 1 })).toBe('capacity');
    expect(await store.getSession('agent_A', 'session-2', now)).toBeUndefined();
    expect(await store.get('agr-2')).toBeUndefined();
    expect(await store.countLiving()).toBe(1);
  });

  it('lets only as many commits through at once as there are places', async () => {
    const tries = Array.from({ length: 12 }, (_, at) =>
      commit(sessionRecord({ sessionId: `s-${String(at)}` }), numbered(at), { maxAgreements: 5, maxOpen: 100 }),
    );
    const results = await Promise.all(tries);
    expect(results.filter((result) => result === 'done')).toHaveLength(5);
    expect(results.filter((result) => result === 'capacity')).toHaveLength(7);
    expect(await store.countLiving()).toBe(5);
  });

  it('counts open offers and pending agreements of each initiator', async () => {
    const open = (sessionId: string) => sessionRecord({ sessionId, state: 'open', openUntil: START + 30_000 });
    expect(await commit(open('a'), undefined, { maxOpen: 2 })).toBe('done');
    const { agreementId } = pendingRecord();
    expect(
      await commit(sessionRecord({ sessionId: 'session-1', state: 'agreed', agreementId }), pendingRecord(), {
        maxOpen: 2,
      }),
    ).toBe('done');
    expect(await commit(open('c'), undefined, { maxOpen: 2 })).toBe('too_many_open');
    expect(await store.getSession('agent_A', 'c', now)).toBeUndefined();
    // Another round of the same session needs no second place, another initiator has its own.
    expect(await commit({ ...open('a'), version: 2 }, undefined, { maxOpen: 2, expectedVersion: 1 })).toBe('done');
    expect(await commit({ ...open('a'), initiator: 'agent_C' }, undefined, { maxOpen: 2 })).toBe('done');
    // What is confirmed is no longer open; what is past its time neither.
    const confirmed = applyChange(pendingRecord(), { type: 'confirm' }, now) ?? pendingRecord();
    expect(await store.compareAndSet(1, confirmed)).toBe(true);
    expect(await commit(open('c'), undefined, { maxOpen: 2 })).toBe('done');
    expect(await commit(open('d'), undefined, { maxOpen: 2 })).toBe('too_many_open');
    expect(await commit(open('d'), undefined, { maxOpen: 2, now: START + 30_000 })).toBe('done');
  });

  it('changes an agreement for one of two writers, and never after its end', async () => {
    const record = await put(agreementRecord());
    const renewed = applyChange(record, { type: 'renew', ttlSeconds: 90 }, now) ?? record;
    const ended = applyChange(record, { type: 'end', reason: 'completed', by: 'initiator' }, now) ?? record;
    const results = await Promise.all([store.compareAndSet(1, ended), store.compareAndSet(1, renewed)]);
    expect(results.filter(Boolean)).toHaveLength(1);
    const stored = (await store.get('agr-1')) ?? record;
    if (stored.state !== 'ended') expect(await store.compareAndSet(2, { ...ended, version: 3 })).toBe(true);
    const last = (await store.get('agr-1')) ?? record;
    expect(await store.compareAndSet(last.version, { ...renewed, version: last.version + 1 })).toBe(false);
    expect((await store.get('agr-1'))?.state).toBe('ended');
  });

  it('refuses a change made from an older version', async () => {
    const record = await put(agreementRecord());
    const renewed = applyChange(record, { type: 'renew', ttlSeconds: 90 }, now) ?? record;
    expect(await store.compareAndSet(1, renewed)).toBe(true);
    expect(await store.compareAndSet(1, renewed)).toBe(false);
    expect(await store.compareAndSet(3, { ...renewed, version: 4 })).toBe(false);
    expect((await store.get('agr-1'))?.version).toBe(2);
    expect(await store.compareAndSet(1, { ...renewed, agreementId: 'agr-none' })).toBe(false);
  });

  it('frees the place at once when an agreement ends', async () => {
    const record = await put(pendingRecord());
    const ended = applyChange(record, { type: 'end', reason: 'not_confirmed', by: 'keeper' }, now) ?? record;
    expect(await store.compareAndSet(1, ended)).toBe(true);
    expect(await store.countLiving()).toBe(0);
    expect(await store.living()).toEqual([]);
    expect(await commit(sessionRecord({ sessionId: 's-2' }), numbered(2), { maxAgreements: 1, maxOpen: 1 })).toBe(
      'done',
    );
  });

  it('finds what is due, the earliest first, and orders anew when asked', async () => {
    await put(numbered(1, { expiresAt: START + 3_000 }));
    await put(numbered(2, { expiresAt: START + 1_000 }));
    await put(numbered(3, { expiresAt: START + 9_000, idleEndMs: 2_000 }));
    const ids = async (at: number, limit = 10) =>
      (await store.due(START + at, limit)).map(({ agreementId }) => agreementId);
    expect(await ids(999)).toEqual([]);
    expect(await ids(3_000)).toEqual(['agr-2', 'agr-3', 'agr-1']);
    expect(await ids(3_000, 1)).toEqual(['agr-2']);
    await store.claimCall({ agreementId: 'agr-3', callId: 'c', now: START + 1_500, runsUntil: START + 2_000 });
    await store.reschedule('agr-3');
    expect(await ids(3_000)).toEqual(['agr-2', 'agr-1']);
    await store.reschedule('agr-unknown');
    expect(await ids(60_000)).toHaveLength(3);
  });

  it('lists newest first, in pages, by state and party', async () => {
    for (let at = 1; at <= 7; at += 1) await put(numbered(at, { initiator: at % 2 === 0 ? 'agent_C' : 'agent_A' }));
    await put(agreementRecord({ agreementId: 'agr-7b', sessionId: 'session-7b', createdAt: START + 7 }));
    const three = await store.get('agr-3');
    if (three === undefined) throw new Error('was not stored');
    await store.compareAndSet(
      1,
      applyChange(three, { type: 'end', reason: 'completed', by: 'initiator' }, now) ?? three,
    );
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({}, 3, cursor);
      pages.push(page.records.map(({ agreementId }) => agreementId));
      cursor = page.nextCursor;
    } while (cursor !== undefined && pages.length < 10);
    expect(pages.flat()).toEqual(['agr-7b', 'agr-7', 'agr-6', 'agr-5', 'agr-4', 'agr-3', 'agr-2', 'agr-1']);
    expect((await store.list({ state: 'ended' }, 10)).records.map(({ agreementId }) => agreementId)).toEqual(['agr-3']);
    expect((await store.list({ agentId: 'agent_C' }, 10)).records).toHaveLength(3);
    expect((await store.list({ agentId: 'agent_B', state: 'active' }, 10)).records).toHaveLength(7);
    await expect(store.list({}, 10, 'nonsense')).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it('counts each call id once, within the limits', async () => {
    await put(agreementRecord());
    const limits = { agreementId: 'agr-1', now, runsUntil: now + 1_000, maxCalls: 3, maxConcurrentCalls: 2 };
    expect(await store.claimCall({ ...limits, callId: 'a' })).toEqual({
      outcome: 'reserved',
      used: 1,
      holdsPlace: true,
    });
    expect(await store.claimCall({ ...limits, callId: 'a' })).toEqual({
      outcome: 'repeated',
      used: 1,
      holdsPlace: false,
    });
    expect((await store.claimCall({ ...limits, callId: 'b' })).outcome).toBe('reserved');
    expect(await store.claimCall({ ...limits, callId: 'c' })).toEqual({ outcome: 'busy', used: 2, holdsPlace: false });
    expect(await store.releaseCall('agr-1', 'a', now)).toEqual({ used: 2, running: 1 });
    expect(await store.releaseCall('agr-1', 'never', now)).toEqual({ used: 2, running: 1 });
    expect(await store.claimCall({ ...limits, callId: 'a' })).toEqual({
      outcome: 'repeated',
      used: 2,
      holdsPlace: true,
    });
    await store.releaseCall('agr-1', 'a', now);
    expect((await store.claimCall({ ...limits, callId: 'c' })).outcome).toBe('reserved');
    await store.releaseCall('agr-1', 'c', now);
    expect((await store.claimCall({ ...limits, callId: 'd' })).outcome).toBe('exhausted');
    expect(await store.get('agr-1')).toMatchObject({ callsUsed: 3, lastCallAt: now, version: 1 });
  });

  it('gives the place of a call back at its deadline, whoever took it', async () => {
    await put(agreementRecord());
    const claim = { agreementId: 'agr-1', now, runsUntil: now + 1_000, maxConcurrentCalls: 1 };
    await store.claimCall({ ...claim, callId: 'lost' });
    expect((await store.claimCall({ ...claim, callId: 'b', now: now + 999 })).outcome).toBe('busy');
    expect((await store.claimCall({ ...claim, callId: 'b', now: now + 1_000, runsUntil: now + 2_000 })).outcome).toBe(
      'reserved',
    );
    expect(await store.usage('agr-1', now + 1_500)).toEqual({ used: 2, running: 1 });
    expect(await store.usage('agr-1', now + 2_000)).toEqual({ used: 2, running: 0 });
  });

  it('takes no call but under an active agreement, and keeps the count through changes', async () => {
    const claim = { agreementId: 'agr-1', callId: 'a', now, runsUntil: now + 1_000 };
    expect((await store.claimCall(claim)).outcome).toBe('not_active');
    const record = await put(pendingRecord());
    expect((await store.claimCall(claim)).outcome).toBe('not_active');
    const active = applyChange(record, { type: 'confirm' }, now) ?? record;
    await store.compareAndSet(1, active);
    expect((await store.claimCall(claim)).outcome).toBe('reserved');
    const ended = applyChange(active, { type: 'end', reason: 'completed', by: 'initiator' }, now) ?? active;
    await store.compareAndSet(2, ended);
    expect(await store.get('agr-1')).toMatchObject({ state: 'ended', callsUsed: 1 });
    expect((await store.claimCall({ ...claim, callId: 'b' })).outcome).toBe('not_active');
    expect(await store.releaseCall('agr-1', 'a', now)).toEqual({ used: 1, running: 0 });
  });

  it('counts every one of many calls at once', async () => {
    await put(agreementRecord());
    const claims = Array.from({ length: 40 }, (_, at) =>
      store.claimCall({ agreementId: 'agr-1', callId: String(at % 20), now, runsUntil: now + 1_000, maxCalls: 15 }),
    );
    const outcomes = (await Promise.all(claims)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(15);
    expect((await store.usage('agr-1', now)).used).toBe(15);
  });

  it('remembers a bounded number of call ids', async () => {
    await put(agreementRecord());
    const count = MAX_REMEMBERED_CALLS + 5;
    for (let at = 0; at < count; at += 1) {
      const callId = String(at);
      await store.claimCall({ agreementId: 'agr-1', callId, now: now + at, runsUntil: now + at + 60_000 });
      await store.releaseCall('agr-1', callId, now + at);
    }
    const again = (callId: string) =>
      store.claimCall({ agreementId: 'agr-1', callId, now: now + count, runsUntil: now + 90_000 });
    expect((await again(String(count - 1))).outcome).toBe('repeated');
    expect((await again('0')).outcome).toBe('reserved');
  });

  it('never gives a secret back after its time', async () => {
    const secret = { value: 'only once', until: START + 15_000 };
    expect(await commit(sessionRecord({ state: 'agreed', agreementId: 'agr-1', secret }), agreementRecord())).toBe(
      'done',
    );
    expect((await store.getSession('agent_A', 'session-1', START + 14_999))?.secret).toEqual(secret);
    const after = await store.getSession('agent_A', 'session-1', START + 15_000);
    expect(after?.agreementId).toBe('agr-1');
    expect(after).not.toHaveProperty('secret');
  });

  it('forgets the oldest session that is over when there are too many, and none that is in use', async () => {
    const bounds = { maxRemembered: 3 };
    await commit(sessionRecord({ sessionId: 'over' }), undefined, bounds);
    await commit(sessionRecord({ sessionId: 'open', state: 'open', openUntil: START + 30_000 }), undefined, bounds);
    await commit(
      sessionRecord({ sessionId: 'session-1', state: 'agreed', agreementId: 'agr-1' }),
      agreementRecord(),
      bounds,
    );
    expect(
      await commit(sessionRecord({ sessionId: 'new', state: 'open', openUntil: START + 30_000 }), undefined, bounds),
    ).toBe('done');
    expect(await store.getSession('agent_A', 'over', now)).toBeUndefined();
    expect(await store.getSession('agent_A', 'open', now)).toBeDefined();
    expect(await commit(sessionRecord({ sessionId: 'one more' }), undefined, bounds)).toBe('full');
    const ended =
      applyChange(agreementRecord(), { type: 'end', reason: 'completed', by: 'initiator' }, now) ?? agreementRecord();
    await store.compareAndSet(1, ended);
    expect(await commit(sessionRecord({ sessionId: 'one more' }), undefined, bounds)).toBe('done');
    expect(await store.getSession('agent_A', 'session-1', now)).toBeUndefined();
  });

  it('forgets the oldest ended agreement when there are too many', async () => {
    store = createStore({ clock, maxRemembered: 2 });
    for (let at = 1; at <= 3; at += 1) {
      const record = await put(numbered(at));
      const ended = applyChange(record, { type: 'end', reason: 'completed', by: 'initiator' }, now + at) ?? record;
      await store.compareAndSet(1, ended);
    }
    expect(await store.get('agr-1')).toBeUndefined();
    expect((await store.list({}, 10)).records.map(({ agreementId }) => agreementId)).toEqual(['agr-3', 'agr-2']);
  });

  it('forgets an ended agreement after its time', async () => {
    store = createStore({ clock, endedRetentionMs: 1 });
    const record = await put(agreementRecord());
    const ended = applyChange(record, { type: 'end', reason: 'completed', by: 'initiator' }, clock.now()) ?? record;
    await store.compareAndSet(1, ended);
    clock.advance(2);
    await eventually(async () => {
      expect(await store.get('agr-1')).toBeUndefined();
    });
    await store.prune(clock.now());
    expect((await store.list({}, 10)).records).toEqual([]);
  });
});
