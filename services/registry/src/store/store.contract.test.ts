import type { GuardSettings } from '../domain/guard.js';
import type { Renewal } from '../domain/types.js';
import { describeStores, NO_GUARD, OTHER, OWNER, told } from '../testing/store-bench.js';
import type { RegisterResult } from './store.js';

describeStores((bench) => {
  describe('registering', () => {
    test('a new id is written with deadline and revision, and told once', async () => {
      const before = await bench.start();
      const result = await bench.store.register(bench.command('a', { manifestJson: '{"agent_id":"a","name":"Ä €"}' }));
      expect(result).toMatchObject({ kind: 'registered', revision: before.revision + 1 });
      expect('deadlineMs' in result && result.deadlineMs - result.nowMs).toBe(60_000);
      const [change] = await bench.changes(before, 1);
      expect(change).toEqual({
        type: 'registered',
        revision: before.revision + 1,
        atMs: result.nowMs,
        agentId: 'a',
        record: {
          agentId: 'a',
          manifestJson: '{"agent_id":"a","name":"Ä €"}',
          ttlMs: 60_000,
          deadlineMs: result.nowMs + 60_000,
          revision: before.revision + 1,
          registeredAtMs: result.nowMs,
        },
      });
      const { records } = await bench.store.snapshot();
      const read = [];
      for await (const batch of records) read.push(...batch);
      expect(read).toEqual([change !== undefined && 'record' in change ? change.record : undefined]);
    });

    test('a living id is taken for everybody but its owner', async () => {
      const before = await bench.start();
      await bench.registered('a');
      expect(await bench.store.register(bench.command('a', { newTokenHash: OTHER }))).toMatchObject({ kind: 'taken' });
      const stranger = bench.command('a', { newTokenHash: OTHER, callerTokenHash: OTHER });
      expect(await bench.store.register(stranger)).toMatchObject({ kind: 'taken' });
      await bench.registered('b');
      expect(told(await bench.changes(before, 2))).toEqual(['registered a', 'registered b']);
    });

    test('the owner replaces it in full and stays the owner', async () => {
      await bench.registered('a');
      const before = await bench.start();
      const again = bench.command('a', {
        manifestJson: '{"v":2}',
        ttlMs: 90_000,
        callerTokenHash: OWNER,
        newTokenHash: OTHER,
      });
      expect(await bench.store.register(again)).toMatchObject({ kind: 'replaced', revision: before.revision + 1 });
      const [change] = await bench.changes(before, 1);
      expect(change).toMatchObject({ type: 'updated', record: { manifestJson: '{"v":2}', ttlMs: 90_000 } });
      expect(await bench.store.renew('a', OWNER)).toMatchObject({
        kind: 'renewed',
        ttlMs: 90_000,
        revision: before.revision + 1,
      });
      expect(await bench.store.renew('a', OTHER)).toMatchObject({ kind: 'forbidden' });
    });

    test('an id whose deadline has passed is free although nobody has swept', async () => {
      const before = await bench.start();
      await bench.registered('a', { ttlMs: 20 });
      await bench.pass(30);
      expect(await bench.store.register(bench.command('a', { newTokenHash: OTHER }))).toMatchObject({
        kind: 'registered',
      });
      expect(told(await bench.changes(before, 3))).toEqual(['registered a', 'expired a', 'registered a']);
      expect(await bench.store.verifyOwner('a', OTHER)).toBe('owner');
      expect(await bench.sweep()).toEqual({ expired: 0, guarded: 0, more: false });
    });

    test('of the same id by many at once: one gets it', async () => {
      const attempts = Array.from({ length: 20 }, (_, i) =>
        bench.store.register(bench.command('a', { newTokenHash: `hash-${String(i)}` })),
      );
      const kinds = (await Promise.all(attempts)).map((result: RegisterResult) => result.kind);
      expect(kinds.filter((each) => each === 'registered')).toHaveLength(1);
      expect(kinds.filter((each) => each === 'taken')).toHaveLength(19);
    });

    test('is refused past the most agents, but not for one that is there', async () => {
      await bench.reopen({ maxAgents: 2 });
      await bench.registered('a');
      await bench.registered('b');
      expect(await bench.store.register(bench.command('c'))).toMatchObject({ kind: 'full' });
      expect(await bench.store.register(bench.command('a', { callerTokenHash: OWNER }))).toMatchObject({
        kind: 'replaced',
      });
    });
  });

  describe('renewing', () => {
    test('counts the lease from now', async () => {
      await bench.registered('a', { ttlMs: 5_000 });
      await bench.pass(40);
      const result = await bench.store.renew('a', OWNER);
      expect(result).toMatchObject({ kind: 'renewed', ttlMs: 5_000, deadlineMs: result.nowMs + 5_000 });
      expect(await bench.store.deadlinesOf(['a'])).toEqual([
        expect.objectContaining({ deadlineMs: result.nowMs + 5_000 }),
      ]);
    });

    test('does not know an absent id, and not a foreign token', async () => {
      expect(await bench.store.renew('nobody', OWNER)).toMatchObject({ kind: 'unknown' });
      await bench.registered('a');
      expect(await bench.store.renew('a', OTHER)).toMatchObject({ kind: 'forbidden' });
    });

    test('never revives: once the deadline has passed the lease is unknown, swept or not', async () => {
      await bench.registered('a', { ttlMs: 20 });
      await bench.pass(30);
      expect(await bench.store.renew('a', OWNER)).toMatchObject({ kind: 'unknown' });
      expect((await bench.sweep()).expired).toBe(1);
      expect(await bench.store.renew('a', OWNER)).toMatchObject({ kind: 'unknown' });
    });

    test('is not a line in the log, but reaches those who read it', async () => {
      const before = await bench.start();
      const renewal: Renewal = { agentId: 'a', revision: 7, deadlineMs: 123 };
      await bench.store.publishRenewals([renewal, { ...renewal, agentId: 'b' }]);
      await bench.registered('c');
      expect(told(await bench.changes(before, 1))).toEqual(['registered c']);
    });
  });

  describe('deregistering', () => {
    test('is for the owner or the operator, and told once', async () => {
      await bench.registered('a');
      await bench.registered('b');
      const before = await bench.start();
      expect(await bench.store.deregister('a', { tokenHash: OTHER })).toMatchObject({ kind: 'forbidden' });
      expect(await bench.store.deregister('a', { tokenHash: OWNER })).toMatchObject({
        kind: 'done',
        revision: before.revision + 1,
      });
      expect(await bench.store.deregister('b', { operator: true })).toMatchObject({
        kind: 'done',
        revision: before.revision + 2,
      });
      expect(await bench.store.deregister('a', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
      expect(told(await bench.changes(before, 2))).toEqual(['deregistered a', 'deregistered b']);
      expect(await bench.held()).toEqual([]);
    });

    test('does not know one whose deadline has passed', async () => {
      await bench.registered('a', { ttlMs: 20 });
      await bench.pass(30);
      expect(await bench.store.deregister('a', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
      expect(await bench.store.deregister('a', { operator: true })).toMatchObject({ kind: 'unknown' });
    });
  });

  test('a store that was closed fails as one that is away', async () => {
    await bench.registered('a');
    await bench.store.close();
    const failure = { reason: 'unavailable', code: 'store_unavailable' };
    await expect(bench.store.renew('a', OWNER)).rejects.toMatchObject(failure);
    await expect(bench.store.ping()).rejects.toMatchObject(failure);
    await expect(bench.store.sweep({ limit: 1, guard: NO_GUARD })).rejects.toMatchObject(failure);
  });

  test('ownership is told apart', async () => {
    await bench.registered('a');
    await bench.registered('b', { ttlMs: 20 });
    await bench.pass(30);
    expect(await bench.store.verifyOwner('a', OWNER)).toBe('owner');
    expect(await bench.store.verifyOwner('a', OTHER)).toBe('other');
    expect(await bench.store.verifyOwner('a', OWNER.slice(1))).toBe('other');
    expect(await bench.store.verifyOwner('b', OWNER)).toBe('unknown');
    expect(await bench.store.verifyOwner('nobody', OWNER)).toBe('unknown');
  });

  describe('sweeping', () => {
    test('logs each passed deadline once, in the order of deadlines, in bounded steps', async () => {
      const before = await bench.start();
      await bench.registered('third', { ttlMs: 600 });
      await bench.registered('first', { ttlMs: 200 });
      await bench.registered('living');
      await bench.registered('second', { ttlMs: 400 });
      await bench.pass(620);
      expect(await bench.sweep(2)).toEqual({ expired: 2, guarded: 0, more: true });
      expect(await bench.sweep(2)).toEqual({ expired: 1, guarded: 0, more: false });
      expect(await bench.sweep(2)).toEqual({ expired: 0, guarded: 0, more: false });
      const lines = await bench.changes(before, 7);
      expect(told(lines).slice(4)).toEqual(['expired first', 'expired second', 'expired third']);
      expect(await bench.held()).toEqual(['living']);
      expect(await bench.store.deadlinesOf(['first', 'living'])).toMatchObject([
        { kind: 'unknown' },
        { kind: 'record' },
      ]);
    });

    test('by many at once counts nobody twice', async () => {
      for (let i = 0; i < 40; i++) await bench.registered(`agent-${String(i)}`, { ttlMs: 10 });
      await bench.pass(30);
      const results = await Promise.all(Array.from({ length: 8 }, () => bench.sweep(10)));
      expect(results.reduce((sum, { expired }) => sum + expired, 0)).toBe(40);
    });

    test('spares one that was renewed in the meantime', async () => {
      await bench.registered('a', { ttlMs: 400 });
      await bench.pass(200);
      expect(await bench.store.renew('a', OWNER)).toMatchObject({ kind: 'renewed' });
      await bench.pass(300);
      expect((await bench.sweep()).expired).toBe(0);
      expect(await bench.store.verifyOwner('a', OWNER)).toBe('owner');
    });
  });

  describe('the guard against mass expiry', () => {
    const guard: GuardSettings = { awayThresholdMs: 400, share: 0.5, minAgents: 1 };
    const guardedSweep = async (): Promise<{ expired: number; guarded: number }> => {
      const { expired, guarded } = await bench.store.sweep({ limit: 100, guard });
      return { expired, guarded };
    };

    beforeEach(async () => {
      await bench.reopen({ guard });
    });

    test('counts leases from the return of the registry, once, for one lease', async () => {
      await bench.registered('gone', { ttlMs: 20 });
      await bench.registered('renews', { ttlMs: 500 });
      await bench.registered('silent', { ttlMs: 500 });
      await bench.pass(40);
      expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });
      await bench.pass(900);
      // Their deadlines passed in the silence; the first one back is not even the sweep.
      const renewed = await bench.store.renew('renews', OWNER);
      expect(renewed.kind).toBe('renewed');
      expect(await guardedSweep()).toMatchObject({ expired: 0 });
      const [silent] = await bench.store.deadlinesOf(['silent']);
      expect(silent).toMatchObject({ kind: 'record' });
      expect(silent !== undefined && 'deadlineMs' in silent && silent.deadlineMs).toBe(renewed.nowMs + 500);
      await bench.pass(300);
      expect(await guardedSweep()).toEqual({ expired: 0, guarded: 0 });
      expect(await bench.store.renew('renews', OWNER)).toMatchObject({ kind: 'renewed' });
      await bench.pass(300);
      expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });
      expect(await bench.store.verifyOwner('silent', OWNER)).toBe('unknown');
      expect(await bench.store.verifyOwner('renews', OWNER)).toBe('owner');
    });

    test('does not act after a short silence, nor for those who were over before', async () => {
      await bench.registered('a', { ttlMs: 60 });
      await guardedSweep();
      await bench.pass(80);
      expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });

      await bench.registered('b', { ttlMs: 10 });
      await bench.registered('c', { ttlMs: 10 });
      await bench.registered('d', { ttlMs: 5_000 });
      await bench.pass(30);
      await bench.store.sweep({ limit: 1, guard });
      await bench.pass(500);
      // One of the two that are left was alive when the silence began: not more than half.
      await guardedSweep();
      expect(await bench.store.verifyOwner('c', OWNER)).toBe('unknown');
    });
  });
});
