import fc from 'fast-check';
import type { AppError } from '@parley/service-kit';
import type { NegotiationResponse } from '../wire/answers.js';
import type { NegotiationInput } from '../wire/negotiation.js';
import { keeperFixture, request } from '../../test-support/keeper-fixture.js';

/** What a message of the model says; offers are meant by their age (0: the last one made). */
type Message =
  | {
      readonly type: 'propose';
      readonly wish: 'suits' | 'counter' | 'missing' | 'unsupported';
      readonly variant: number;
      readonly reply?: number;
    }
  | { readonly type: 'accept'; readonly offer: number; readonly digest: 'right' | 'wrong' }
  | { readonly type: 'decline'; readonly offer: number }
  | { readonly type: 'withdraw' }
  | { readonly type: 'wait'; readonly ms: number };

const age = fc.constantFrom(0, 0, 0, 1, 2);
const message: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        type: fc.constant('propose' as const),
        wish: fc.constantFrom('counter', 'counter', 'suits', 'missing', 'unsupported'),
        variant: fc.constantFrom(1, 2),
        reply: age,
      },
      { requiredKeys: ['type', 'wish', 'variant'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('accept' as const),
      offer: age,
      digest: fc.constantFrom('right', 'right', 'wrong'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('decline' as const), offer: age }) },
  { weight: 1, arbitrary: fc.constant({ type: 'withdraw' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 20_000, 30_000) }),
  },
);

interface ModelOffer {
  readonly id: string;
  readonly digest: string;
  readonly until: number;
}

/** The rules of a session, told once more and more simply than the program does. */
class Model {
  state: 'none' | 'open' | 'agreed' | 'declined' | 'withdrawn' = 'none';
  round = 0;
  offers: ModelOffer[] = [];
  takenOffer: string | undefined;
  declinedOffer: string | undefined;
  /** The last offer was answered by another proposal, which made no offer in its turn. */
  lastWasAnswered = false;
  readonly remembered = new Map<string, string>();

  expected(each: Message, key: string, now: number): string {
    const offer = this.offerOf(each);
    const current = this.offers.at(-1);
    const superseded = offer !== undefined && (offer !== current || this.lastWasAnswered);
    switch (each.type) {
      case 'wait':
        return 'nothing';
      case 'withdraw':
        return 'withdrawn';
      case 'propose': {
        const replies = each.reply !== undefined;
        if (this.state === 'none') return replies ? 'session_unknown' : this.judgement(each.wish);
        if (this.state === 'withdrawn') return 'withdrawn';
        const before = this.remembered.get(key);
        if (before !== undefined) return before;
        if (!replies) return 'session_conflict';
        if (superseded) return 'offer_superseded';
        if (this.state !== 'open') return 'session_closed';
        if (offer === undefined) return 'offer_mismatch';
        if (offer.until <= now) return 'offer_expired';
        return this.round >= 4 ? 'declined:rounds_exhausted' : this.judgement(each.wish);
      }
      case 'accept': {
        if (this.state === 'none') return 'session_unknown';
        if (superseded) return 'offer_superseded';
        if (this.state === 'declined' || this.state === 'withdrawn') return 'session_closed';
        if (offer === undefined || (this.state === 'agreed' && this.takenOffer === undefined)) return 'offer_mismatch';
        if (each.digest === 'wrong') return 'offer_mismatch';
        if (this.state === 'agreed') return 'accepted';
        return offer.until <= now ? 'offer_expired' : 'accepted';
      }
      case 'decline': {
        if (this.state === 'none') return 'session_unknown';
        if (this.state === 'declined' && this.declinedOffer !== undefined && this.declinedOffer === offer?.id)
          return 'declined:declined_by_initiator';
        if (this.state === 'agreed') return 'session_conflict';
        if (superseded) return 'offer_superseded';
        if (this.state !== 'open') return 'session_closed';
        return offer === undefined ? 'offer_mismatch' : 'declined:declined_by_initiator';
      }
    }
  }

  learn(each: Message, key: string, outcome: string, answer: NegotiationResponse | undefined): void {
    if (answer === undefined || each.type === 'wait') return;
    if (each.type === 'withdraw') {
      this.state = 'withdrawn';
      return;
    }
    if (each.type === 'propose') {
      if (this.remembered.has(key) || this.state === 'withdrawn' || outcome === 'declined:parameter_unsupported')
        return;
      this.remembered.set(key, outcome);
      if (outcome === 'declined:rounds_exhausted') {
        this.state = 'declined';
        return;
      }
      this.round += 1;
      if (answer.offer !== undefined) {
        const { offer_id: id, terms_digest: digest, valid_until } = answer.offer;
        this.offers.push({ id, digest, until: Date.parse(valid_until) });
      } else if (this.offers.length > 0) this.lastWasAnswered = true;
      this.state = outcome === 'countered' ? 'open' : outcome === 'accepted' ? 'agreed' : 'declined';
      return;
    }
    if (each.type === 'accept') {
      this.state = 'agreed';
      this.takenOffer ??= this.offerOf(each)?.id;
    } else {
      this.state = 'declined';
      this.declinedOffer = this.offerOf(each)?.id;
    }
  }

  offerOf(each: Message): ModelOffer | undefined {
    const back =
      each.type === 'propose' ? each.reply : each.type === 'accept' || each.type === 'decline' ? each.offer : undefined;
    return back === undefined ? undefined : this.offers.at(-1 - back);
  }

  private judgement(wish: string): string {
    if (wish === 'suits') return 'accepted';
    if (wish === 'counter') return 'countered';
    return wish === 'missing' ? 'declined:capability_missing' : 'declined:parameter_unsupported';
  }
}

function toRequest(each: Exclude<Message, { type: 'wait' }>, model: Model): Partial<NegotiationInput> {
  const offer = model.offerOf(each);
  const base = { session_id: 's', agent_id: 'agent_A' };
  switch (each.type) {
    case 'withdraw':
      return { ...base, action: 'withdraw' };
    case 'decline':
      return { ...base, action: 'decline', offer_id: offer?.id ?? 'off-none' };
    case 'accept': {
      const digest = each.digest === 'right' && offer !== undefined ? offer.digest : `sha256:${'x'.repeat(43)}`;
      return { ...base, action: 'accept', offer_id: offer?.id ?? 'off-none', terms_digest: digest };
    }
    case 'propose': {
      const reply = each.reply === undefined ? {} : { in_reply_to_offer_id: offer?.id ?? 'off-none' };
      const depth = each.wish === 'counter' ? 10 + each.variant : each.variant;
      return {
        ...base,
        ...reply,
        capabilities: [each.wish === 'missing' ? 'juggle' : 'code_review'],
        parameters: { depth },
        ...(each.wish === 'unsupported' ? { required_parameters: ['tone'] } : {}),
      };
    }
  }
}

async function outcomeOf(
  work: Promise<NegotiationResponse>,
): Promise<{ outcome: string; answer?: NegotiationResponse }> {
  try {
    const answer = await work;
    return {
      outcome: answer.outcome === 'declined' ? `declined:${answer.reason?.code ?? ''}` : answer.outcome,
      answer,
    };
  } catch (error) {
    return { outcome: (error as AppError).code };
  }
}

describe('any sequence of messages in one session', () => {
  it('is answered as the rules say, makes at most one agreement, and repeats its answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 14 }), async (messages) => {
        // An agreement here holds for longer than the sequence, and its secret stays repeatable.
        const { keeper, clock, events } = keeperFixture({
          settings: { agreementTtlSeconds: 3_600, confirmWithinMs: 3_600_000 },
        });
        const model = new Model();
        const started = clock.now();
        for (const each of messages) {
          if (each.type === 'wait') {
            // A session is remembered for ten minutes after its offer's end.
            if (clock.now() - started < 500_000) clock.advance(each.ms);
            continue;
          }
          const input = toRequest(each, model);
          const key = JSON.stringify(input);
          const expected = model.expected(each, key, clock.now());
          const { outcome, answer } = await outcomeOf(keeper.negotiate(request(input)));
          expect(outcome).toBe(expected);
          const wasUnspent = outcome === 'declined:parameter_unsupported';
          model.learn(each, key, outcome, answer);
          if (answer !== undefined && !wasUnspent) {
            expect(answer.round).toBeLessThanOrEqual(answer.max_rounds);
            expect(await keeper.negotiate(request(input))).toEqual(answer);
          }
          expect(await keeper.countLiving()).toBe(model.state === 'agreed' ? 1 : 0);
        }
        expect(events.filter(({ type }) => type === 'agreed').length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 600 },
    );
  }, 60_000);
});
