import { type DriveOptions, ProxyClient, ProxyError, ProxyRefused, ProxyUnauthorized } from '@parley/proxy-protocol';
import { Stopping } from '../stopping.js';
import type { AgreedProxy, ProxyFinder } from './agreed-proxy.js';
import { driveFound, type DriveFoundOptions, type FoundEvent } from './drive-found.js';
import { ProxySearchFailed } from './proxy-search-failed.js';

type Drive = DriveFoundOptions['proxy']['drive'];

/** A proxy that may be agreed on, and what became of it. */
class FakeAgreed implements AgreedProxy {
  readonly agreementId = 'agr';
  readonly claimHeaders = { 'parley-agreement-proof': 'secret' };
  readonly ends: string[] = [];
  readonly #listeners = new Set<(reason: string) => void>();

  constructor(readonly agentId: string) {}

  get url(): string {
    return `http://${this.agentId}`;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  onEnd(listener: (reason: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** By the other side. */
  lose(reason: string): void {
    for (const listener of this.#listeners) listener(reason);
  }

  async end(reason: string): Promise<void> {
    this.ends.push(reason);
    return Promise.resolve();
  }
}

let searches: (readonly string[])[];
let agreed: FakeAgreed[];
let events: FoundEvent[];
let drives: DriveOptions[];
let stopping: Stopping;

beforeEach(() => {
  [searches, agreed, events, drives, stopping] = [[], [], [], [], new Stopping()];
});

/** Finds a new proxy each time, unless it is told otherwise. */
function finder(failures: readonly (ProxySearchFailed | undefined)[] = []): ProxyFinder {
  const left = [...failures];
  return {
    find: (exclude) => {
      searches.push(exclude);
      const failure = left.shift();
      if (failure !== undefined) return Promise.reject(failure);
      const proxy = new FakeAgreed(`p${agreed.length + 1}`);
      agreed.push(proxy);
      return Promise.resolve(proxy);
    },
    close: () => Promise.resolve(),
  };
}

function found(plays: readonly Drive[], more: Partial<DriveFoundOptions> = {}): Promise<void> {
  const left = [...plays];
  const drive: Drive = (options) => {
    drives.push(options);
    return left.shift()?.(options) ?? Promise.resolve({ turns: 0, left: [] });
  };
  return driveFound({
    finder: finder(),
    proxy: { drive, ProxyClient, ProxyError },
    stopping,
    maxTurns: undefined,
    newPlay: () => () => Promise.resolve(),
    maxConcurrentTurns: 4,
    onDrive: () => undefined,
    onFound: (event) => events.push(event),
    random: () => 0,
    pause: () => Promise.resolve(),
    ...more,
  });
}

const turn = {} as never;

/** Plays turns that end so, then is as the last says. */
function plays(outcomes: readonly ('answered' | 'failed' | 'gone' | 'left')[], then: Drive): Drive {
  return async (options) => {
    for (const how of outcomes)
      options.onEvent?.({ kind: 'turn_ended', turn, outcome: { how, error: '', reason: '' } });
    return then(options);
  };
}

const done: Drive = () => Promise.resolve({ turns: 1, left: [] });
const forgotten: Drive = () => Promise.reject(new ProxyUnauthorized('the token is missing or wrong'));
const taken: Drive = () => Promise.reject(new ProxyRefused(409, 'this proxy is already claimed'));

function kinds(): string[] {
  return events.map(({ kind }) => kind);
}

describe('driving proxies that are found', () => {
  it('plays one under its agreement and frees it at the end', async () => {
    await found([plays(['answered'], done)], { maxTurns: 1 });
    expect(agreed.map(({ ends }) => ends)).toEqual([['completed']]);
    expect(drives[0]).toMatchObject({ reclaims: false, maxTurns: 1, maxConcurrentTurns: 4, patienceMs: 10_000 });
    expect(drives[0]?.client.url).toBe('http://p1');
    expect(kinds()).toEqual(['agreed']);
    expect(agreed[0]?.listenerCount).toBe(0);
  });

  it.each([
    ['forgets the claim', forgotten, 'the token is missing or wrong'],
    ['is taken all the same', taken, 'this proxy is already claimed'],
  ])('takes another one when it %s, and avoids it', async (_what, lost, reason) => {
    await found([lost, done]);
    expect(searches).toEqual([[], ['p1']]);
    expect(events[1]).toMatchObject({ kind: 'lost', agreed: { agentId: 'p1' }, reason });
    expect(agreed.map(({ ends }) => ends)).toEqual([['released_by_initiator'], ['completed']]);
  });

  it('takes another one when the agreement ends, and stops playing at once', async () => {
    const playing: Drive = (options) =>
      new Promise((resolve) => {
        options.signal?.addEventListener('abort', () => resolve({ turns: 1, left: ['t'] }));
        agreed[0]?.lose('party_deregistered');
      });
    await found([playing, done]);
    expect(events[1]).toMatchObject({ reason: 'the agreement has ended: party deregistered' });
    expect(drives).toHaveLength(2);
  });

  it('counts the turns that were played to their end, at all proxies together', async () => {
    await found(
      [plays(['answered', 'left', 'failed'], forgotten), plays(['gone'], forgotten), plays(['answered'], done)],
      {
        maxTurns: 4,
      },
    );
    expect(drives.map(({ maxTurns }) => maxTurns)).toEqual([4, 2, 1]);
    expect(kinds()).toEqual(['agreed', 'lost', 'agreed', 'lost', 'agreed']);
  });

  it('is done when the last turn was played, whatever becomes of the proxy then', async () => {
    await found([plays(['answered'], forgotten)], { maxTurns: 1 });
    expect(drives).toHaveLength(1);
  });

  it('uses another token for each, and knows nothing of one at the next', async () => {
    const tokens: unknown[] = [];
    class Client extends ProxyClient {
      constructor(options: ConstructorParameters<typeof ProxyClient>[0]) {
        super(options);
        tokens.push(options.token);
        expect(options).toMatchObject({ claimHeaders: { 'parley-agreement-proof': 'secret' } });
        expect(options.headers).toBeUndefined();
      }
    }
    const left = [forgotten, done];
    const drive: Drive = (options) => {
      drives.push(options);
      return left.shift()?.(options) ?? done(options);
    };
    await found([], { proxy: { drive, ProxyClient: Client, ProxyError } });
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/u);
    expect(drives[0]?.play).not.toBe(drives[1]?.play);
  });

  it('tells at once that there is none at the beginning, and tries longer after a loss', async () => {
    const none = new ProxySearchFailed('all_taken', 'all are taken');
    await expect(found([], { finder: finder([none]) })).rejects.toBe(none);
    expect(events).toEqual([]);
    searches = [];
    const later = [undefined, ...Array.from({ length: 20 }, () => none)];
    const played = plays(['answered'], forgotten);
    await expect(found([played], { finder: finder(later) })).rejects.toBe(none);
    // Each but the first time without the one that was lost, and then with it.
    expect(searches).toHaveLength(1 + 6 * 2);
    expect(kinds()).toEqual(['agreed', 'lost', 'searching', 'searching', 'searching', 'searching', 'searching']);
  });

  it('gives up after several that were lost one after the other', async () => {
    await expect(found(Array.from({ length: 20 }, () => taken))).rejects.toMatchObject({
      code: 'lost_too_often',
      message: '6 proxies were lost one after the other, at last p6: this proxy is already claimed',
    });
    expect(searches.at(-1)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  });

  it('does not give up while turns are played, or proxies last', async () => {
    const many = Array.from({ length: 12 }, () => plays(['answered'], forgotten));
    await found([...many, done]);
    expect(drives).toHaveLength(13);
    expect(searches.at(-1)).toEqual(['p12']);
    let now = 0;
    await found([...Array.from({ length: 12 }, () => forgotten), done], { now: () => (now += 30_000) });
    expect(drives).toHaveLength(26);
  });

  it('is left by a signal: the proxy is told, and no other is looked for', async () => {
    const stopped: Drive = (options) => {
      stopping.leave(143);
      expect(options.signal?.aborted).toBe(true);
      return Promise.resolve({ turns: 1, left: ['t'] });
    };
    await found([stopped]);
    expect(agreed.map(({ ends }) => ends)).toEqual([['shutdown']]);
    expect(kinds()).toEqual(['agreed']);
  });

  it('does not look for another while the last turns are played to their end', async () => {
    const draining: Drive = (options) => {
      stopping.stop(130);
      expect([options.drain?.aborted, options.signal?.aborted]).toEqual([true, false]);
      agreed[0]?.lose('expired');
      return Promise.resolve({ turns: 1, left: ['t'] });
    };
    await found([draining]);
    expect(kinds()).toEqual(['agreed', 'lost']);
  });

  it('is stopped while it searches', async () => {
    const search: ProxyFinder['find'] = (_exclude, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        stopping.stop(130);
      });
    await found([], { finder: { find: search, close: () => Promise.resolve() } });
    expect(drives).toEqual([]);
  });

  it('frees the proxy after a fault of its own, too', async () => {
    const fault = new TypeError('a fault');
    await expect(found([() => Promise.reject(fault)])).rejects.toBe(fault);
    expect(agreed[0]?.ends).toHaveLength(1);
  });
});
