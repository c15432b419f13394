import { AppError, silentLogger, type Logger } from '@parley/service-kit';
import { agreementOf, TERMS } from '../../test-support/agreements.js';
import { hashProof } from '../negotiation/proof.js';
import type { Agreement } from '../wire/agreement.js';
import { AgreementBook } from './agreement-book.js';
import { LivingAgreement } from './living-agreement.js';
import type { RenewalView, ResponderClient } from './responder-client.js';

const { jest } = import.meta;

const SECRET = 'the-secret-of-the-initiator';
const RESPONDER_SECRET = 'the-secret-of-the-responder';
/** The keeper's clock is three days behind ours; only differences of its times may count. */
const NOW = Date.parse('2030-01-04T00:00:00.000Z');

const unreachable = (): AppError => new AppError('unavailable', 'away', { code: 'peer_unreachable' });
const ended = (reason: string): AppError =>
  new AppError('gone', `The agreement has ended: ${reason}.`, {
    code: 'agreement_ended',
    errors: [{ path: 'agreement_id', message: reason }],
  });

class Keeper {
  readonly renewals: RenewalView[] = [];
  readonly renewedAt: number[] = [];
  readonly ends: string[] = [];
  renewed: (view: RenewalView) => Agreement = () => this.lengthened();
  ended: (reason: string) => Agreement = (reason) => agreementOf({ state: 'ended', end_reason: reason });

  /** One lease from now, by the keeper's clock. */
  lengthened(more: Partial<Agreement> = {}): Agreement {
    const end = Date.parse('2030-01-01T00:00:00.000Z') + (Date.now() - NOW) + 60_000;
    return agreementOf({ expires_at: new Date(end).toISOString(), lease_revision: this.renewals.length + 1, ...more });
  }

  readonly client = {
    renew: (_: unknown, view: RenewalView) => {
      this.renewals.push(view);
      this.renewedAt.push(Date.now() - NOW);
      return Promise.resolve().then(() => this.renewed(view));
    },
    get: () => Promise.resolve(this.lengthened({ lease_revision: 7 })),
    end: (_: unknown, reason: string) => {
      this.ends.push(reason);
      return Promise.resolve().then(() => this.ended(reason));
    },
  } as unknown as ResponderClient;
}

interface Held {
  readonly keeper: Keeper;
  readonly agreement: LivingAgreement;
  readonly endings: string[];
  readonly errors: string[];
  readonly pass: (ms: number) => Promise<void>;
}

const held: LivingAgreement[] = [];

function hold(more: Partial<Agreement> = {}, random = 0.5): Held {
  const keeper = new Keeper();
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => errors.push(message), child: () => logger };
  const agreement = new LivingAgreement(
    { responder: keeper.client, logger, now: Date.now, random: () => random },
    {
      agreement: agreementOf(more),
      endpoint: 'http://b:1',
      proof: SECRET,
      responderProofHash: hashProof(RESPONDER_SECRET),
      askedAt: Date.now(),
    },
  );
  held.push(agreement);
  const endings: string[] = [];
  agreement.onEnd((reason) => endings.push(reason));
  return { keeper, agreement, endings, errors, pass: (ms) => jest.advanceTimersByTimeAsync(ms) };
}

beforeEach(() => {
  jest.useFakeTimers({ now: NOW });
});
afterEach(() => {
  for (const agreement of held.splice(0)) agreement.endedByPeer('operator');
  jest.useRealTimers();
});

describe('a living agreement', () => {
  it('is renewed at a third of its lease, with the revision it knows', async () => {
    const { keeper, agreement, pass } = hold();
    expect(agreement).toMatchObject({ state: 'active', expiresAt: NOW + 60_000 });
    await pass(20_000);
    await pass(20_000);
    await pass(20_000);
    expect(keeper.renewedAt).toEqual([20_000, 40_000, 60_000]);
    expect(keeper.renewals.map(({ leaseRevision }) => leaseRevision)).toEqual([1, 2, 3]);
    expect(agreement.expiresAt).toBe(NOW + 120_000);
    const early = hold({}, 0);
    const late = hold({}, 0.999_999);
    await pass(18_000);
    expect([early.keeper.renewals.length, late.keeper.renewals.length]).toEqual([1, 0]);
    await pass(4_000);
    expect(late.keeper.renewals.length).toBe(1);
  });

  it('is asked for again before it ends while the responder is away, and ends by the own clock', async () => {
    const { keeper, agreement, endings, pass } = hold();
    keeper.renewed = () => {
      throw unreachable();
    };
    await pass(59_999);
    expect(agreement.state).toBe('active');
    expect(keeper.renewals.length).toBeGreaterThan(8);
    expect(Math.max(...keeper.renewedAt)).toBeGreaterThan(55_000);
    await pass(1);
    expect(endings).toEqual(['expired']);
    const before = keeper.renewals.length;
    await pass(600_000);
    expect(keeper.renewals.length).toBe(before);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['410', ended('limit_exhausted'), 'limit_exhausted', []],
    ['410 without a reason', new AppError('gone', 'over'), 'released_by_responder', []],
    ['404', new AppError('not_found', 'no', { code: 'agreement_unknown' }), 'view_mismatch', []],
    [
      '409 view_mismatch',
      new AppError('conflict', 'no', { code: 'view_mismatch' }),
      'view_mismatch',
      ['view_mismatch'],
    ],
    [
      '409 other terms',
      new AppError('conflict', 'no', { code: 'agreement_terms_mismatch' }),
      'view_mismatch',
      ['view_mismatch'],
    ],
  ])('is dropped at once after %s', async (_, error, reason, told) => {
    const { keeper, agreement, endings, pass } = hold();
    keeper.renewed = () => {
      throw error;
    };
    await pass(20_000);
    expect(agreement).toMatchObject({ state: 'ended', endReason: reason });
    expect(endings).toEqual([reason]);
    expect(keeper.ends).toEqual(told);
    expect(agreement.snapshot()).toMatchObject({ state: 'ended', end_reason: reason });
  });

  it('ends on both sides, loudly, when the renewal answers other terms', async () => {
    const { keeper, errors, endings, pass } = hold();
    keeper.renewed = () => keeper.lengthened({ terms_digest: `sha256:${'b'.repeat(43)}` });
    await pass(20_000);
    expect(endings).toEqual(['view_mismatch']);
    expect(keeper.ends).toEqual(['view_mismatch']);
    expect(errors).toHaveLength(1);
  });

  it('runs out normally when the responder declines to renew', async () => {
    const { keeper, agreement, endings, pass } = hold();
    keeper.renewed = () => {
      throw new AppError('conflict', 'no', { code: 'renewal_declined' });
    };
    await pass(59_999);
    expect(agreement.state).toBe('active');
    expect(keeper.renewals).toHaveLength(1);
    await pass(1);
    expect(endings).toEqual(['renewal_declined']);
  });

  it('catches up when a renewal was taken though its answer was lost', async () => {
    const { keeper, agreement, pass } = hold();
    keeper.renewed = ({ leaseRevision }) => {
      if (leaseRevision !== 7) throw new AppError('conflict', 'stale', { code: 'lease_revision_stale' });
      return keeper.lengthened({ lease_revision: 8 });
    };
    await pass(20_000);
    expect(keeper.renewals.map(({ leaseRevision }) => leaseRevision)).toEqual([1, 7]);
    expect(agreement).toMatchObject({ state: 'active', expiresAt: NOW + 80_000 });
  });

  it('follows the responder into a suspension and out of it', async () => {
    const { keeper, agreement, pass } = hold();
    keeper.renewed = () => keeper.lengthened({ state: 'suspended' });
    await pass(20_000);
    expect(agreement.state).toBe('suspended');
    keeper.renewed = () => keeper.lengthened();
    await pass(20_000);
    expect(agreement.state).toBe('active');
    expect(keeper.renewals.map(({ state }) => state)).toEqual(['active', 'suspended']);
  });

  it('renews at most once at a time, and refuses when it is over', async () => {
    const { keeper, agreement } = hold();
    await Promise.all([agreement.renew(), agreement.renew()]);
    expect(keeper.renewals).toHaveLength(1);
    await agreement.end();
    await expect(agreement.renew()).rejects.toMatchObject({ code: 'agreement_ended' });
  });

  it('shows its secret to nobody who prints it', () => {
    const { agreement } = hold();
    expect(JSON.stringify([agreement, agreement.snapshot(), { ...agreement }])).not.toContain('secret');
    expect(agreement.parametersOf('code_review')).toEqual({ depth: 2, style: 'short' });
    expect(agreement.parametersOf('translate')).toBeUndefined();
  });
});

describe('ending', () => {
  it('happens here at once and is told until it is heard', async () => {
    const { keeper, agreement, endings, pass } = hold();
    let away = 3;
    keeper.ended = (reason) => {
      away -= 1;
      if (away >= 0) throw unreachable();
      return agreementOf({ state: 'ended', end_reason: reason });
    };
    const told = agreement.end('breach');
    expect(agreement.state).toBe('ended');
    expect(endings).toEqual(['breach']);
    await pass(5_000);
    expect(await told).toBe('breach');
    expect(keeper.ends).toHaveLength(4);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gives up telling after ten seconds: the lease ends it there', async () => {
    const { keeper, agreement, pass } = hold();
    keeper.ended = () => {
      throw unreachable();
    };
    const told = agreement.end();
    await pass(10_000);
    expect(await told).toBe('completed');
    const tries = keeper.ends.length;
    await pass(60_000);
    expect(keeper.ends).toHaveLength(tries);
  });

  it("is idempotent and answers the first recorded reason, also when that is the other side's", async () => {
    const { keeper, agreement } = hold();
    keeper.ended = () => agreementOf({ state: 'ended', end_reason: 'limit_exhausted' });
    expect(await agreement.end('completed')).toBe('limit_exhausted');
    expect(await agreement.end('breach')).toBe('limit_exhausted');
    expect(keeper.ends).toEqual(['completed']);
  });

  it('is not told to a responder that ended it before', async () => {
    const { keeper, agreement } = hold();
    keeper.ended = () => {
      throw new AppError('not_found', 'unknown', { code: 'agreement_unknown' });
    };
    expect(await agreement.end()).toBe('completed');
    expect(keeper.ends).toHaveLength(1);
  });

  it.each(['expired', 'not_confirmed', 'nonsense'])('with the reason %s is refused', async (reason) => {
    const { keeper, agreement } = hold();
    await expect(agreement.end(reason)).rejects.toMatchObject({ reason: 'invalid_request' });
    expect([agreement.state, keeper.ends.length]).toEqual(['active', 0]);
  });

  it('reaches every listener, also one that comes late, whatever another does', () => {
    const { agreement } = hold();
    const heard: string[] = [];
    agreement.onEnd(() => {
      throw new Error('broken listener');
    });
    const takenBack = agreement.onEnd((reason) => heard.push(`not ${reason}`));
    takenBack();
    agreement.onEnd((reason) => heard.push(reason));
    agreement.endedByPeer('shutdown');
    agreement.onEnd((reason) => heard.push(`late ${reason}`));
    expect(heard).toEqual(['shutdown', 'late shutdown']);
  });
});

describe('the registration of the responder', () => {
  it('that lapsed suspends for one lease and then ends it', async () => {
    const { keeper, agreement, endings, pass } = hold();
    agreement.partnerLapsed();
    expect(agreement.state).toBe('suspended');
    await pass(59_999);
    expect(endings).toEqual([]);
    await pass(1);
    expect(endings).toEqual(['party_unreachable']);
    expect(keeper.ends).toEqual(['party_unreachable']);
  });

  it('that comes back makes it active again', async () => {
    const { agreement, endings, pass } = hold();
    agreement.partnerLapsed();
    await pass(30_000);
    agreement.partnerBack();
    expect(agreement.state).toBe('active');
    await pass(120_000);
    expect(endings).toEqual([]);
  });
});

describe('the book of agreements', () => {
  function book(maxAgreements = 10): AgreementBook {
    return new AgreementBook({ logger: silentLogger, maxAgreements });
  }

  it('takes the end from the responder, by its secret, as often as it comes', () => {
    const { keeper, agreement, endings } = hold();
    const shelf = book();
    shelf.add(agreement);
    for (const proof of [undefined, '', SECRET, 'guess']) {
      expect(() => shelf.peerEnded('g1', { proof, reason: 'shutdown' })).toThrow(
        expect.objectContaining({ code: 'agreement_unknown' }),
      );
    }
    expect(endings).toEqual([]);
    expect(shelf.peerEnded('g1', { proof: RESPONDER_SECRET, reason: 'shutdown' })).toMatchObject({
      state: 'ended',
      end_reason: 'shutdown',
    });
    expect(shelf.peerEnded('g1', { proof: RESPONDER_SECRET, reason: 'breach' })).toMatchObject({
      end_reason: 'shutdown',
    });
    expect(() => shelf.peerEnded('g2', { proof: RESPONDER_SECRET })).toThrow(
      expect.objectContaining({ code: 'agreement_unknown' }),
    );
    expect([shelf.size, shelf.get('g1')?.endReason, keeper.ends.length]).toEqual([0, 'shutdown', 0]);
  });

  it('does not take a reason that nobody knows', () => {
    const { agreement } = hold();
    const shelf = book();
    shelf.add(agreement);
    expect(shelf.peerEnded('g1', { proof: RESPONDER_SECRET, reason: '<script>' }).end_reason).toBe(
      'released_by_responder',
    );
  });

  it('is bounded', () => {
    const shelf = book(1);
    shelf.ensureRoom();
    shelf.add(hold().agreement);
    expect(() => {
      shelf.ensureRoom();
    }).toThrow(expect.objectContaining({ code: 'too_many_agreements' }));
  });

  it('tells who is in it, and ends all of them', async () => {
    const shelf = book();
    let changes = 0;
    shelf.onChange(() => (changes += 1));
    const one = hold();
    const two = hold({ agreement_id: 'g2' });
    shelf.add(one.agreement);
    shelf.add(two.agreement);
    expect([...shelf.partners()]).toEqual([TERMS.responder]);
    await shelf.endAll('shutdown', 1_000);
    expect([one.keeper.ends, two.keeper.ends]).toEqual([['shutdown'], ['shutdown']]);
    expect([shelf.size, changes, shelf.list().length]).toEqual([0, 4, 0]);
  });
});
