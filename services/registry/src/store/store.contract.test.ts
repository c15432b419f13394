import { randomUUID } from 'node:crypto';
import { silentLogger } from '@parley/service-kit';
import { startRedis, type RedisServer } from '@parley/testkit';
import type { GuardSettings } from '../domain/guard.js';
import type { Change, Renewal } from '../domain/types.js';
import { MemoryStore } from './memory/memory-store.js';
import { RedisStore } from './redis/redis-store.js';
import {
  LogGap,
  type AgreementCommand,
  type LogPosition,
  type RegisterCommand,
  type RegisterResult,
  type RegistryStore,
} from './store.js';

interface StoreSettings {
  readonly guard?: GuardSettings;
  readonly maxAgents?: number;
  readonly changesMaxLength?: number;
  readonly maxAgreements?: number;
}

/** One kind of store under test. Each `open` begins with an empty one. */
interface StoreKind {
  start?(): Promise<void>;
  open(settings: StoreSettings): Promise<RegistryStore>;
  /** Lets the store's clock run. */
  pass(ms: number): Promise<void>;
}

const NO_GUARD: GuardSettings = { awayThresholdMs: 3_600_000, share: 0.5, minAgents: 1 };
const OWNER = 'hash-of-the-owners-token--------------------';
const OTHER = 'hash-of-another-token-----------------------';

function describeStore(name: string, kind: StoreKind): void {
  describe(name, () => {
    let store: RegistryStore;
    const reading = new AbortController();

    beforeAll(async () => {
      await kind.start?.();
    }, 30_000);
    beforeEach(async () => {
      store = await kind.open({ guard: NO_GUARD });
    });
    afterEach(async () => {
      await store.close();
    });
    afterAll(() => {
      reading.abort();
    });

    async function reopen(settings: StoreSettings): Promise<void> {
      await store.close();
      store = await kind.open({ guard: NO_GUARD, ...settings });
    }

    const command = (agentId: string, more: Partial<RegisterCommand> = {}): RegisterCommand => ({
      agentId,
      manifestJson: `{"agent_id":"${agentId}"}`,
      ttlMs: 60_000,
      newTokenHash: OWNER,
      ...more,
    });

    async function registered(agentId: string, more: Partial<RegisterCommand> = {}): Promise<number> {
      const result = await store.register(command(agentId, more));
      if (!('revision' in result)) throw new Error(`${agentId} was not registered: ${result.kind}`);
      return result.revision;
    }

    async function start(): Promise<LogPosition> {
      return (await store.snapshot()).position;
    }

    /** The next `count` changes after a position. */
    async function changes(after: LogPosition, count: number): Promise<readonly Change[]> {
      const found: Change[] = [];
      for await (const batch of store.changes(after, reading.signal)) {
        found.push(...batch.changes);
        if (found.length >= count) break;
      }
      return found;
    }

    const told = (all: readonly Change[]): string[] =>
      all.map((change) => `${change.type} ${'agentId' in change ? change.agentId : change.agreementId}`);

    async function sweep(limit = 100): Promise<{ expired: number; guarded: number; more: boolean }> {
      const { expired, guarded, more } = await store.sweep({ limit, guard: NO_GUARD });
      return { expired, guarded, more };
    }

    async function held(): Promise<string[]> {
      const ids: string[] = [];
      const { records } = await store.snapshot();
      for await (const batch of records) ids.push(...batch.map(({ agentId }) => agentId));
      return ids.sort();
    }

    describe('registering', () => {
      test('a new id is written with deadline and revision, and told once', async () => {
        const before = await start();
        const result = await store.register(command('a', { manifestJson: '{"agent_id":"a","name":"Ä €"}' }));
        expect(result).toMatchObject({ kind: 'registered', revision: before.revision + 1 });
        expect('deadlineMs' in result && result.deadlineMs - result.nowMs).toBe(60_000);
        const [change] = await changes(before, 1);
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
        const { records } = await store.snapshot();
        const read = [];
        for await (const batch of records) read.push(...batch);
        expect(read).toEqual([change !== undefined && 'record' in change ? change.record : undefined]);
      });

      test('a living id is taken for everybody but its owner', async () => {
        const before = await start();
        await registered('a');
        expect(await store.register(command('a', { newTokenHash: OTHER }))).toMatchObject({ kind: 'taken' });
        const stranger = command('a', { newTokenHash: OTHER, callerTokenHash: OTHER });
        expect(await store.register(stranger)).toMatchObject({ kind: 'taken' });
        await registered('b');
        expect(told(await changes(before, 2))).toEqual(['registered a', 'registered b']);
      });

      test('the owner replaces it in full and stays the owner', async () => {
        await registered('a');
        const before = await start();
        const again = command('a', {
          manifestJson: '{"v":2}',
          ttlMs: 90_000,
          callerTokenHash: OWNER,
          newTokenHash: OTHER,
        });
        expect(await store.register(again)).toMatchObject({ kind: 'replaced', revision: before.revision + 1 });
        const [change] = await changes(before, 1);
        expect(change).toMatchObject({ type: 'updated', record: { manifestJson: '{"v":2}', ttlMs: 90_000 } });
        expect(await store.renew('a', OWNER)).toMatchObject({
          kind: 'renewed',
          ttlMs: 90_000,
          revision: before.revision + 1,
        });
        expect(await store.renew('a', OTHER)).toMatchObject({ kind: 'forbidden' });
      });

      test('an id whose deadline has passed is free although nobody has swept', async () => {
        const before = await start();
        await registered('a', { ttlMs: 20 });
        await kind.pass(30);
        expect(await store.register(command('a', { newTokenHash: OTHER }))).toMatchObject({ kind: 'registered' });
        expect(told(await changes(before, 3))).toEqual(['registered a', 'expired a', 'registered a']);
        expect(await store.verifyOwner('a', OTHER)).toBe('owner');
        expect(await sweep()).toEqual({ expired: 0, guarded: 0, more: false });
      });

      test('of the same id by many at once: one gets it', async () => {
        const attempts = Array.from({ length: 20 }, (_, i) =>
          store.register(command('a', { newTokenHash: `hash-${String(i)}` })),
        );
        const kinds = (await Promise.all(attempts)).map((result: RegisterResult) => result.kind);
        expect(kinds.filter((each) => each === 'registered')).toHaveLength(1);
        expect(kinds.filter((each) => each === 'taken')).toHaveLength(19);
      });

      test('is refused past the most agents, but not for one that is there', async () => {
        await reopen({ maxAgents: 2 });
        await registered('a');
        await registered('b');
        expect(await store.register(command('c'))).toMatchObject({ kind: 'full' });
        expect(await store.register(command('a', { callerTokenHash: OWNER }))).toMatchObject({ kind: 'replaced' });
      });
    });

    describe('renewing', () => {
      test('counts the lease from now', async () => {
        await registered('a', { ttlMs: 5_000 });
        await kind.pass(40);
        const result = await store.renew('a', OWNER);
        expect(result).toMatchObject({ kind: 'renewed', ttlMs: 5_000, deadlineMs: result.nowMs + 5_000 });
        expect(await store.deadlinesOf(['a'])).toEqual([expect.objectContaining({ deadlineMs: result.nowMs + 5_000 })]);
      });

      test('does not know an absent id, and not a foreign token', async () => {
        expect(await store.renew('nobody', OWNER)).toMatchObject({ kind: 'unknown' });
        await registered('a');
        expect(await store.renew('a', OTHER)).toMatchObject({ kind: 'forbidden' });
      });

      test('never revives: once the deadline has passed the lease is unknown, swept or not', async () => {
        await registered('a', { ttlMs: 20 });
        await kind.pass(30);
        expect(await store.renew('a', OWNER)).toMatchObject({ kind: 'unknown' });
        expect((await sweep()).expired).toBe(1);
        expect(await store.renew('a', OWNER)).toMatchObject({ kind: 'unknown' });
      });

      test('is not a line in the log, but reaches those who read it', async () => {
        const before = await start();
        const renewal: Renewal = { agentId: 'a', revision: 7, deadlineMs: 123 };
        await store.publishRenewals([renewal, { ...renewal, agentId: 'b' }]);
        await registered('c');
        expect(told(await changes(before, 1))).toEqual(['registered c']);
      });
    });

    describe('deregistering', () => {
      test('is for the owner or the operator, and told once', async () => {
        await registered('a');
        await registered('b');
        const before = await start();
        expect(await store.deregister('a', { tokenHash: OTHER })).toMatchObject({ kind: 'forbidden' });
        expect(await store.deregister('a', { tokenHash: OWNER })).toMatchObject({
          kind: 'done',
          revision: before.revision + 1,
        });
        expect(await store.deregister('b', { operator: true })).toMatchObject({
          kind: 'done',
          revision: before.revision + 2,
        });
        expect(await store.deregister('a', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
        expect(told(await changes(before, 2))).toEqual(['deregistered a', 'deregistered b']);
        expect(await held()).toEqual([]);
      });

      test('does not know one whose deadline has passed', async () => {
        await registered('a', { ttlMs: 20 });
        await kind.pass(30);
        expect(await store.deregister('a', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
        expect(await store.deregister('a', { operator: true })).toMatchObject({ kind: 'unknown' });
      });
    });

    test('ownership is told apart', async () => {
      await registered('a');
      await registered('b', { ttlMs: 20 });
      await kind.pass(30);
      expect(await store.verifyOwner('a', OWNER)).toBe('owner');
      expect(await store.verifyOwner('a', OTHER)).toBe('other');
      expect(await store.verifyOwner('a', OWNER.slice(1))).toBe('other');
      expect(await store.verifyOwner('b', OWNER)).toBe('unknown');
      expect(await store.verifyOwner('nobody', OWNER)).toBe('unknown');
    });

    describe('sweeping', () => {
      test('logs each passed deadline once, in the order of deadlines, in bounded steps', async () => {
        const before = await start();
        await registered('third', { ttlMs: 600 });
        await registered('first', { ttlMs: 200 });
        await registered('living');
        await registered('second', { ttlMs: 400 });
        await kind.pass(620);
        expect(await sweep(2)).toEqual({ expired: 2, guarded: 0, more: true });
        expect(await sweep(2)).toEqual({ expired: 1, guarded: 0, more: false });
        expect(await sweep(2)).toEqual({ expired: 0, guarded: 0, more: false });
        const lines = await changes(before, 7);
        expect(told(lines).slice(4)).toEqual(['expired first', 'expired second', 'expired third']);
        expect(await held()).toEqual(['living']);
        expect(await store.deadlinesOf(['first', 'living'])).toMatchObject([{ kind: 'unknown' }, { kind: 'record' }]);
      });

      test('by many at once counts nobody twice', async () => {
        for (let i = 0; i < 40; i++) await registered(`agent-${String(i)}`, { ttlMs: 10 });
        await kind.pass(30);
        const results = await Promise.all(Array.from({ length: 8 }, () => sweep(10)));
        expect(results.reduce((sum, { expired }) => sum + expired, 0)).toBe(40);
      });

      test('spares one that was renewed in the meantime', async () => {
        await registered('a', { ttlMs: 400 });
        await kind.pass(200);
        expect(await store.renew('a', OWNER)).toMatchObject({ kind: 'renewed' });
        await kind.pass(300);
        expect((await sweep()).expired).toBe(0);
        expect(await store.verifyOwner('a', OWNER)).toBe('owner');
      });
    });

    describe('the guard against mass expiry', () => {
      const guard: GuardSettings = { awayThresholdMs: 400, share: 0.5, minAgents: 1 };
      const guardedSweep = async (): Promise<{ expired: number; guarded: number }> => {
        const { expired, guarded } = await store.sweep({ limit: 100, guard });
        return { expired, guarded };
      };

      beforeEach(async () => {
        await reopen({ guard });
      });

      test('counts leases from the return of the registry, once, for one lease', async () => {
        await registered('gone', { ttlMs: 20 });
        await registered('renews', { ttlMs: 500 });
        await registered('silent', { ttlMs: 500 });
        await kind.pass(40);
        expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });
        await kind.pass(900);
        // Their deadlines passed in the silence; the first one back is not even the sweep.
        const renewed = await store.renew('renews', OWNER);
        expect(renewed.kind).toBe('renewed');
        expect(await guardedSweep()).toMatchObject({ expired: 0 });
        const [silent] = await store.deadlinesOf(['silent']);
        expect(silent).toMatchObject({ kind: 'record' });
        expect(silent !== undefined && 'deadlineMs' in silent && silent.deadlineMs).toBe(renewed.nowMs + 500);
        await kind.pass(300);
        expect(await guardedSweep()).toEqual({ expired: 0, guarded: 0 });
        expect(await store.renew('renews', OWNER)).toMatchObject({ kind: 'renewed' });
        await kind.pass(300);
        expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });
        expect(await store.verifyOwner('silent', OWNER)).toBe('unknown');
        expect(await store.verifyOwner('renews', OWNER)).toBe('owner');
      });

      test('does not act after a short silence, nor for those who were over before', async () => {
        await registered('a', { ttlMs: 60 });
        await guardedSweep();
        await kind.pass(80);
        expect(await guardedSweep()).toEqual({ expired: 1, guarded: 0 });

        await registered('b', { ttlMs: 10 });
        await registered('c', { ttlMs: 10 });
        await registered('d', { ttlMs: 5_000 });
        await kind.pass(30);
        await store.sweep({ limit: 1, guard });
        await kind.pass(500);
        // One of the two that are left was alive when the silence began: not more than half.
        await guardedSweep();
        expect(await store.verifyOwner('c', OWNER)).toBe('unknown');
      });
    });

    describe('the log', () => {
      test('numbers its lines without holes and is read on from anywhere', async () => {
        const before = await start();
        for (let i = 0; i < 450; i++) await registered(`agent-${String(i)}`);
        const all = await changes(before, 450);
        expect(all.map(({ revision }) => revision)).toEqual(all.map((_, i) => before.revision + 1 + i));
        const middle = { ...before, revision: before.revision + 440, mark: '' };
        expect(await changes(middle, 10)).toEqual(all.slice(440));
      });

      test('wakes a reader that waits', async () => {
        const before = await start();
        const next = changes(before, 1);
        await registered('a');
        expect(told(await next)).toEqual(['registered a']);
      });

      test('ends for a reader that leaves', async () => {
        const leaving = new AbortController();
        const batches = [];
        for await (const batch of store.changes(await start(), leaving.signal)) {
          batches.push(batch);
          leaving.abort();
        }
        expect(batches).toHaveLength(1);
        expect(batches[0]?.changes).toEqual([]);
      });

      test('says so when it does not reach back far enough', async () => {
        await reopen({ changesMaxLength: 100 });
        const before = await start();
        for (let i = 0; i < 700; i++) await registered(`agent-${String(i)}`);
        await expect(changes(before, 1)).rejects.toMatchObject({ reason: 'too_old' });
        expect(await changes({ ...before, revision: before.revision + 650, mark: '' }, 50)).toHaveLength(50);
      });

      test('is another one after the store has lost its data', async () => {
        const before = await start();
        const wrong = changes({ ...before, epoch: 'another' }, 1);
        await expect(wrong).rejects.toBeInstanceOf(LogGap);
        await expect(wrong).rejects.toMatchObject({ reason: 'epoch_changed' });
      });
    });

    test('a snapshot comes in bounded batches and is completed by the log', async () => {
      for (let i = 0; i < 1_200; i++) await registered(`agent-${String(i)}`);
      const { position, records } = await store.snapshot();
      await registered('late');
      const sizes: number[] = [];
      const ids = new Set<string>();
      for await (const batch of records) {
        sizes.push(batch.length);
        for (const { agentId } of batch) ids.add(agentId);
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
      ids.delete('late');
      expect(ids.size).toBe(1_200);
      expect(told(await changes(position, 1))).toEqual(['registered late']);
    });

    describe('orphans', () => {
      test('are known by their deadline, and come back as updated', async () => {
        await registered('known');
        const before = await start();
        const soon = store.now() + 5_000;
        const views = await store.adoptOrphans([
          { agentId: 'x', deadlineMs: soon },
          { agentId: 'known', deadlineMs: soon },
        ]);
        expect(views).toEqual([
          { kind: 'orphan', deadlineMs: Math.floor(soon) },
          { kind: 'record', revision: before.revision, deadlineMs: expect.any(Number) as number },
        ]);
        // Another replica has another opinion; the first one counts.
        const [again] = await store.adoptOrphans([{ agentId: 'x', deadlineMs: soon + 1_000 }]);
        expect(again).toEqual(views[0]);
        expect(await store.renew('x', OWNER)).toMatchObject({ kind: 'unknown' });
        expect(await store.verifyOwner('x', OWNER)).toBe('unknown');
        expect(await held()).toEqual(['known']);
        expect(await store.register(command('x'))).toMatchObject({ kind: 'registered' });
        expect(told(await changes(before, 1))).toEqual(['updated x']);
        expect(await held()).toEqual(['known', 'x']);
      });

      test('expire once, and only the operator can end them', async () => {
        const before = await start();
        const deadlineMs = store.now() + 20;
        await store.adoptOrphans([
          { agentId: 'x', deadlineMs },
          { agentId: 'y', deadlineMs: store.now() + 60_000 },
        ]);
        await kind.pass(40);
        expect(await sweep()).toMatchObject({ expired: 1 });
        expect(await sweep()).toMatchObject({ expired: 0 });
        expect(await store.deregister('y', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
        expect(await store.deregister('y', { operator: true })).toMatchObject({ kind: 'done' });
        expect(told(await changes(before, 2))).toEqual(['expired x', 'deregistered y']);
      });
    });

    describe('agreements', () => {
      const agreement = (
        agreementId: string,
        version: number,
        more: Partial<AgreementCommand> = {},
      ): AgreementCommand => ({
        agreementId,
        version,
        state: 'active',
        parties: ['a', 'b'],
        json: `{"agreement_id":"${agreementId}","version":${String(version)}}`,
        ttlMs: 60_000,
        changeType: 'agreed',
        ...more,
      });

      test('only a newer version is taken, and told once', async () => {
        const before = await start();
        expect(await store.recordAgreement(agreement('g', 2))).toEqual({
          recorded: true,
          revision: before.revision + 1,
        });
        expect(await store.recordAgreement(agreement('g', 2))).toEqual({ recorded: false });
        expect(await store.recordAgreement(agreement('g', 1))).toEqual({ recorded: false });
        const ended = agreement('g', 10, { state: 'ended', changeType: 'ended' });
        expect(await store.recordAgreement(ended)).toMatchObject({ recorded: true });
        const lines = await changes(before, 2);
        expect(told(lines)).toEqual(['agreed g', 'ended g']);
        expect(lines[1]).toMatchObject({ agreementJson: ended.json });
        expect(await store.getAgreement('g')).toEqual({
          agreementId: 'g',
          version: 10,
          state: 'ended',
          json: ended.json,
        });
        expect(await store.getAgreement('h')).toBeUndefined();
      });

      test('are listed by id, by state and by party, page by page', async () => {
        for (let i = 0; i < 7; i++) {
          const more = { state: i % 2 === 0 ? 'active' : 'ended', parties: ['a', i < 4 ? 'b' : 'c'] as const };
          await store.recordAgreement(agreement(`g${String(i)}`, 1, more));
        }
        const list = async (filter: {
          state?: string;
          agentId?: string;
          afterId?: string;
          limit?: number;
        }): Promise<string> => {
          const { agreements, nextAfterId } = await store.listAgreements({ limit: 100, ...filter });
          return `${agreements.map(({ agreementId }) => agreementId).join(' ')} ${nextAfterId ?? '.'}`;
        };
        expect(await list({})).toBe('g0 g1 g2 g3 g4 g5 g6 .');
        expect(await list({ state: 'ended' })).toBe('g1 g3 g5 .');
        expect(await list({ agentId: 'c' })).toBe('g4 g5 g6 .');
        expect(await list({ agentId: 'a', state: 'active', limit: 2 })).toBe('g0 g2 g2');
        expect(await list({ agentId: 'a', state: 'active', limit: 2, afterId: 'g2' })).toBe('g4 g6 .');
        expect(await list({ agentId: 'nobody' })).toBe(' .');
      });

      test('are forgotten when their time is over, and when there are too many', async () => {
        await reopen({ maxAgreements: 2 });
        await store.recordAgreement(agreement('short', 1, { ttlMs: 20 }));
        await kind.pass(30);
        await sweep();
        expect(await store.getAgreement('short')).toBeUndefined();
        for (const [id, ttlMs] of [
          ['x', 5_000],
          ['y', 9_000],
          ['z', 7_000],
        ] as const) {
          await store.recordAgreement(agreement(id, 1, { ttlMs }));
        }
        const { agreements } = await store.listAgreements({ limit: 10 });
        expect(agreements.map(({ agreementId }) => agreementId)).toEqual(['y', 'z']);
      });
    });
  });
}

let memoryNow = 1_772_000_000_000;
describeStore('memory', {
  open: (settings) =>
    Promise.resolve(new MemoryStore({ epoch: randomUUID(), now: () => memoryNow, guard: NO_GUARD, ...settings })),
  pass: (ms) => {
    memoryNow += ms;
    return Promise.resolve();
  },
});

let redis: RedisServer;
describeStore('Redis', {
  start: async () => {
    redis = await startRedis();
  },
  open: async (settings) => {
    const namespace = randomUUID();
    const store = new RedisStore({ url: redis.url, logger: silentLogger, guard: NO_GUARD, namespace, ...settings });
    await eventuallyAnswers(store);
    return store;
  },
  // Deadlines are compared with Redis' own clock, which nobody can set.
  pass: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms + 2);
    }),
});

async function eventuallyAnswers(store: RegistryStore): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await store.ping();
      return;
    } catch {
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  }
  throw new Error('Redis does not answer');
}
