import { randomUUID } from 'node:crypto';
import { silentLogger, type RedisTarget } from '@parley/service-kit';
import { eventually, startRedis, startRedisCluster, startRedisSentinel } from '@parley/testkit';
import type { GuardSettings } from '../domain/guard.js';
import type { Change } from '../domain/types.js';
import { MemoryStore } from '../store/memory/memory-store.js';
import { RedisStore } from '../store/redis/redis-store.js';
import type { LogPosition, RegisterCommand, RegistryStore } from '../store/store.js';

export interface StoreSettings {
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

export const NO_GUARD: GuardSettings = { awayThresholdMs: 3_600_000, share: 0.5, minAgents: 1 };
export const OWNER = 'hash-of-the-owners-token--------------------';
export const OTHER = 'hash-of-another-token-----------------------';

/** A store, empty at the beginning of each test, and what tests do with it. */
export class StoreBench {
  readonly #kind: StoreKind;
  #store: RegistryStore | undefined;

  constructor(kind: StoreKind) {
    this.#kind = kind;
  }

  get store(): RegistryStore {
    if (this.#store === undefined) throw new Error('no store is open');
    return this.#store;
  }

  async reopen(settings: StoreSettings = {}): Promise<void> {
    await this.#store?.close();
    this.#store = await this.#kind.open({ guard: NO_GUARD, ...settings });
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
  }

  /** Lets the store's clock run. */
  pass(ms: number): Promise<void> {
    return this.#kind.pass(ms);
  }

  command(agentId: string, more: Partial<RegisterCommand> = {}): RegisterCommand {
    return { agentId, manifestJson: `{"agent_id":"${agentId}"}`, ttlMs: 60_000, newTokenHash: OWNER, ...more };
  }

  async registered(agentId: string, more: Partial<RegisterCommand> = {}): Promise<number> {
    const result = await this.store.register(this.command(agentId, more));
    if (!('revision' in result)) throw new Error(`${agentId} was not registered: ${result.kind}`);
    return result.revision;
  }

  /** Where the log stands now. */
  async start(): Promise<LogPosition> {
    return (await this.store.snapshot()).position;
  }

  /** The next `count` changes after a position. */
  async changes(after: LogPosition, count: number): Promise<readonly Change[]> {
    const found: Change[] = [];
    for await (const batch of this.store.changes(after, new AbortController().signal)) {
      found.push(...batch.changes);
      if (found.length >= count) break;
    }
    return found;
  }

  async sweep(limit = 100, guard = NO_GUARD): Promise<{ expired: number; guarded: number; more: boolean }> {
    const { expired, guarded, more } = await this.store.sweep({ limit, guard });
    return { expired, guarded, more };
  }

  /** The ids that a snapshot contains. */
  async held(): Promise<string[]> {
    const ids: string[] = [];
    const { records } = await this.store.snapshot();
    for await (const batch of records) ids.push(...batch.map(({ agentId }) => agentId));
    return ids.sort();
  }
}

export function told(all: readonly Change[]): string[] {
  return all.map((change) => `${change.type} ${'agentId' in change ? change.agentId : change.agreementId}`);
}

/** Runs the same tests against every implementation of the store. */
export function describeStores(define: (bench: StoreBench) => void): void {
  for (const [name, kind] of [
    ['memory', memoryKind()],
    ['Redis', redisKind(async () => ({ url: (await startRedis()).url }))],
    ['Redis by sentinels', redisKind(() => startRedisSentinel({ replicas: 1, sentinels: 1 }))],
    ['Redis Cluster', redisKind(async () => ({ clusterNodes: (await startRedisCluster()).addresses }))],
  ] as const) {
    describe(name, () => {
      const bench = new StoreBench(kind);
      beforeAll(async () => {
        await kind.start?.();
      }, 30_000);
      beforeEach(() => bench.reopen());
      afterEach(() => bench.close());
      define(bench);
    });
  }
}

function memoryKind(): StoreKind {
  let nowMs = 1_772_000_000_000;
  return {
    open: (settings) =>
      Promise.resolve(new MemoryStore({ epoch: randomUUID(), now: () => nowMs, guard: NO_GUARD, ...settings })),
    pass: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
}

function redisKind(start: () => Promise<RedisTarget>): StoreKind {
  let redis: RedisTarget = { url: '' };
  return {
    start: async () => {
      redis = await start();
    },
    open: async (settings) => {
      const options = { logger: silentLogger, guard: NO_GUARD, namespace: `test-${randomUUID()}`, ...settings };
      const store = new RedisStore({ redis, ...options });
      await eventually(() => store.ping());
      return store;
    },
    // Deadlines are compared with Redis' own clock, which nobody can set.
    pass: (ms) =>
      new Promise((resolve) => {
        setTimeout(resolve, ms + 2);
      }),
  };
}
