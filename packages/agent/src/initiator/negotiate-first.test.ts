import { silentLogger, validate } from '@parley/service-kit';
import { eventually, onTestsEnd, startSilentListener, waitFor } from '@parley/testkit';
import { startJsonServer, type JsonServer } from '../../test-support/json-server.js';
import { createAgreementKeeper, type AgreementKeeper, type AgreementKeeperOptions } from '../agreements/index.js';
import { createPeerHttp } from '../peer/index.js';
import { negotiationRequest } from '../wire/negotiation.js';
import { negotiateFirst, type Accepted, type Candidate, type NegotiateFirstOptions } from './negotiate-first.js';
import { NegotiationFailed } from './negotiation-failed.js';
import { PenaltyBox } from './penalty-box.js';
import { httpResponderClient } from './responder-client.js';

const http = createPeerHttp({ timeoutMs: 2_000 });
onTestsEnd(() => http.close());

interface Responder extends Candidate {
  readonly keeper: AgreementKeeper;
  readonly server: JsonServer;
}

/** A real keeper behind a small server; `before` holds requests back. */
async function responder(
  agentId: string,
  options: {
    policy?: NonNullable<AgreementKeeperOptions['policy']>;
    before?: (path: string, action: string) => Promise<unknown> | undefined;
  } = {},
): Promise<Responder> {
  const keeper = createAgreementKeeper({
    agentId,
    capabilities: () => new Map([['x', {}]]),
    ...(options.policy === undefined ? {} : { policy: options.policy }),
  });
  const server = await startJsonServer(async ({ path, body, headers, method, query }) => {
    const input = (body ?? {}) as Record<string, string>;
    await options.before?.(path, input['action'] ?? '');
    const proof = headers['parley-agreement-proof'] as string | undefined;
    if (path === '/negotiate') {
      return {
        status: 200,
        body: await keeper.negotiate(validate(negotiationRequest, input), proof === undefined ? {} : { proof }),
      };
    }
    const id = path.split('/')[2] ?? '';
    if (method === 'DELETE') {
      const reason = query.get('reason') === 'superseded' ? 'superseded' : 'completed';
      return { status: 200, body: await keeper.end(id, { proof, reason }) };
    }
    return { status: 200, body: await keeper.confirm(id, { termsDigest: input['terms_digest'] ?? '', proof }) };
  });
  return { agentId, endpoint: server.url, keeper, server };
}

/** The draw that leaves the order as it is given. */
const IN_ORDER = 0.999_999;

function first(
  candidates: readonly Candidate[],
  options: Partial<NegotiateFirstOptions> = {},
  penalties = new PenaltyBox({ now: Date.now }),
): Promise<Accepted> {
  return negotiateFirst(
    { self: 'me', responder: httpResponderClient(http), logger: silentLogger, now: Date.now, random: () => IN_ORDER },
    candidates,
    { capabilities: ['x'] },
    {
      signal: new AbortController().signal,
      candidateTimeoutMs: 1_000,
      hedgeMs: 10_000,
      maxCandidates: 8,
      totalMs: 5_000,
      maxRounds: 4,
      ...options,
    },
    penalties,
  );
}

async function failure(attempt: Promise<unknown>): Promise<NegotiationFailed> {
  const error: unknown = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof NegotiationFailed)) throw new Error('did not fail as it should', { cause: error });
  return error;
}

async function states({ keeper }: Responder): Promise<string[]> {
  return (await keeper.list()).agreements.map(({ state, end_reason }) => `${state} ${end_reason ?? ''}`.trim());
}

describe('the first of several', () => {
  it('is the one that answers, when the one before is silent: it is asked meanwhile', async () => {
    const silent = await startSilentListener();
    const good = await responder('good');
    const before = performance.now();
    const result = await first([{ agentId: 'silent', endpoint: silent.url }, good], {
      hedgeMs: 50,
      candidateTimeoutMs: 4_000,
    });
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(result.agreement.agentId).toBe('good');
    expect(result.attempts).toMatchObject([
      { agent_id: 'silent', outcome: 'withdrawn' },
      { agent_id: 'good', outcome: 'accepted' },
    ]);
    await result.agreement.end();
  });

  it('is only one when two accept in the same moment: the other place is free again', async () => {
    const bothAsked = Promise.withResolvers<undefined>();
    let asked = 0;
    const before = (_: string, action: string): Promise<unknown> | undefined => {
      if (action !== 'propose') return undefined;
      asked += 1;
      if (asked === 2) bothAsked.resolve(undefined);
      return bothAsked.promise;
    };
    const one = await responder('one', { before });
    const two = await responder('two', { before });
    const result = await first([one, two], { hedgeMs: 10 });
    await eventually(async () => {
      expect([...(await states(one)), ...(await states(two))].sort()).toEqual([
        'active',
        'ended released_by_initiator',
      ]);
    });
    await result.agreement.end();
  });

  it('is the second when the confirmation of the first breaks', async () => {
    const never = new Promise(() => undefined);
    const one = await responder('one', { before: (path) => (path.endsWith('/confirm') ? never : undefined) });
    one.server.server.prependListener('request', (request, response) => {
      if (request.url?.endsWith('/confirm') === true) response.destroy();
    });
    const two = await responder('two');
    const result = await first([one, two], { candidateTimeoutMs: 600 });
    expect(result.agreement.agentId).toBe('two');
    await eventually(async () => {
      expect((await states(one)).every((state) => state.startsWith('ended'))).toBe(true);
    });
    await result.agreement.end();
  });

  it('is one that is preferred, in the order of the preference', async () => {
    const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((id) => responder(id)));
    if (one === undefined || two === undefined || three === undefined) throw new Error('unreachable');
    const result = await first([one, two, three], { prefer: ['nobody', 'three', 'two'] });
    expect(result.attempts.map(({ agent_id }) => agent_id)).toEqual(['three']);
    await result.agreement.end();
  });
});

describe('nobody', () => {
  it('is a failure that lists every attempt', async () => {
    const silent = await startSilentListener();
    const refusing = await responder('refusing', { policy: () => ({ allow: false, code: 'not_authorized' }) });
    const broken = await startJsonServer(() => ({ status: 200, body: 'nonsense' }));
    const error = await failure(
      first(
        [
          { agentId: 'silent', endpoint: silent.url },
          refusing,
          { agentId: 'broken', endpoint: broken.url },
          { agentId: 'metadata', endpoint: 'http://169.254.169.254' },
          { agentId: 'dead', endpoint: 'http://127.0.0.1:1' },
        ],
        { candidateTimeoutMs: 100 },
      ),
    );
    expect(error).toMatchObject({ code: 'negotiation_failed', reason: 'unavailable' });
    expect(error.attempts.map(({ agent_id, outcome, reason }) => [agent_id, outcome, reason])).toEqual([
      ['silent', 'timeout', 'peer_timeout'],
      ['refusing', 'declined', 'not_authorized'],
      ['broken', 'invalid_answer', 'peer_invalid_answer'],
      ['metadata', 'target_refused', 'target_refused'],
      ['dead', 'unreachable', 'peer_unreachable'],
    ]);
    expect(error.attempts.every(({ duration_ms: ms }) => Number.isInteger(ms) && ms >= 0)).toBe(true);
    expect(error.message).toContain('refusing declined (not_authorized)');
  });

  it('is worth another try only when somebody may answer otherwise later', async () => {
    const never = await responder('never', { policy: () => ({ allow: false, code: 'not_authorized' }) });
    expect(await failure(first([never]))).toMatchObject({ reason: 'failed_precondition' });
    const later = await responder('later', { policy: () => ({ allow: false, code: 'capacity' }) });
    expect(await failure(first([never, later]))).toMatchObject({ reason: 'unavailable' });
    expect(await failure(first([]))).toMatchObject({ attempts: [], reason: 'unavailable' });
  });

  it('comes about in bounded time, and asks a bounded number', async () => {
    const silent = await startSilentListener();
    const many = Array.from({ length: 20 }, (_, index) => ({ agentId: `s${String(index)}`, endpoint: silent.url }));
    const before = performance.now();
    const error = await failure(
      first(many, { candidateTimeoutMs: 5_000, totalMs: 300, hedgeMs: 20, maxCandidates: 3 }),
    );
    expect(performance.now() - before).toBeLessThan(1_500);
    expect(error.attempts).toHaveLength(3);
  });

  it('holds anything after the caller gave up', async () => {
    const giveUp = new AbortController();
    const one = await responder('one', {
      before: (path) => {
        if (path.endsWith('/confirm')) giveUp.abort();
        return undefined;
      },
    });
    await failure(first([one], { signal: giveUp.signal }));
    await waitFor(async () => (await states(one)).every((state) => state.startsWith('ended')));
  });
});

describe('the penalty box', () => {
  it('puts the silent last for a while, and forgives who answers', async () => {
    let now = 0;
    const penalties = new PenaltyBox({ now: () => now });
    const silent = await startSilentListener();
    const one = { agentId: 'one', endpoint: silent.url };
    const two = await responder('two');
    const firstOf = async (): Promise<string | undefined> => {
      const { attempts, agreement } = await first([one, two], { candidateTimeoutMs: 100 }, penalties);
      await agreement.end();
      return attempts[0]?.agent_id;
    };
    expect(await firstOf()).toBe('one');
    expect(await firstOf()).toBe('two');
    now = 60_001;
    expect(await firstOf()).toBe('one');
    penalties.forgive('one');
    expect(penalties.has('one')).toBe(false);
  });

  it('is bounded, and no penalty is longer than the longest', () => {
    let now = 0;
    const penalties = new PenaltyBox({ now: () => now, maxEntries: 2 });
    for (const id of ['a', 'b', 'c']) penalties.add(id, 1e9);
    expect(['a', 'b', 'c'].map((id) => penalties.has(id))).toEqual([false, true, true]);
    expect(
      penalties
        .order([{ agentId: 'b' }, { agentId: 'x' }, { agentId: 'c' }, { agentId: 'y' }])
        .map(({ agentId }) => agentId),
    ).toEqual(['x', 'y', 'b', 'c']);
    now = 60_000;
    expect(penalties.has('c')).toBe(false);
  });
});
