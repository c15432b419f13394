import { jest } from '@jest/globals';
import { type Agent, type agreementCall, NegotiationFailed } from '@parley/agent';
import type { ProxyFinder } from './agreed-proxy.js';
import { RegistryFinder } from './registry-finder.js';

const place = { registryUrl: 'http://r', capability: 'playable' };
const never = new AbortController().signal;

type NegotiateFirst = Agent['negotiateFirst'];
type Agreement = Awaited<ReturnType<NegotiateFirst>>['agreement'];

function finder(negotiateFirst: NegotiateFirst): ProxyFinder {
  const call: typeof agreementCall = () => ({
    extensions: [],
    metadata: {},
    headers: { 'parley-agreement-proof': 'secret' },
  });
  const agent = { negotiateFirst, stop: () => Promise.resolve() };
  return new RegistryFinder(place, agent, { agreementCall: call, NegotiationFailed });
}

function agreement(more: Partial<Agreement> = {}): Agreement {
  const made = { agentId: 'p', agreementId: 'agr-1', endpoint: 'http://p', end: () => Promise.resolve('completed') };
  return { ...made, ...more } as Agreement;
}

async function agreeing(more: Partial<Agreement> = {}): ReturnType<NegotiateFirst> {
  const result = { accepted: true, agreement: agreement(more), attempts: [] };
  return Promise.resolve(result as unknown as Awaited<ReturnType<NegotiateFirst>>);
}

function inVain(...ids: readonly string[]): NegotiationFailed {
  const attempts = ids.map((id) => ({
    agent_id: id,
    outcome: 'declined' as const,
    reason: 'capacity',
    duration_ms: 1,
  }));
  return new NegotiationFailed(attempts, { retryable: true });
}

function appError(reason: string, code: string, cause?: unknown): Error {
  return Object.assign(new Error('The peer is not there.', { cause }), { name: 'AppError', reason, code });
}

describe('a search at a registry', () => {
  it('asks for an agreement that is exclusive, and tells how it is shown', async () => {
    const negotiateFirst = jest.fn<NegotiateFirst>(() => agreeing());
    const agreed = await finder(negotiateFirst).find(['old'], never);
    expect(negotiateFirst.mock.calls).toEqual([
      [
        'http://r',
        ['playable'],
        { exclusive: true },
        expect.objectContaining({ requiredParameters: ['exclusive'], exclude: ['old'], signal: never }),
      ],
    ]);
    expect(agreed).toMatchObject({ agentId: 'p', agreementId: 'agr-1', url: 'http://p' });
    expect(agreed.claimHeaders).toEqual({ 'parley-agreement-id': 'agr-1', 'parley-agreement-proof': 'secret' });
  });

  it('goes on with those who were not asked until there is nobody left', async () => {
    const answers: (() => ReturnType<NegotiateFirst>)[] = [
      () => Promise.reject(inVain('a', 'b')),
      () => Promise.reject(inVain('c')),
      () => agreeing(),
    ];
    const negotiateFirst = jest.fn<NegotiateFirst>(() => answers.shift()?.() ?? Promise.reject(inVain()));
    await finder(negotiateFirst).find([], never);
    expect(negotiateFirst.mock.calls.map(([, , , options]) => options?.exclude)).toEqual([
      [],
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
    answers.push(
      () => Promise.reject(inVain('a')),
      () => Promise.reject(inVain('b')),
    );
    await expect(finder(negotiateFirst).find([], never)).rejects.toMatchObject({
      code: 'all_taken',
      message: 'all proxies at http://r are taken: a, b',
    });
  });

  it('has an end also where there is always one more', async () => {
    let count = 0;
    const negotiateFirst = jest.fn<NegotiateFirst>(() => Promise.reject(inVain(`p-${(count += 1)}`)));
    await expect(finder(negotiateFirst).find([], never)).rejects.toMatchObject({ code: 'all_taken' });
    expect(negotiateFirst.mock.calls.length).toBeLessThanOrEqual(8);
  });

  it.each([
    [
      appError('unavailable', 'peer_unreachable', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })),
      'no_registry',
      'no registry at http://r (ECONNREFUSED)',
    ],
    [appError('deadline_exceeded', 'peer_timeout'), 'no_registry', 'no registry at http://r (The peer is not there.)'],
    [appError('bad_gateway', 'peer_invalid_answer'), 'no_registry', 'no registry at http://r (The peer is not there.)'],
    [
      appError('invalid_request', 'invalid_request'),
      'registry_refused',
      'the registry at http://r refuses: The peer is not there.',
    ],
  ])('says in one line what is wrong with the registry: %s', async (error, code, message) => {
    const failing = finder(() => Promise.reject(error));
    await expect(failing.find([], never)).rejects.toMatchObject({ name: 'ProxySearchFailed', code, message });
  });

  it('lets a fault of its own and the reason of its signal through', async () => {
    const fault = new TypeError('a fault');
    await expect(finder(() => Promise.reject(fault)).find([], never)).rejects.toBe(fault);
    const stop = new AbortController();
    const failing = finder(() => {
      stop.abort(fault);
      return Promise.reject(inVain('a'));
    });
    await expect(failing.find([], stop.signal)).rejects.toBe(fault);
  });
});

describe('the end of an agreement', () => {
  it('waits for the proxy a while, never fails and leaves no timer', async () => {
    jest.useFakeTimers();
    try {
      const silent = await finder(() => agreeing({ end: () => new Promise(() => undefined) })).find([], never);
      let isDone = false;
      const ending = silent.end('completed').then(() => (isDone = true));
      await jest.advanceTimersByTimeAsync(1_900);
      expect(isDone).toBe(false);
      await jest.advanceTimersByTimeAsync(200);
      await ending;
      const failing = await finder(() => agreeing({ end: () => Promise.reject(new Error('no')) })).find([], never);
      await failing.end('shutdown');
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
