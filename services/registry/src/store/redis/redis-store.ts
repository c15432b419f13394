import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis, storeUnavailable, type Logger, type RedisTarget } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import type { GuardSettings } from '../../domain/guard.js';
import type { Renewal } from '../../domain/types.js';
import { steadyNow } from '../steady-clock.js';
import type {
  AgreementCommand,
  AgreementFilter,
  AgreementPage,
  Authority,
  DeadlineView,
  DeregisterResult,
  LogBatch,
  LogPosition,
  Ownership,
  RegisterCommand,
  RegisterResult,
  RegistryStore,
  RenewResult,
  Snapshot,
  StoredAgreement,
  SweepCommand,
  SweepResult,
} from '../store.js';
import { keysOf, type Keys } from './keys.js';
import { packRenewals } from './log-lines.js';
import { LogReader } from './log-reader.js';
import { getAgreement, listAgreements, recordAgreement, type AgreementSource } from './redis-agreements.js';
import { takeSnapshot } from './redis-snapshot.js';
import { asArray, asNumber, asText } from './reply.js';
import { ScriptRunner } from './script-runner.js';
import { ADOPT_ORPHANS, DEADLINES_OF, SWEEP } from './scripts/deadlines.js';
import type { LuaScript } from './scripts/prelude.js';
import { DEREGISTER, REGISTER, RENEW, VERIFY_OWNER } from './scripts/registration.js';
import { StoreClock } from './store-clock.js';

export interface RedisStoreOptions {
  readonly redis: RedisTarget;
  readonly logger: Logger;
  readonly guard: GuardSettings;
  /** Begins every key. Default `parley`. */
  readonly namespace?: string;
  /** Seen in `CLIENT LIST`. Default `registry`. */
  readonly connectionName?: string;
  /** Default 800: the caller has its answer within a second. */
  readonly commandTimeoutMs?: number;
  /** About how many lines the change log keeps. Default 10,000; each holds a manifest. */
  readonly changesMaxLength?: number;
  /** How long a record outlives its deadline: the longest outage that the guard can bridge. Default 600,000. */
  readonly recordGraceMs?: number;
  /** Default 250,000. */
  readonly maxAgents?: number;
  /** Default 100,000; past it, the one that ends first is forgotten. */
  readonly maxAgreements?: number;
  /** A clock of this machine that runs evenly. Default {@link steadyNow}. */
  readonly now?: () => number;
  /** Default a random UUID. */
  readonly newId?: () => string;
}

const RENEWALS_MAX_LENGTH = 1_000;

/** Registrations in Redis 7 or later, shared by all replicas. No modules, no notifications, no configuration needed. */
export class RedisStore implements RegistryStore {
  readonly #commands: Redis;
  readonly #blocking: Redis;
  readonly #keys: Keys;
  readonly #clock: StoreClock;
  readonly #runner: ScriptRunner;
  readonly #log: LogReader;
  readonly #agreements: AgreementSource;
  readonly #origin: string;
  readonly #maxAgents: number;

  constructor(options: RedisStoreOptions) {
    const { redis, logger, guard } = options;
    const namespace = options.namespace ?? 'parley';
    const name = options.connectionName ?? 'registry';
    const commandTimeoutMs = options.commandTimeoutMs ?? 800;
    const newId = options.newId ?? randomUUID;
    const server = { ...redis, logger, hashTag: namespace };
    this.#commands = connectRedis({ ...server, name, commandTimeoutMs });
    this.#blocking = connectRedis({ ...server, name: `${name}-log`, blocking: true });
    if (!('url' in redis)) keepTogether(this.#commands, this.#blocking);
    this.#keys = keysOf(namespace);
    this.#clock = new StoreClock(options.now ?? steadyNow);
    this.#origin = newId();
    this.#maxAgents = options.maxAgents ?? 250_000;
    this.#runner = new ScriptRunner({
      redis: this.#commands,
      keys: this.#keys,
      clock: this.#clock,
      newEpoch: newId,
      guard,
      changesMaxLength: options.changesMaxLength ?? 10_000,
      recordGraceMs: options.recordGraceMs ?? 600_000,
      patienceMs: commandTimeoutMs,
    });
    const source = { redis: this.#commands, keys: this.#keys, runner: this.#runner };
    this.#log = new LogReader({ ...source, redis: this.#blocking, origin: this.#origin });
    this.#agreements = { ...source, maxAgreements: options.maxAgreements ?? 100_000 };
  }

  now(): number {
    return this.#clock.now();
  }

  async ping(): Promise<void> {
    try {
      await this.#commands.ping();
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async close(): Promise<void> {
    this.#blocking.disconnect();
    await closeRedis(this.#commands);
  }

  async register(command: RegisterCommand): Promise<RegisterResult> {
    const { agentId, manifestJson, ttlMs, newTokenHash, callerTokenHash } = command;
    const args = [agentId, manifestJson, ttlMs, newTokenHash, callerTokenHash ?? '', this.#maxAgents];
    const { reply, nowMs } = await this.#timed(REGISTER, args);
    const [kind, , revision, deadline] = reply;
    if (kind === 'taken' || kind === 'full') return { kind, nowMs };
    return {
      kind: kind === 'replaced' ? kind : 'registered',
      revision: asNumber(revision),
      deadlineMs: asNumber(deadline),
      nowMs,
    };
  }

  async renew(agentId: string, tokenHash: string): Promise<RenewResult> {
    const { reply, nowMs } = await this.#timed(RENEW, [agentId, tokenHash]);
    const [kind, , deadline, ttl, revision] = reply;
    if (kind === 'unknown' || kind === 'forbidden') return { kind, nowMs };
    return {
      kind: 'renewed',
      deadlineMs: asNumber(deadline),
      ttlMs: asNumber(ttl),
      revision: asNumber(revision),
      nowMs,
    };
  }

  async deregister(agentId: string, by: Authority): Promise<DeregisterResult> {
    const { reply, nowMs } = await this.#timed(DEREGISTER, [agentId, 'operator' in by ? '' : by.tokenHash]);
    const [kind, , revision] = reply;
    if (kind === 'unknown' || kind === 'forbidden') return { kind, nowMs };
    return { kind: 'done', revision: asNumber(revision), nowMs };
  }

  async verifyOwner(agentId: string, tokenHash: string): Promise<Ownership> {
    const [kind] = await this.#runner.run(VERIFY_OWNER, [agentId, tokenHash]);
    return kind === 'owner' || kind === 'other' ? kind : 'unknown';
  }

  snapshot(): Promise<Snapshot> {
    return takeSnapshot(this.#agreements);
  }

  changes(after: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#log.read(after, signal);
  }

  async publishRenewals(renewals: readonly Renewal[]): Promise<void> {
    if (renewals.length === 0) return;
    const fields = ['origin', this.#origin, 'renewals', packRenewals(renewals)];
    try {
      await this.#commands.xadd(this.#keys.renewals, 'MAXLEN', '~', RENEWALS_MAX_LENGTH, '*', ...fields);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async deadlinesOf(agentIds: readonly string[]): Promise<readonly DeadlineView[]> {
    if (agentIds.length === 0) return [];
    const [, views] = await this.#runner.run(DEADLINES_OF, agentIds);
    return asArray(views).map(toView);
  }

  async adoptOrphans(
    orphans: readonly { readonly agentId: string; readonly deadlineMs: number }[],
  ): Promise<readonly DeadlineView[]> {
    if (orphans.length === 0) return [];
    const args = orphans.flatMap(({ agentId, deadlineMs }) => [agentId, Math.floor(deadlineMs)]);
    const [, views] = await this.#runner.run(ADOPT_ORPHANS, args);
    return asArray(views).map(toView);
  }

  async sweep({ limit }: SweepCommand): Promise<SweepResult> {
    const sentAt = this.#clock.localNow();
    const [now, epoch, revision, expired, guarded, more] = await this.#runner.run(SWEEP, [limit]);
    return {
      nowMs: this.#runner.learn(now, sentAt),
      epoch: asText(epoch),
      revision: asNumber(revision),
      expired: asNumber(expired),
      guarded: asNumber(guarded),
      more: more === 1,
    };
  }

  recordAgreement(command: AgreementCommand): Promise<{ readonly recorded: boolean; readonly revision?: number }> {
    return recordAgreement(this.#agreements, command);
  }

  getAgreement(agreementId: string): Promise<StoredAgreement | undefined> {
    return getAgreement(this.#agreements, agreementId);
  }

  listAgreements(filter: AgreementFilter): Promise<AgreementPage> {
    return listAgreements(this.#agreements, filter);
  }

  /** For operations whose answer begins with a kind and the time. */
  async #timed(
    script: LuaScript,
    args: readonly (string | number)[],
  ): Promise<{ readonly reply: readonly unknown[]; readonly nowMs: number }> {
    const sentAt = this.#clock.localNow();
    const reply = await this.#runner.runInTime(script, args);
    return { reply, nowMs: this.#runner.learn(reply[1], sentAt) };
  }
}

/**
 * After a fail-over one connection may be at the new master already, and the other still at the old one, which is frozen
 * or does not know: what is written would not be read.
 */
function keepTogether(commands: Redis, log: Redis): void {
  const place = ({ stream }: Redis): string => `${String(stream.remoteAddress)} ${String(stream.remotePort)}`;
  commands.on('ready', () => {
    if (log.status === 'ready' && place(log) !== place(commands)) log.disconnect(true);
  });
}

function toView(reply: unknown): DeadlineView {
  const [kind, deadline, revision] = asArray(reply);
  if (kind === 'record') return { kind, deadlineMs: asNumber(deadline), revision: asNumber(revision) };
  if (kind === 'orphan') return { kind, deadlineMs: asNumber(deadline) };
  return { kind: 'unknown' };
}
