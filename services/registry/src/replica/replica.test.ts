import { AppError, silentLogger } from '@parley/service-kit';
import { DEFAULT_GUARD } from '../domain/guard.js';
import type { Renewal } from '../domain/types.js';
import { MemoryStore } from '../store/memory/memory-store.js';
import type { DeadlineView, RegistryStore } from '../store/store.js';
import type { RegistryCore, RegistryEvent, RegistryHooks, RegistrySettings, ResyncEvent } from './core-types.js';
import { createRegistryCore } from './registry-core.js';

const START = Date.parse('2026-05-04T10:00:00.000Z');
const HASH = 'hash';

/** The memory store with a switch: while it is off, everything that crosses to a real store fails. */
class SwitchedStore extends MemoryStore {
  off = false;
  dropRenewals = false;

  #check(): void {
    if (this.off) throw new AppError('unavailable', 'switched off', { code: 'store_unavailable' });
  }
  override ping(): Promise<void> {
    return this.#checked(() => super.ping());
  }
  override register(...args: Parameters<RegistryStore['register']>): ReturnType<RegistryStore['register']> {
    return this.#checked(() => super.register(...args));
  }
  override sweep(...args: Parameters<RegistryStore['sweep']>): ReturnType<RegistryStore['sweep']> {
    return this.#checked(() => super.sweep(...args));
  }
  override snapshot(): ReturnType<RegistryStore['snapshot']> {
    return this.#checked(() => super.snapshot());
  }
  override deadlinesOf(ids: readonly string[]): Promise<readonly DeadlineView[]> {
    return this.#checked(() => super.deadlinesOf(ids));
  }
  override publishRenewals(renewals: readonly Renewal[]): Promise<void> {
    return this.dropRenewals ? Promise.resolve() : this.#checked(() => super.publishRenewals(renewals));
  }
  async #checked<T>(run: () => Promise<T>): Promise<T> {
    this.#check();
    return run();
  }
}

const { jest } = import.meta;
const running: RegistryCore[] = [];
let store: SwitchedStore;

beforeEach(() => {
  jest.useFakeTimers({ now: START });
  store = new SwitchedStore({ epoch: 'e1', guard: DEFAULT_GUARD });
});

afterEach(async () => {
  store.off = false;
  const stopped = Promise.all(running.splice(0).map((core) => core.stop()));
  await jest.advanceTimersByTimeAsync(3_000);
  await stopped;
  await store.close();
  jest.useRealTimers();
});

async function start(
  options: { settings?: Partial<RegistrySettings>; hooks?: RegistryHooks } = {},
): Promise<RegistryCore> {
  const core = createRegistryCore({ store, logger: silentLogger, now: Date.now, ...options });
  running.push(core);
  const started = core.start();
  await pass(50);
  await started;
  return core;
}

async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
}

async function register(core: RegistryCore, agentId: string, ttlMs = 30_000): Promise<number> {
  const done = core.register({
    manifest: { agentId, name: agentId, endpoint: 'http://x', capabilities: ['translate'] },
    ttlMs,
    callerTokenHash: HASH,
    newTokenHash: HASH,
  });
  await pass(5);
  return (await done).revision;
}

function ids(core: RegistryCore): string[] {
  return core.discover({ required: ['translate'] }).agents.map(({ agentId }) => agentId);
}

function record(core: RegistryCore): string[] {
  const told: string[] = [];
  core.subscribe((event) => told.push(say(event)));
  return told;
}

function say(event: RegistryEvent | ResyncEvent): string {
  if (event.type === 'resync') return `resync ${event.reason}`;
  return `${event.type} ${'agentId' in event ? event.agentId : event.agreementId}`;
}

async function failure(run: () => unknown): Promise<AppError> {
  try {
    await run();
  } catch (error) {
    return AppError.from(error);
  }
  throw new Error('nothing failed');
}

describe('writes and reads', () => {
  test('a write is shown by its own replica when it is answered, and by the others soon', async () => {
    const [one, two] = [await start(), await start()];
    const revision = await register(one, 'a');
    expect(ids(one)).toEqual(['a']);
    await two.applied(revision);
    expect(ids(two)).toEqual(['a']);
    expect(two.get('a').agent.revision).toBe(revision);
    await one.deregister('a', { tokenHash: HASH });
    expect(ids(one)).toEqual([]);
  });

  test('a replica that starts later has everything', async () => {
    const one = await start();
    await register(one, 'a');
    await register(one, 'b');
    await one.deregister('a', { operator: true });
    const two = await start();
    expect(ids(two)).toEqual(['b']);
    expect(two.status()).toMatchObject({ state: 'live' });
  });

  test('leases are kept within their bounds', async () => {
    const core = await start({ settings: { minTtlMs: 2_000, maxTtlMs: 60_000, defaultTtlMs: 10_000 } });
    const granted = async (agentId: string, ttlMs?: number): Promise<number> => {
      const manifest = { agentId, name: agentId, endpoint: 'http://x', capabilities: ['x'] };
      const outcome = await core.register({ manifest, newTokenHash: HASH, ...(ttlMs === undefined ? {} : { ttlMs }) });
      return outcome.lease.ttlMs;
    };
    expect(await granted('a', 1)).toBe(2_000);
    expect(await granted('b', 9_999_999)).toBe(60_000);
    expect(await granted('c')).toBe(10_000);
  });

  test('refusals are typed', async () => {
    const core = await start();
    await register(core, 'a');
    const manifest = { agentId: 'a', name: 'a', endpoint: 'http://x', capabilities: ['x'] };
    expect(await failure(() => core.register({ manifest, newTokenHash: 'other' }))).toMatchObject({
      code: 'agent_id_taken',
      status: 409,
    });
    expect(await failure(() => core.renew('a', 'other'))).toMatchObject({ code: 'not_owner', status: 403 });
    expect(await failure(() => core.renew('b', HASH))).toMatchObject({ code: 'lease_unknown', status: 404 });
    expect(await failure(() => core.deregister('b', { operator: true }))).toMatchObject({
      code: 'agent_unknown',
      status: 404,
    });
    expect(await failure(() => core.get('b'))).toMatchObject({ code: 'agent_unknown', status: 404 });
    expect(await failure(() => core.getAgreement('g'))).toMatchObject({ code: 'agreement_unknown', status: 404 });
    expect(await failure(() => core.discover({ required: ['a@nonsense'] }))).toMatchObject({
      code: 'invalid_range',
      status: 400,
      errors: [{ path: 'required_capabilities[0]' }],
    });
    expect(await failure(() => core.discover({ cursor: '?' }))).toMatchObject({ code: 'invalid_cursor', status: 400 });
    expect(await failure(() => core.listAgreements({ cursor: '?' }))).toMatchObject({
      code: 'invalid_cursor',
      status: 400,
    });
    expect(await failure(() => core.listAgreements({ limit: 0 }))).toMatchObject({
      code: 'invalid_limit',
      status: 400,
    });
  });

  test('agreements are witnessed, told and paged', async () => {
    const core = await start();
    const told = record(core);
    for (const [agreementId, state] of [
      ['g1', 'active'],
      ['g2', 'ended'],
      ['g3', 'active'],
    ] as const) {
      const done = core.recordAgreement({
        agreementId,
        version: 1,
        state,
        parties: ['a', 'b'],
        json: '{}',
        ttlMs: 60_000,
        changeType: state === 'active' ? 'agreed' : 'ended',
      });
      await pass(5);
      expect(await done).toEqual({ recorded: true });
    }
    expect(told).toEqual(['agreed g1', 'ended g2', 'agreed g3']);
    const first = await core.listAgreements({ state: 'active', limit: 1 });
    expect(first.agreements.map(({ agreementId }) => agreementId)).toEqual(['g1']);
    const next = await core.listAgreements({ state: 'active', limit: 1, cursor: first.nextCursor ?? '' });
    expect(next.agreements.map(({ agreementId }) => agreementId)).toEqual(['g3']);
    expect(next.nextCursor).toBeUndefined();
  });
});

describe('expiry', () => {
  test('an agent that stops renewing is gone at its deadline and told as expired within two seconds', async () => {
    const expired: number[] = [];
    const core = await start({ hooks: { onExpired: (count) => expired.push(count) } });
    const told = record(core);
    await register(core, 'a', 5_000);
    await pass(4_900);
    expect(ids(core)).toEqual(['a']);
    await pass(100);
    expect(ids(core)).toEqual([]);
    expect(core.livingCount()).toBe(0);
    expect(core.discover({ countTotal: true }).total).toBe(0);
    await pass(2_000);
    expect(told).toEqual(['registered a', 'expired a']);
    expect(expired).toEqual([1]);
  });

  test('renewals keep it, in the other replicas too', async () => {
    const [one, two] = [await start(), await start()];
    await register(one, 'a', 3_000);
    for (let i = 0; i < 10; i++) {
      await pass(1_000);
      await one.renew('a', HASH);
      expect(ids(one)).toEqual(['a']);
      expect(ids(two)).toEqual(['a']);
    }
    await pass(300);
    expect(two.get('a').agent.deadlineMs).toBe(one.get('a').agent.deadlineMs);
  });

  test('a lost batch of renewals hides nobody: the store is asked before the deadline', async () => {
    const late: number[] = [];
    const [one, two] = [await start(), await start({ hooks: { onRenewedLate: (count) => late.push(count) } })];
    const told = record(two);
    await register(one, 'a', 10_000);
    store.dropRenewals = true;
    for (let i = 0; i < 60; i++) {
      await pass(500);
      if (i % 6 === 5) await one.renew('a', HASH);
      expect(ids(two)).toEqual(['a']);
    }
    expect(told).toEqual(['registered a']);
    expect(late.length).toBeGreaterThan(0);
  });

  test('a registration that ended is not brought back by a late renewal of it', async () => {
    const core = await start();
    const first = await register(core, 'a', 60_000);
    await core.deregister('a', { tokenHash: HASH });
    await register(core, 'a', 5_000);
    await store.publishRenewals([{ agentId: 'a', revision: first, deadlineMs: START + 900_000 }]);
    await pass(1_000);
    expect(core.get('a').agent.deadlineMs).toBeLessThan(START + 10_000);
  });
});

describe('events', () => {
  test('reach everybody in the same order, and a watcher resumes without loss or doubles', async () => {
    const [one, two] = [await start(), await start()];
    const [toldOne, toldTwo] = [record(one), record(two)];
    const first = await register(one, 'a');
    await register(two, 'b', 2_000);
    await register(one, 'a');
    await two.deregister('a', { operator: true });
    await pass(4_000);
    expect(toldOne).toEqual(['registered a', 'registered b', 'updated a', 'deregistered a', 'expired b']);
    expect(toldTwo).toEqual(toldOne);
    const missed = one.changesAfter(first);
    expect(missed === 'too_old' ? missed : missed.map(say)).toEqual(toldOne.slice(1));
    expect(one.changesAfter(first + 4)).toEqual([]);
    expect(one.changesAfter(first + 5)).toBe('too_old');
    expect(one.changesAfter(first - 2)).toBe('too_old');
  });

  test('a resumption too far back is told so', async () => {
    const core = await start({ settings: { recentEvents: 8 } });
    const revisions: number[] = [];
    for (let i = 0; i < 30; i++) revisions.push(await register(core, `agent-${String(i)}`));
    expect(core.changesAfter(revisions[2] ?? 0)).toBe('too_old');
    const recent = core.changesAfter(revisions[25] ?? 0);
    expect(recent === 'too_old' ? recent : recent.map(({ revision }) => revision)).toEqual(revisions.slice(26));
  });

  test('a listener that throws does not keep the others from hearing, and one that left hears nothing', async () => {
    const core = await start();
    core.subscribe(() => {
      throw new Error('broken');
    });
    const told = record(core);
    const gone: unknown[] = [];
    core.subscribe((event) => gone.push(event))();
    await register(core, 'a');
    expect(told).toEqual(['registered a']);
    expect(gone).toEqual([]);
  });

  test('a snapshot for a watcher and the events after it fit together', async () => {
    const core = await start();
    await register(core, 'a');
    const { revision, agents } = core.agents();
    expect([...agents].map(({ agentId }) => agentId)).toEqual(['a']);
    await register(core, 'b');
    const after = core.changesAfter(revision);
    expect(after === 'too_old' ? after : after.map(say)).toEqual(['registered b']);
  });
});

describe('while the store is away', () => {
  test('reads answer as of the loss, nobody expires, writes are refused; later reads are refused too', async () => {
    const states: string[] = [];
    const core = await start({
      settings: { maxStaleMs: 20_000 },
      hooks: { onStatus: ({ state }) => states.push(state) },
    });
    const told = record(core);
    await register(core, 'a', 5_000);
    await pass(2_000);
    store.off = true;
    const lostAt = Date.now();
    await pass(3_000);
    const status = core.status();
    expect(status.state).toBe('stale');
    const since = 'staleSinceMs' in status ? status.staleSinceMs : 0;
    expect(Math.abs(since - lostAt)).toBeLessThanOrEqual(1_050);
    await pass(10_000);
    // Its deadline passed eight seconds ago, but it had no chance to renew.
    expect(core.discover({ required: ['translate'] })).toMatchObject({
      agents: [{ agentId: 'a' }],
      staleSinceMs: since,
    });
    expect(core.get('a').staleSinceMs).toBe(since);
    expect(await failure(() => register(core, 'b'))).toMatchObject({ code: 'store_unavailable', status: 503 });
    await pass(10_000);
    expect(core.status().state).toBe('unavailable');
    expect(await failure(() => core.discover({}))).toMatchObject({ code: 'store_unavailable', status: 503 });
    expect(await failure(() => core.get('a'))).toMatchObject({ code: 'store_unavailable' });

    store.off = false;
    await pass(2_000);
    expect(core.status().state).toBe('live');
    // The guard: its lease counts from the return.
    expect(ids(core)).toEqual(['a']);
    expect(states).toEqual(['live', 'stale', 'unavailable', 'live']);
    await pass(8_000);
    expect(ids(core)).toEqual([]);
    expect(told).toEqual(['registered a', 'expired a']);
  });

  test('a replica that starts then answers nothing, and everything as soon as the store is there', async () => {
    store.off = true;
    const core = createRegistryCore({ store, logger: silentLogger, now: Date.now });
    running.push(core);
    const started = core.start();
    await pass(2_500);
    await started;
    expect(core.status()).toEqual({ state: 'starting' });
    expect(await failure(() => core.discover({}))).toMatchObject({ code: 'store_unavailable' });
    expect(core.changesAfter(1)).toBe('too_old');
    store.off = false;
    await pass(3_000);
    expect(core.status().state).toBe('live');
    expect(ids(core)).toEqual([]);
  });

  test('stopping takes bounded time', async () => {
    const core = await start();
    store.off = true;
    const waiting = core.applied(Number.MAX_SAFE_INTEGER, { timeoutMs: 60_000 });
    const stopped = core.stop();
    await pass(2_500);
    await stopped;
    expect(await waiting).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });
});
