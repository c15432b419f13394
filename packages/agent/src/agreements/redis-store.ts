import type { Redis } from 'ioredis';
import { storeUnavailable } from '@parley/service-kit';
import type { SessionRecord } from '../negotiation/session-record.js';
import type { AgreementRecord } from './agreement-record.js';
import {
  MAX_REMEMBERED_CALLS,
  type AgreementStore,
  type CallClaim,
  type CallClaimResult,
  type CallUsage,
  type CommitResult,
  type ListFilter,
  type ListPage,
  type SessionCommit,
} from './agreement-store.js';
import { cursorOf, matchesFilter, newestFirst, parseCursor } from './list-order.js';
import { agreementKeys, type AgreementKeys } from './redis-keys.js';
import { runScript } from './redis-script.js';
import { CLAIM_CALL, COMMIT, COMPARE_AND_SET, PRUNE, RELEASE_CALL } from './redis-scripts.js';
import { deadlineOf } from './transitions.js';

export interface RedisStoreOptions {
  /** Made by `connectRedis` of service-kit; ended by whoever made it. */
  readonly redis: Redis;
  /** The responder: its keys begin with `{parley-agent:<agentId>}:`. */
  readonly agentId: string;
  /** Ended agreements stay readable so long. Default 3,600,000. */
  readonly endedRetentionMs?: number;
  /** A session is remembered so long after its agreement's end. Default 600,000. */
  readonly sessionRetentionMs?: number;
  /** Ended agreements kept at once, oldest forgotten first. Default 10,000. */
  readonly maxRemembered?: number;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Agreements and sessions that outlive the process and are shared by every replica of the agent. */
export function createRedisAgreementStore(options: RedisStoreOptions): AgreementStore {
  return new RedisAgreementStore(options);
}

const BATCH = 100;
const MAX_SCANNED_PER_PAGE = 2_000;

class RedisAgreementStore implements AgreementStore {
  readonly #redis: Redis;
  readonly #keys: AgreementKeys;
  readonly #endedRetentionMs: number;
  readonly #sessionRetentionMs: number;
  readonly #maxRemembered: number;
  readonly #now: () => number;

  constructor(options: RedisStoreOptions) {
    this.#redis = options.redis;
    this.#keys = agreementKeys(options.agentId);
    this.#endedRetentionMs = options.endedRetentionMs ?? 3_600_000;
    this.#sessionRetentionMs = options.sessionRetentionMs ?? 600_000;
    this.#maxRemembered = options.maxRemembered ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  get(agreementId: string): Promise<AgreementRecord | undefined> {
    return reached(async () => (await this.#read([agreementId]))[0]);
  }

  compareAndSet(expectedVersion: number, next: AgreementRecord): Promise<boolean> {
    const { agreementId: id, initiator, sessionId } = next;
    const keys = this.#keys;
    const now = next.endedAt ?? this.#now();
    const ended = next.state === 'ended';
    return reached(async () => {
      const done = await runScript(
        this.#redis,
        COMPARE_AND_SET,
        [
          keys.agreement(id),
          keys.calls(id),
          keys.running(id),
          keys.living,
          keys.all,
          keys.ended,
          keys.open(initiator),
          keys.session(initiator, sessionId),
          keys.sessions,
          keys.spare,
        ],
        [
          expectedVersion,
          JSON.stringify(next),
          next.version,
          next.state,
          id,
          deadlineOf(next)?.at ?? '',
          ended ? this.#endedRetentionMs : this.#lifeOf(next, now),
          now,
          this.#sessionRetentionMs,
          this.#maxRemembered,
          keys.agreementPrefix,
        ],
      );
      return done === 1;
    });
  }

  list(filter: ListFilter, limit: number, cursor?: string): Promise<ListPage> {
    return reached(() => this.#list(filter, limit, cursor === undefined ? undefined : parseCursor(cursor)));
  }

  async #list(filter: ListFilter, limit: number, after: ReturnType<typeof parseCursor> | undefined): Promise<ListPage> {
    const found: AgreementRecord[] = [];
    const max = after === undefined ? '+inf' : after.createdAt;
    let last: AgreementRecord | undefined;
    for (let offset = 0; offset < MAX_SCANNED_PER_PAGE; offset += BATCH) {
      const ids = await this.#redis.zrevrangebyscore(this.#keys.all, max, '-inf', 'LIMIT', offset, BATCH);
      for (const record of await this.#read(ids)) {
        if (record === undefined || (after !== undefined && newestFirst(after, record) >= 0)) continue;
        if (found.length === limit && last !== undefined) return { records: found, nextCursor: cursorOf(last) };
        last = record;
        if (matchesFilter(record, filter)) found.push(record);
      }
      if (ids.length < BATCH) return { records: found };
    }
    return last === undefined ? { records: found } : { records: found, nextCursor: cursorOf(last) };
  }

  living(): Promise<readonly AgreementRecord[]> {
    return reached(async () => this.#existing(await this.#redis.zrange(this.#keys.living, '0', '-1')));
  }

  countLiving(): Promise<number> {
    return reached(() => this.#redis.zcard(this.#keys.living));
  }

  due(now: number, limit: number): Promise<readonly AgreementRecord[]> {
    return reached(async () =>
      this.#existing(await this.#redis.zrangebyscore(this.#keys.living, '-inf', now, 'LIMIT', 0, limit)),
    );
  }

  reschedule(agreementId: string): Promise<void> {
    return reached(async () => {
      const [record] = await this.#read([agreementId]);
      const at = record === undefined ? undefined : deadlineOf(record)?.at;
      if (at !== undefined) await this.#redis.zadd(this.#keys.living, 'XX', String(at), agreementId);
    });
  }

  getSession(initiator: string, sessionId: string, now: number): Promise<SessionRecord | undefined> {
    return reached(async () => {
      const [doc, secret] = await Promise.all([
        this.#redis.hget(this.#keys.session(initiator, sessionId), 'doc'),
        this.#redis.get(this.#keys.secret(initiator, sessionId)),
      ]);
      if (doc === null) return undefined;
      const session = JSON.parse(doc) as SessionRecord;
      if (secret === null) return session;
      const parsed = JSON.parse(secret) as NonNullable<SessionRecord['secret']>;
      return parsed.until > now ? { ...session, secret: parsed } : session;
    });
  }

  commit({ session, expectedVersion, agreement, now, ...bounds }: SessionCommit): Promise<CommitResult> {
    const { initiator, sessionId } = session;
    const { secret, ...doc } = session;
    const keys = this.#keys;
    const made =
      agreement === undefined
        ? ['', '', '', '', '', '', '', '']
        : [
            JSON.stringify(agreement),
            agreement.version,
            agreement.state,
            deadlineOf(agreement)?.at ?? '',
            agreement.agreementId,
            agreement.createdAt,
            this.#lifeOf(agreement, now),
            agreement.confirmBy ?? '',
          ];
    return reached(
      async () =>
        (await runScript(
          this.#redis,
          COMMIT,
          [
            keys.session(initiator, sessionId),
            keys.secret(initiator, sessionId),
            keys.open(initiator),
            keys.living,
            keys.all,
            keys.sessions,
            keys.spare,
            keys.agreement(agreement?.agreementId ?? ''),
          ],
          [
            expectedVersion,
            JSON.stringify(doc),
            session.version,
            Math.max(1, session.expiresAt - now),
            now,
            session.openUntil ?? '',
            secret === undefined ? '' : JSON.stringify(secret),
            secret === undefined ? '' : Math.max(1, secret.until - now),
            spareFrom(session, now),
            bounds.maxAgreements,
            bounds.maxOpenPerInitiator,
            bounds.maxRemembered,
            ...made,
            `s:${sessionId}`,
          ],
        )) as CommitResult,
    );
  }

  claimCall({ agreementId: id, callId, now, runsUntil, ...limits }: CallClaim): Promise<CallClaimResult> {
    return reached(async () => {
      const [outcome, used, holds] = (await runScript(
        this.#redis,
        CLAIM_CALL,
        [this.#keys.agreement(id), this.#keys.calls(id), this.#keys.running(id)],
        [
          callId,
          now,
          runsUntil,
          limits.maxCalls ?? '',
          Math.min(limits.maxConcurrentCalls ?? MAX_REMEMBERED_CALLS, MAX_REMEMBERED_CALLS),
          MAX_REMEMBERED_CALLS,
        ],
      )) as [CallClaimResult['outcome'], number, number];
      return { outcome, used, holdsPlace: holds === 1 };
    });
  }

  releaseCall(agreementId: string, callId: string, now: number): Promise<CallUsage> {
    return reached(async () => {
      const [used, running] = (await runScript(
        this.#redis,
        RELEASE_CALL,
        [this.#keys.agreement(agreementId), this.#keys.running(agreementId)],
        [callId, now],
      )) as [number, number];
      return { used, running };
    });
  }

  usage(agreementId: string, now: number): Promise<CallUsage> {
    return this.releaseCall(agreementId, '', now);
  }

  prune(now: number): Promise<void> {
    return this.#prune(now, []);
  }

  #prune(now: number, gone: readonly string[]): Promise<void> {
    const { living, all, ended, sessions, spare } = this.#keys;
    return reached(async () => {
      await runScript(this.#redis, PRUNE, [living, all, ended, sessions, spare], [now, ...gone]);
    });
  }

  /** Its record outlives every renewal that is still possible, and no longer if nobody ever looks after it again. */
  #lifeOf(record: AgreementRecord, now: number): number {
    return Math.max(1, record.lifetimeEndsAt - now) + this.#endedRetentionMs;
  }

  async #existing(ids: readonly string[]): Promise<AgreementRecord[]> {
    const records = await this.#read(ids);
    const gone = ids.filter((_, index) => records[index] === undefined);
    if (gone.length > 0) await this.#prune(this.#now(), gone);
    return records.filter((record) => record !== undefined);
  }

  async #read(ids: readonly string[]): Promise<(AgreementRecord | undefined)[]> {
    const records: (AgreementRecord | undefined)[] = [];
    for (let from = 0; from < ids.length; from += BATCH) {
      const batch = ids
        .slice(from, from + BATCH)
        .map((id) => this.#redis.hmget(this.#keys.agreement(id), 'doc', 'used', 'last'));
      records.push(...(await Promise.all(batch)).map(toRecord));
    }
    return records;
  }
}

function toRecord([doc, used, last]: readonly (string | null)[]): AgreementRecord | undefined {
  if (doc === null || doc === undefined) return undefined;
  const record = JSON.parse(doc) as AgreementRecord;
  return {
    ...record,
    callsUsed: Number(used ?? 0),
    ...(last === null || last === undefined ? {} : { lastCallAt: Number(last) }),
  };
}

/** From when on a session may be forgotten for the sake of others. */
function spareFrom(session: SessionRecord, now: number): number | '' {
  if (session.state === 'agreed') return '';
  return session.openUntil ?? now;
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeUnavailable(error);
  }
}
