import type { AgreementState, EndReason } from '../wire/agreement.js';
import type { AgreementRecord, EndedBy } from './agreement-record.js';

/** Everything that can happen to an agreement. */
export type AgreementChange =
  | { readonly type: 'confirm' }
  /** Lengthens the lease; confirms what is pending. */
  | { readonly type: 'renew'; readonly ttlSeconds: number }
  | { readonly type: 'decline_renewal' }
  /** The registration of one party lapsed. */
  | { readonly type: 'suspend'; readonly agentId: string }
  /** That party is back. */
  | { readonly type: 'resume'; readonly agentId: string }
  /** One more lease, because the keeper itself was away and could not take renewals. */
  | { readonly type: 'spare' }
  | { readonly type: 'end'; readonly reason: EndReason; readonly by: EndedBy };

export type AgreementChangeType = AgreementChange['type'];

interface StateRule {
  /** Where a change leads; a change that is not named does nothing in this state. */
  readonly to: Readonly<Partial<Record<AgreementChangeType, readonly AgreementState[]>>>;
  /** The field with the time at which the keeper ends it by itself. */
  readonly deadline?: 'confirmBy' | 'expiresAt' | 'suspendedUntil';
  /** Whose turn it is until then. */
  readonly nextMover?: 'initiator' | 'lapsed_party';
}

/** The whole machine. A state without a deadline and a next mover would be a dead end: only `ended` has none. */
export const AGREEMENT_MACHINE: Readonly<Record<AgreementState, StateRule>> = {
  pending: {
    to: { confirm: ['active'], renew: ['active'], end: ['ended'] },
    deadline: 'confirmBy',
    nextMover: 'initiator',
  },
  active: {
    to: { renew: ['active'], decline_renewal: ['active'], suspend: ['suspended'], spare: ['active'], end: ['ended'] },
    deadline: 'expiresAt',
    nextMover: 'initiator',
  },
  suspended: {
    to: {
      renew: ['suspended'],
      decline_renewal: ['suspended'],
      suspend: ['suspended'],
      // Suspended on until the other lapsed party is back as well.
      resume: ['active', 'suspended'],
      end: ['ended'],
    },
    deadline: 'suspendedUntil',
    nextMover: 'lapsed_party',
  },
  ended: { to: {} },
};

/**
 * The record after a change, or undefined when the change does nothing in its state. Pure; looks at no deadline:
 * what is {@link isDue due} has to be ended first.
 */
export function applyChange(
  record: AgreementRecord,
  change: AgreementChange,
  now: number,
): AgreementRecord | undefined {
  if (AGREEMENT_MACHINE[record.state].to[change.type] === undefined) return undefined;
  const changed = changedFields(record, change, now);
  return changed === undefined ? undefined : { ...changed, version: record.version + 1 };
}

function changedFields(record: AgreementRecord, change: AgreementChange, now: number): AgreementRecord | undefined {
  switch (change.type) {
    case 'confirm':
      return activated(record);
    case 'renew':
      return {
        ...(record.state === 'pending' ? activated(record) : record),
        expiresAt: lengthened(record, now, change.ttlSeconds),
        leaseRevision: record.leaseRevision + 1,
      };
    case 'decline_renewal':
      return record.renewalDeclined === true ? undefined : { ...record, renewalDeclined: true };
    case 'spare':
      return { ...record, expiresAt: lengthened(record, now, record.terms.lease.ttl_seconds) };
    case 'suspend':
      return suspended(record, change.agentId, now);
    case 'resume':
      return resumed(record, change.agentId, now);
    case 'end': {
      const { confirmBy: _, suspendedAt: __, suspendedUntil: ___, lapsed: ____, ...rest } = record;
      return { ...rest, state: 'ended', endReason: change.reason, endedBy: change.by, endedAt: now };
    }
  }
}

function activated(record: AgreementRecord): AgreementRecord {
  const { confirmBy: _, ...rest } = record;
  return { ...rest, state: 'active' };
}

/** The later of the present end and one lease from now, within the agreement's longest life. */
function lengthened(record: AgreementRecord, now: number, ttlSeconds: number): number {
  return Math.max(record.expiresAt, Math.min(now + ttlSeconds * 1_000, record.lifetimeEndsAt));
}

function suspended(record: AgreementRecord, agentId: string, now: number): AgreementRecord | undefined {
  const lapsed = record.lapsed ?? [];
  if (lapsed.includes(agentId)) return undefined;
  if (record.state === 'suspended') return { ...record, lapsed: [...lapsed, agentId] };
  return {
    ...record,
    state: 'suspended',
    lapsed: [agentId],
    suspendedAt: now,
    suspendedUntil: Math.min(now + record.terms.lease.ttl_seconds * 1_000, record.lifetimeEndsAt),
  };
}

function resumed(record: AgreementRecord, agentId: string, now: number): AgreementRecord | undefined {
  const { suspendedAt: _, suspendedUntil: __, lapsed = [], ...rest } = record;
  if (!lapsed.includes(agentId)) return undefined;
  const left = lapsed.filter((id) => id !== agentId);
  if (left.length > 0) return { ...record, lapsed: left };
  // Nobody could be asked to renew during the suspension: the lease begins anew.
  return { ...rest, state: 'active', expiresAt: lengthened(record, now, record.terms.lease.ttl_seconds) };
}

export interface Deadline {
  /** ms since the epoch. */
  readonly at: number;
  /** With which the agreement ends when nobody moved. */
  readonly reason: EndReason;
}

/** When the keeper ends an agreement by itself; undefined only for one that has ended. */
export function deadlineOf(record: AgreementRecord): Deadline | undefined {
  switch (record.state) {
    case 'pending':
      return { at: Math.min(record.confirmBy ?? record.expiresAt, record.expiresAt), reason: 'not_confirmed' };
    case 'active': {
      const lease = leaseDeadline(record);
      if (record.idleEndMs === undefined) return lease;
      const idleAt = Math.max(record.createdAt, record.lastCallAt ?? 0) + record.idleEndMs;
      return idleAt < lease.at ? { at: idleAt, reason: 'released_by_responder' } : lease;
    }
    case 'suspended': {
      const until = record.suspendedUntil ?? record.expiresAt;
      return until < record.lifetimeEndsAt
        ? { at: until, reason: 'party_unreachable' }
        : { at: record.lifetimeEndsAt, reason: 'expired' };
    }
    case 'ended':
      return undefined;
  }
}

/** The end of an active agreement's lease, whether it is used or not. */
export function leaseDeadline(record: AgreementRecord): Deadline {
  return { at: record.expiresAt, reason: record.renewalDeclined === true ? 'renewal_declined' : 'expired' };
}

export function isDue(record: AgreementRecord, now: number): boolean {
  const deadline = deadlineOf(record);
  return deadline !== undefined && deadline.at <= now;
}
