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
import { deadlineOf } from './transitions.js';

export interface MemoryStoreOptions {
  /** Ended agreements stay readable so long. Default 3,600,000. */
  readonly endedRetentionMs?: number;
  /** A session is remembered so long after its agreement's end. Default 600,000. */
  readonly sessionRetentionMs?: number;
  /** Ended agreements kept at once, oldest forgotten first. Default 10,000. */
  readonly maxRemembered?: number;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  record: AgreementRecord;
  /** By call id: until when it runs, 0 when it is over. Oldest first. */
  readonly calls: Map<string, number>;
}

/** Agreements and sessions of one process; gone with it. */
export function createMemoryAgreementStore(options: MemoryStoreOptions = {}): AgreementStore {
  return new MemoryAgreementStore(options);
}

class MemoryAgreementStore implements AgreementStore {
  readonly #agreements = new Map<string, Entry>();
  readonly #living = new Map<string, Entry>();
  /** In order of their end. */
  readonly #ended = new Map<string, Entry>();
  /** In order of the last write. */
  readonly #sessions = new Map<string, SessionRecord>();
  /** By initiator: what it has open, with the time until which. */
  readonly #open = new Map<string, Map<string, number>>();
  readonly #endedRetentionMs: number;
  readonly #sessionRetentionMs: number;
  readonly #maxRemembered: number;
  readonly #now: () => number;

  constructor(options: MemoryStoreOptions) {
    this.#endedRetentionMs = options.endedRetentionMs ?? 3_600_000;
    this.#sessionRetentionMs = options.sessionRetentionMs ?? 600_000;
    this.#maxRemembered = options.maxRemembered ?? 10_000;
    this.#now = options.now ?? Date.now;
  }

  get(agreementId: string): Promise<AgreementRecord | undefined> {
    const record = this.#agreements.get(agreementId)?.record;
    const forgotten = record?.endedAt !== undefined && record.endedAt + this.#endedRetentionMs <= this.#now();
    return Promise.resolve(forgotten ? undefined : record);
  }

  compareAndSet(expectedVersion: number, next: AgreementRecord): Promise<boolean> {
    const entry = this.#living.get(next.agreementId);
    if (entry?.record.version !== expectedVersion) return Promise.resolve(false);
    const { callsUsed, lastCallAt } = entry.record;
    entry.record = { ...next, callsUsed, ...(lastCallAt === undefined ? {} : { lastCallAt }) };
    if (next.state !== 'pending') this.#close(next.initiator, pendingMember(next.agreementId));
    if (next.endedAt !== undefined) this.#retire(entry, next.endedAt);
    return Promise.resolve(true);
  }

  list(filter: ListFilter, limit: number, cursor?: string): Promise<ListPage> {
    return new Promise((resolve) => {
      resolve(this.#list(filter, limit, cursor));
    });
  }

  #list(filter: ListFilter, limit: number, cursor: string | undefined): ListPage {
    const now = this.#now();
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    const found = [...this.#agreements.values()]
      .map(({ record }) => record)
      .filter((record) => record.endedAt === undefined || record.endedAt + this.#endedRetentionMs > now)
      .filter((record) => matchesFilter(record, filter) && (after === undefined || newestFirst(after, record) < 0))
      .sort(newestFirst);
    const records = found.slice(0, limit);
    const last = records.at(-1);
    return found.length > limit && last !== undefined ? { records, nextCursor: cursorOf(last) } : { records };
  }

  living(): Promise<readonly AgreementRecord[]> {
    return Promise.resolve([...this.#living.values()].map(({ record }) => record));
  }

  countLiving(): Promise<number> {
    return Promise.resolve(this.#living.size);
  }

  due(now: number, limit: number): Promise<readonly AgreementRecord[]> {
    const at = (record: AgreementRecord): number => deadlineOf(record)?.at ?? Infinity;
    const due = [...this.#living.values()].map(({ record }) => record).filter((record) => at(record) <= now);
    return Promise.resolve(due.sort((a, b) => at(a) - at(b)).slice(0, limit));
  }

  /** Nothing to do: the order is made when it is asked for. */
  reschedule(): Promise<void> {
    return Promise.resolve();
  }

  getSession(initiator: string, sessionId: string, now: number): Promise<SessionRecord | undefined> {
    const session = this.#sessions.get(sessionKey(initiator, sessionId));
    if (session === undefined || session.expiresAt <= now) return Promise.resolve(undefined);
    if (session.secret === undefined || session.secret.until > now) return Promise.resolve(session);
    return Promise.resolve(withoutSecret(session));
  }

  commit(commit: SessionCommit): Promise<CommitResult> {
    return Promise.resolve(this.#commit(commit));
  }

  #commit({ session, expectedVersion, agreement, now, ...bounds }: SessionCommit): CommitResult {
    const key = sessionKey(session.initiator, session.sessionId);
    const stored = this.#sessions.get(key);
    const before = stored === undefined || stored.expiresAt <= now ? undefined : stored;
    if ((before?.version ?? 0) !== expectedVersion) return 'conflict';
    if (agreement !== undefined && this.#living.size >= bounds.maxAgreements) return 'capacity';
    const opens = [
      ...(session.openUntil === undefined ? [] : [[sessionMember(session.sessionId), session.openUntil] as const]),
      ...(agreement?.confirmBy === undefined
        ? []
        : [[pendingMember(agreement.agreementId), agreement.confirmBy] as const]),
    ];
    const open = this.#openOf(session.initiator, now);
    const others = open.size - (open.has(sessionMember(session.sessionId)) ? 1 : 0);
    if (opens.length > 0 && others >= bounds.maxOpenPerInitiator) return 'too_many_open';
    if (before === undefined && !this.#makeRoom(bounds.maxRemembered, now)) return 'full';

    open.delete(sessionMember(session.sessionId));
    for (const [member, until] of opens) open.set(member, until);
    if (open.size > 0) this.#open.set(session.initiator, open);
    else this.#open.delete(session.initiator);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (agreement !== undefined) {
      const entry: Entry = { record: agreement, calls: new Map() };
      this.#agreements.set(agreement.agreementId, entry);
      this.#living.set(agreement.agreementId, entry);
    }
    return 'done';
  }

  claimCall(claim: CallClaim): Promise<CallClaimResult> {
    return Promise.resolve(this.#claimCall(claim));
  }

  #claimCall({ agreementId, callId, now, runsUntil, maxCalls, maxConcurrentCalls }: CallClaim): CallClaimResult {
    const entry = this.#living.get(agreementId);
    if (entry?.record.state !== 'active') return { outcome: 'not_active', used: 0, holdsPlace: false };
    const { calls, record } = entry;
    const used = record.callsUsed;
    const known = calls.get(callId);
    if (known !== undefined && known > now) return { outcome: 'repeated', used, holdsPlace: false };
    if (known === undefined && used >= (maxCalls ?? Infinity)) return { outcome: 'exhausted', used, holdsPlace: false };
    if (running(calls, now) >= Math.min(maxConcurrentCalls ?? Infinity, MAX_REMEMBERED_CALLS)) {
      return { outcome: 'busy', used, holdsPlace: false };
    }
    calls.delete(callId);
    calls.set(callId, runsUntil);
    forgetOldCalls(calls, now);
    const callsUsed = known === undefined ? used + 1 : used;
    entry.record = { ...record, callsUsed, lastCallAt: now };
    return { outcome: known === undefined ? 'reserved' : 'repeated', used: callsUsed, holdsPlace: true };
  }

  releaseCall(agreementId: string, callId: string, now: number): Promise<CallUsage> {
    const entry = this.#agreements.get(agreementId);
    if (entry !== undefined && (entry.calls.get(callId) ?? 0) > 0) {
      entry.calls.set(callId, 0);
      entry.record = { ...entry.record, lastCallAt: now };
    }
    return this.usage(agreementId, now);
  }

  usage(agreementId: string, now: number): Promise<CallUsage> {
    const entry = this.#agreements.get(agreementId);
    if (entry === undefined) return Promise.resolve({ used: 0, running: 0 });
    return Promise.resolve({ used: entry.record.callsUsed, running: running(entry.calls, now) });
  }

  prune(now: number): Promise<void> {
    for (const [key, session] of this.#sessions) {
      if (session.expiresAt <= now) this.#sessions.delete(key);
      else if (session.secret !== undefined && session.secret.until <= now)
        this.#sessions.set(key, withoutSecret(session));
    }
    for (const [id, { record }] of this.#ended) {
      if ((record.endedAt ?? 0) + this.#endedRetentionMs > now) break;
      this.#forget(id);
    }
    for (const initiator of this.#open.keys()) this.#openOf(initiator, now);
    return Promise.resolve();
  }

  #retire(entry: Entry, endedAt: number): void {
    const { agreementId, initiator, sessionId } = entry.record;
    this.#living.delete(agreementId);
    this.#ended.set(agreementId, entry);
    const key = sessionKey(initiator, sessionId);
    const session = this.#sessions.get(key);
    if (session !== undefined) {
      this.#sessions.set(key, {
        ...session,
        expiresAt: Math.min(session.expiresAt, endedAt + this.#sessionRetentionMs),
      });
    }
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > this.#maxRemembered && oldest !== undefined) this.#forget(oldest);
  }

  #forget(agreementId: string): void {
    this.#ended.delete(agreementId);
    this.#agreements.delete(agreementId);
  }

  /** Forgets the session that was over for the longest time when there are too many; false when none is over. */
  #makeRoom(max: number, now: number): boolean {
    if (this.#sessions.size < max) return true;
    for (const [key, session] of this.#sessions) {
      const inUse =
        session.state === 'agreed'
          ? session.agreementId !== undefined && this.#living.has(session.agreementId)
          : session.state === 'open' && (session.openUntil ?? 0) > now;
      if (inUse && session.expiresAt > now) continue;
      this.#sessions.delete(key);
      return true;
    }
    return false;
  }

  /** What an initiator has open now. */
  #openOf(initiator: string, now: number): Map<string, number> {
    const open = this.#open.get(initiator) ?? new Map<string, number>();
    for (const [member, until] of open) {
      if (until <= now) open.delete(member);
    }
    if (open.size === 0) this.#open.delete(initiator);
    return open;
  }

  #close(initiator: string, member: string): void {
    const open = this.#open.get(initiator);
    open?.delete(member);
    if (open?.size === 0) this.#open.delete(initiator);
  }
}

function withoutSecret({ secret: _, ...session }: SessionRecord): SessionRecord {
  return session;
}

function running(calls: ReadonlyMap<string, number>, now: number): number {
  let count = 0;
  for (const until of calls.values()) if (until > now) count += 1;
  return count;
}

function forgetOldCalls(calls: Map<string, number>, now: number): void {
  for (const [callId, until] of calls) {
    if (calls.size <= MAX_REMEMBERED_CALLS) return;
    if (until <= now) calls.delete(callId);
  }
}

// An agent id holds no slash.
function sessionKey(initiator: string, sessionId: string): string {
  return `${initiator}/${sessionId}`;
}

function sessionMember(sessionId: string): string {
  return `s:${sessionId}`;
}

function pendingMember(agreementId: string): string {
  return `p:${agreementId}`;
}
