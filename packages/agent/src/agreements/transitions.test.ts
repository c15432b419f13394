import fc from 'fast-check';
import { AGREEMENT_STATES, END_REASONS } from '../wire/agreement.js';
import type { AgreementRecord } from './agreement-record.js';
import { eventOf } from './event-hub.js';
import { START } from '../../test-support/keeper-fixture.js';
import { agreementRecord, pendingRecord } from '../../test-support/agreement-records.js';
import { AGREEMENT_MACHINE, applyChange, deadlineOf, isDue, type AgreementChange } from './transitions.js';

const party = fc.constantFrom('agent_A', 'agent_B');
const change: fc.Arbitrary<AgreementChange> = fc.oneof(
  fc.constant({ type: 'confirm' } as const),
  fc.record({ type: fc.constant('renew' as const), ttlSeconds: fc.integer({ min: 5, max: 3_600 }) }),
  fc.constant({ type: 'decline_renewal' } as const),
  fc.record({ type: fc.constant('suspend' as const), agentId: party }),
  fc.record({ type: fc.constant('resume' as const), agentId: party }),
  fc.constant({ type: 'spare' } as const),
  fc.record({
    type: fc.constant('end' as const),
    reason: fc.constantFrom(...END_REASONS),
    by: fc.constantFrom('initiator' as const, 'responder' as const, 'keeper' as const),
  }),
);
const steps = fc.array(fc.tuple(change, fc.integer({ min: 0, max: 90_000 })), { maxLength: 30 });
const start = fc.constantFrom(agreementRecord(), pendingRecord(), agreementRecord({ idleEndMs: 20_000 }));

/** Walks through the changes and shows each step that did something. */
function walk(
  from: AgreementRecord,
  path: readonly (readonly [AgreementChange, number])[],
  visit: (before: AgreementRecord, after: AgreementRecord, change: AgreementChange, now: number) => void,
): void {
  let record = from;
  let now = START;
  for (const [each, wait] of path) {
    now += wait;
    const next = applyChange(record, each, now);
    if (next === undefined) continue;
    visit(record, next, each, now);
    record = next;
  }
}

describe('the agreement machine', () => {
  it('has a deadline and a next mover in every state but the last (index#643)', () => {
    for (const state of AGREEMENT_STATES) {
      const { deadline, nextMover, to } = AGREEMENT_MACHINE[state];
      if (state === 'ended') {
        expect(to).toEqual({});
        continue;
      }
      expect(deadline).toBeDefined();
      expect(nextMover).toBeDefined();
      expect(to.end).toEqual(['ended']);
    }
  });

  it('keeps to its table and never leaves the end', () => {
    fc.assert(
      fc.property(start, steps, (from, path) => {
        walk(from, path, (before, after, { type }) => {
          expect(before.state).not.toBe('ended');
          expect(AGREEMENT_MACHINE[before.state].to[type]).toContain(after.state);
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('has a deadline within its longest life wherever it gets to, and ends by it', () => {
    fc.assert(
      fc.property(start, steps, (from, path) => {
        walk(from, path, (_, after, __, now) => {
          const deadline = deadlineOf(after);
          if (after.state === 'ended') {
            expect(deadline).toBeUndefined();
            expect(after.endReason).toBeDefined();
            expect(after.endedAt).toBe(now);
            return;
          }
          const { deadline: field = 'expiresAt' } = AGREEMENT_MACHINE[after.state];
          expect(after[field]).toBeDefined();
          expect(deadline?.at).toBeLessThanOrEqual(after.lifetimeEndsAt);
          expect(isDue(after, deadline?.at ?? 0)).toBe(true);
          expect(isDue(after, (deadline?.at ?? 0) - 1)).toBe(false);
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('lets version grow with each change, the lease never shrink, and terms and parties never change', () => {
    fc.assert(
      fc.property(start, steps, (from, path) => {
        walk(from, path, (before, after) => {
          expect(after.version).toBe(before.version + 1);
          expect(after.expiresAt).toBeGreaterThanOrEqual(before.expiresAt);
          expect(after.expiresAt).toBeLessThanOrEqual(after.lifetimeEndsAt);
          expect(after.leaseRevision).toBeGreaterThanOrEqual(before.leaseRevision);
          const { terms, termsDigest, initiator, responder, proofHash } = before;
          expect(after).toMatchObject({ terms, termsDigest, initiator, responder, proofHash });
        });
      }),
    );
  });

  it('keeps no fields of a state that it left, and one event per change of state', () => {
    fc.assert(
      fc.property(start, steps, (from, path) => {
        walk(from, path, (before, after) => {
          expect('confirmBy' in after).toBe(after.state === 'pending');
          expect('suspendedUntil' in after).toBe(after.state === 'suspended');
          expect('lapsed' in after).toBe(after.state === 'suspended');
          expect(eventOf(before, after) === undefined).toBe(before.state === after.state);
        });
      }),
    );
  });
});

describe('single changes', () => {
  const now = START + 30_000;

  it('renews to the later of old and new end, never past the longest life', () => {
    const renewed = applyChange(agreementRecord(), { type: 'renew', ttlSeconds: 60 }, now);
    expect(renewed).toMatchObject({ expiresAt: now + 60_000, leaseRevision: 2 });
    expect(applyChange(agreementRecord(), { type: 'renew', ttlSeconds: 5 }, now)?.expiresAt).toBe(START + 60_000);
    expect(applyChange(agreementRecord(), { type: 'renew', ttlSeconds: 3_600 }, now)?.expiresAt).toBe(START + 600_000);
    expect(applyChange(pendingRecord(), { type: 'renew', ttlSeconds: 60 }, now)?.state).toBe('active');
  });

  it('is suspended until the last lapsed party is back', () => {
    const one = applyChange(agreementRecord(), { type: 'suspend', agentId: 'agent_A' }, now) ?? agreementRecord();
    expect(one).toMatchObject({ state: 'suspended', suspendedAt: now, suspendedUntil: now + 60_000 });
    expect(applyChange(one, { type: 'suspend', agentId: 'agent_A' }, now)).toBeUndefined();
    const both = applyChange(one, { type: 'suspend', agentId: 'agent_B' }, now + 1) ?? one;
    expect(both.lapsed).toEqual(['agent_A', 'agent_B']);
    const half = applyChange(both, { type: 'resume', agentId: 'agent_A' }, now + 2) ?? both;
    expect(half).toMatchObject({ state: 'suspended', lapsed: ['agent_B'], suspendedUntil: now + 60_000 });
    const back = applyChange(half, { type: 'resume', agentId: 'agent_B' }, now + 3);
    expect(back).toMatchObject({ state: 'active', expiresAt: now + 3 + 60_000 });
  });

  it('ends with the reason that belongs to its deadline', () => {
    expect(deadlineOf(pendingRecord())).toEqual({ at: START + 15_000, reason: 'not_confirmed' });
    expect(deadlineOf(agreementRecord())).toEqual({ at: START + 60_000, reason: 'expired' });
    expect(deadlineOf(agreementRecord({ renewalDeclined: true }))?.reason).toBe('renewal_declined');
    expect(deadlineOf(agreementRecord({ idleEndMs: 1_000, lastCallAt: START + 500 }))).toEqual({
      at: START + 1_500,
      reason: 'released_by_responder',
    });
    const suspended = { state: 'suspended', suspendedUntil: START + 70_000 } as const;
    expect(deadlineOf(agreementRecord(suspended))).toEqual({ at: START + 70_000, reason: 'party_unreachable' });
    expect(deadlineOf(agreementRecord({ ...suspended, suspendedUntil: START + 600_000 }))?.reason).toBe('expired');
  });
});
