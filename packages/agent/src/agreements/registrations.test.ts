import type { AgreementKeeper } from './keeper-types.js';
import { agree, keeperFixture, refusal, request, type Agreed } from '../../test-support/keeper-fixture.js';

async function stateOf(keeper: AgreementKeeper, { id }: Agreed): Promise<string> {
  const { state, end_reason } = await keeper.get(id, { internal: true });
  return end_reason ?? state;
}

function callOf({ id, agreement, proof }: Agreed, callId = 'c') {
  return { agreementId: id, termsDigest: agreement.terms_digest, capability: 'code_review', callId, proof };
}

describe('a lapsed registration', () => {
  it('suspends the agreements of that agent: no new work, running work goes on (anax#1503)', async () => {
    const { keeper, events } = keeperFixture();
    const mine = await agree(keeper);
    const other = await agree(keeper, { agent_id: 'agent_C' });
    const running = await keeper.reserveCall(callOf(mine));
    expect(await keeper.suspendFor('agent_A')).toEqual({ suspended: 1, waiting: 0 });
    expect(await keeper.suspendFor('agent_A')).toEqual({ suspended: 0, waiting: 0 });
    expect((await refusal(keeper.reserveCall(callOf(mine, 'd')))).code).toBe('agreement_suspended');
    await running.release();
    expect(await stateOf(keeper, mine)).toBe('suspended');
    expect(await stateOf(keeper, other)).toBe('active');
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'agreed', 'suspended']);
  });

  it('that comes back with the same owner resumes them with a new lease', async () => {
    const { keeper, clock, events } = keeperFixture();
    const mine = await agree(keeper);
    clock.advance(50_000);
    await keeper.suspendFor('agent_A');
    clock.advance(30_000);
    expect(await keeper.sweep()).toBe(0);
    expect(await keeper.resumeFor('agent_A', { sameOwner: true })).toBe(1);
    const view = await keeper.get(mine.id, mine);
    expect(view).toMatchObject({ state: 'active', expires_at: new Date(clock.now() + 60_000).toISOString() });
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'suspended', 'resumed']);
    expect((await keeper.reserveCall(callOf(mine))).repeated).toBe(false);
  });

  it('that stays away for one lease ends them', async () => {
    const { keeper, clock } = keeperFixture();
    const mine = await agree(keeper);
    await keeper.suspendFor('agent_A');
    clock.advance(59_999);
    expect(await keeper.sweep()).toBe(0);
    clock.advance(1);
    expect(await keeper.sweep()).toBe(1);
    expect(await stateOf(keeper, mine)).toBe('party_unreachable');
    expect(await keeper.resumeFor('agent_A', { sameOwner: true })).toBe(0);
  });

  it('does not concern what is pending, nor an initiator that is known not to be registered', async () => {
    const { keeper } = keeperFixture();
    const pending = await agree(keeper, { pending: true });
    const answer = await keeper.negotiate(request(), { initiatorRegistered: false });
    expect(await keeper.suspendFor('agent_A')).toEqual({ suspended: 0, waiting: 0 });
    expect(await keeper.endFor('agent_A', 'party_deregistered')).toBe(1);
    expect(await stateOf(keeper, pending)).toBe('party_deregistered');
    expect((await keeper.get(answer.agreement?.agreement_id ?? '', { internal: true })).state).toBe('active');
  });

  it('of both parties needs both back', async () => {
    const { keeper, events } = keeperFixture();
    const mine = await agree(keeper);
    await keeper.suspendFor(['agent_A', 'agent_B']);
    expect(await keeper.resumeFor('agent_B', { sameOwner: true })).toBe(0);
    expect(await stateOf(keeper, mine)).toBe('suspended');
    expect(await keeper.resumeFor('agent_A', { sameOwner: true })).toBe(1);
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'suspended', 'resumed']);
  });
});

describe('a registration that comes back otherwise', () => {
  it('under another owner ends the agreements', async () => {
    const { keeper } = keeperFixture();
    const suspended = await agree(keeper);
    await keeper.suspendFor('agent_A');
    const active = await agree(keeper);
    expect(await keeper.resumeFor('agent_A', { sameOwner: false })).toBe(0);
    expect(await stateOf(keeper, suspended)).toBe('party_unreachable');
    expect(await stateOf(keeper, active)).toBe('party_unreachable');
  });

  it('to terms that are no longer offered ends them', async () => {
    const { keeper, capabilities } = keeperFixture();
    const mine = await agree(keeper);
    await keeper.suspendFor('agent_B');
    capabilities.delete('code_review');
    expect(await keeper.resumeFor('agent_B', { sameOwner: true })).toBe(0);
    expect(await stateOf(keeper, mine)).toBe('terms_withdrawn');
  });
});

describe('ending for others', () => {
  it('ends all of an agent, or all of this side', async () => {
    const { keeper, events } = keeperFixture();
    const one = await agree(keeper);
    const two = await agree(keeper, { agent_id: 'agent_C' });
    expect(await keeper.endFor('agent_A', 'party_deregistered')).toBe(1);
    expect(await keeper.endFor('agent_B', 'shutdown')).toBe(1);
    expect([await stateOf(keeper, one), await stateOf(keeper, two)]).toEqual(['party_deregistered', 'shutdown']);
    expect(events.slice(2).map(({ record }) => record.endedBy)).toEqual(['keeper', 'responder']);
  });

  it('ends what a changed manifest no longer satisfies, and only that', async () => {
    const { keeper, capabilities } = keeperFixture();
    const review = await agree(keeper);
    const translate = await agree(keeper, { capabilities: ['translate'] });
    capabilities.set('code_review', { version: '2.0.0' });
    expect(await keeper.endWithdrawn()).toBe(1);
    expect([await stateOf(keeper, review), await stateOf(keeper, translate)]).toEqual(['terms_withdrawn', 'active']);
  });
});

describe('many at once (support#15)', () => {
  async function many(count: number) {
    const fixture = keeperFixture();
    const agreed: Agreed[] = [];
    for (let at = 0; at < count; at += 1) agreed.push(await agree(fixture.keeper, { agent_id: `agent-${String(at)}` }));
    return { ...fixture, agreed };
  }
  const names = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `agent-${String(from + at)}`);

  it('wait for one lease before they are suspended', async () => {
    const { keeper, clock, logs } = await many(8);
    expect(await keeper.suspendFor(names(0, 5))).toEqual({ suspended: 0, waiting: 5 });
    expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
    clock.advance(40_000);
    expect(await keeper.resumeFor('agent-0', { sameOwner: true })).toBe(0);
    await keeper.sweep();
    expect((await keeper.list({ state: 'suspended' })).agreements).toEqual([]);
  });

  it('are suspended after it when they did not come back', async () => {
    const { keeper, clock, agreed } = await many(6);
    await keeper.suspendFor(names(0, 6));
    await keeper.resumeFor('agent-0', { sameOwner: true });
    clock.advance(59_000);
    for (const { id, agreement, proof } of agreed) {
      await keeper.renew(id, { leaseRevision: 1, termsDigest: agreement.terms_digest, proof });
    }
    clock.advance(1_000);
    await keeper.sweep();
    const suspended = (await keeper.list({ state: 'suspended' })).agreements.map(({ terms }) => terms.initiator).sort();
    expect(suspended).toEqual(names(1, 6));
  });

  it('are noticed also when they are told one by one', async () => {
    const { keeper } = await many(8);
    const results = [];
    for (const name of names(0, 8)) results.push(await keeper.suspendFor(name));
    expect(results.map(({ suspended }) => suspended)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
    expect(results.map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  it('are not many when they are half, or fewer than five, or far apart', async () => {
    const half = await many(10);
    expect(await half.keeper.suspendFor(names(0, 5))).toEqual({ suspended: 5, waiting: 0 });
    const few = await many(4);
    expect(await few.keeper.suspendFor(names(0, 4))).toEqual({ suspended: 4, waiting: 0 });
    const slow = await many(6);
    for (const name of names(0, 6)) {
      expect(await slow.keeper.suspendFor(name)).toEqual({ suspended: 1, waiting: 0 });
      slow.clock.advance(9_000);
    }
  });
});
