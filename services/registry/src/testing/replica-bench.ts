import { randomUUID } from 'node:crypto';
import { AppError, silentLogger } from '@parley/service-kit';
import { startRedis, waitFor, type RedisServer } from '@parley/testkit';
import type { RegistryCore, RegistryEvent, ResyncEvent } from '../replica/core-types.js';
import { createRegistryCore } from '../replica/registry-core.js';
import { RedisStore } from '../store/redis/redis-store.js';

const GUARD = { awayThresholdMs: 1_000, share: 0.5, minAgents: 1 };
export const HASH = 'hash-of-the-owners-token';

export interface TestReplica {
  readonly core: RegistryCore;
  readonly store: RedisStore;
  readonly told: (RegistryEvent | ResyncEvent)[];
}

export interface ReplicaOptions {
  readonly losesRenewals?: boolean;
  readonly maxStaleMs?: number;
  /** Default: straight to Redis. */
  readonly url?: string;
}

/** One Redis for a test file, a namespace for each test, and replicas that are stopped after it. */
export class ReplicaBench {
  readonly #running: TestReplica[] = [];
  #redis: RedisServer | undefined;
  #namespace = '';

  get redis(): RedisServer {
    if (this.#redis === undefined) throw new Error('Redis has not been started');
    return this.#redis;
  }

  get namespace(): string {
    return this.#namespace;
  }

  async replica(options: ReplicaOptions = {}): Promise<TestReplica> {
    const Store = options.losesRenewals === true ? ForgetfulStore : RedisStore;
    const url = options.url ?? this.redis.url;
    const store = new Store({ redis: { url }, logger: silentLogger, guard: GUARD, namespace: this.#namespace });
    const core = createRegistryCore({
      store,
      logger: silentLogger,
      settings: { sweepIntervalMs: 200, renewalBatchMs: 50, guard: GUARD, maxStaleMs: options.maxStaleMs ?? 60_000 },
    });
    const made = { core, store, told: [] as (RegistryEvent | ResyncEvent)[] };
    this.#running.push(made);
    await core.start();
    core.subscribe((event) => made.told.push(event));
    await live(made);
    return made;
  }

  /** Registers the hooks of the test file. */
  use(): this {
    beforeAll(async () => {
      this.#redis = await startRedis();
    }, 30_000);
    beforeEach(() => {
      this.#namespace = `test-${randomUUID()}`;
    });
    afterEach(async () => {
      await this.redis.resume();
      for (const { core, store } of this.#running.splice(0)) {
        await core.stop();
        await store.close();
      }
    });
    return this;
  }
}

class ForgetfulStore extends RedisStore {
  override publishRenewals(): Promise<void> {
    return Promise.resolve();
  }
}

export async function register({ core }: TestReplica, agentId: string, ttlMs = 30_000): Promise<number> {
  const { revision } = await core.register({
    manifest: { agentId, name: agentId, endpoint: 'http://x', capabilities: ['translate'] },
    ttlMs,
    callerTokenHash: HASH,
    newTokenHash: HASH,
  });
  return revision;
}

export function ids({ core }: TestReplica): string[] {
  return core.discover({ required: ['translate'] }).agents.map(({ agentId }) => agentId);
}

export function say(events: readonly (RegistryEvent | ResyncEvent)[], agentId?: string): string[] {
  return events
    .filter((event) => agentId === undefined || ('agentId' in event && event.agentId === agentId))
    .map((event) =>
      event.type === 'resync' ? `resync ${event.reason}` : `${event.type} ${'agentId' in event ? event.agentId : ''}`,
    );
}

export async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => {
      throw new Error('nothing failed');
    },
    (error: unknown) => AppError.from(error),
  );
}

export async function live(...replicas: readonly TestReplica[]): Promise<void> {
  for (const { core } of replicas) {
    await waitFor(() => core.status().state === 'live', { timeoutMs: 10_000, what: 'a live replica' });
  }
}

/** An agent of two calls: it renews, and registers again when it is told that its lease is unknown. */
export function agent(at: TestReplica, agentId: string, ttlMs: number): { stop(): void; readonly again: () => number } {
  let again = 0;
  const beat = setInterval(() => {
    at.core.renew(agentId, HASH).catch(async (error: unknown) => {
      if (AppError.from(error).code !== 'lease_unknown') return;
      again++;
      await register(at, agentId, ttlMs).catch(() => undefined);
    });
  }, ttlMs / 3);
  return {
    stop: () => {
      clearInterval(beat);
    },
    again: () => again,
  };
}
