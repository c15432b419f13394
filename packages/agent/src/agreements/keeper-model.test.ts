import fc from 'fast-check';
import { END_REASONS } from '../wire/agreement.js';
import type { AgreementEventType } from './keeper-types.js';
import { agree, keeperFixture, type Agreed } from '../../test-support/keeper-fixture.js';

const MAX_AGREEMENTS = 4;
const agent = fc.constantFrom('agent_A', 'agent_B', 'agent_C');
const which = fc.nat({ max: 5 });

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('agree' as const), agent_id: agent, pending: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('confirm' as const), which }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('renew' as const), which, lease: fc.constantFrom(0, 0, 1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('call' as const), which, callId: fc.constantFrom('a', 'b', 'c') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('end' as const), which, reason: fc.constantFrom(...END_REASONS) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('suspend' as const), agent_id: agent }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('resume' as const),
      agent_id: agent,
      sameOwner: fc.constantFrom(true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('endFor' as const), agent_id: agent }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      ms: fc.constantFrom(1_000, 14_000, 30_000, 60_000),
      sweep: fc.boolean(),
    }),
  },
);

/** Which events may follow which, for one agreement. */
const FOLLOWS: Record<AgreementEventType | 'nothing', readonly AgreementEventType[]> = {
  nothing: ['agreed'],
  agreed: ['confirmed', 'suspended', 'ended'],
  confirmed: ['suspended', 'ended'],
  suspended: ['resumed', 'ended'],
  resumed: ['suspended', 'ended'],
  ended: [],
};

describe('any sequence of what can happen to agreements', () => {
  it('keeps capacity equal to what has not ended, versions growing, and one event per transition', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { keeper, clock, events } = keeperFixture({ settings: { maxAgreements: MAX_AGREEMENTS } });
        const agreed: Agreed[] = [];
        const versions = new Map<string, number>();
        for (const each of steps) {
          const mine = 'which' in each ? agreed[each.which] : undefined;
          const terms = { termsDigest: mine?.agreement.terms_digest ?? '', proof: mine?.proof };
          const work = async (): Promise<unknown> => {
            switch (each.type) {
              case 'agree':
                return agreed.push(
                  await agree(keeper, { agent_id: each.agent_id, pending: each.pending, limits: { max_calls: 2 } }),
                );
              case 'confirm':
                return keeper.confirm(mine?.id ?? '', terms);
              case 'renew': {
                const { lease_revision } = await keeper.get(mine?.id ?? '', { internal: true });
                return keeper.renew(mine?.id ?? '', { ...terms, leaseRevision: lease_revision - each.lease });
              }
              case 'call': {
                const call = { ...terms, agreementId: mine?.id ?? '', capability: 'code_review', callId: each.callId };
                return (await keeper.reserveCall(call)).release();
              }
              case 'end':
                return keeper.end(mine?.id ?? '', { internal: true, reason: each.reason });
              case 'suspend':
                return keeper.suspendFor(each.agent_id);
              case 'resume':
                return keeper.resumeFor(each.agent_id, each);
              case 'endFor':
                return keeper.endFor(each.agent_id, 'party_deregistered');
              case 'wait':
                clock.advance(each.ms);
                return each.sweep ? keeper.sweep() : undefined;
            }
          };
          await work().catch(() => undefined);

          const living = await keeper.countLiving();
          expect(living).toBeLessThanOrEqual(MAX_AGREEMENTS);
          const { agreements } = await keeper.list({ limit: 1_000 });
          expect(living).toBe(agreements.filter(({ state }) => state !== 'ended').length);
          for (const { agreement_id, version } of agreements) {
            expect(version).toBeGreaterThanOrEqual(versions.get(agreement_id) ?? 1);
            versions.set(agreement_id, version);
          }
        }
        const last = new Map<string, AgreementEventType>();
        for (const { type, agreement } of events) {
          expect(FOLLOWS[last.get(agreement.agreement_id) ?? 'nothing']).toContain(type);
          last.set(agreement.agreement_id, type);
        }
        // Left alone, everything comes to its end, and every place is free again.
        clock.advance(86_400_000);
        await keeper.sweep();
        expect(await keeper.countLiving()).toBe(0);
        expect(events.filter(({ type }) => type === 'ended')).toHaveLength(agreed.length);
      }),
      { numRuns: 400 },
    );
  }, 60_000);
});
