import type { AgreedProxy } from './agreed-proxy.js';
import { ProxySearchFailed, type SearchFailure } from './proxy-search-failed.js';
import { searchProxy, type SearchOptions } from './search-proxy.js';

const agreed = { agentId: 'p' } as AgreedProxy;

let excluded: (readonly string[])[];
let waits: number[];

beforeEach(() => {
  excluded = [];
  waits = [];
});

/** Fails as it is told, then agrees. */
function options(failures: readonly (SearchFailure | Error)[], more: Partial<SearchOptions> = {}): SearchOptions {
  const left = [...failures];
  return {
    finder: {
      find: (exclude) => {
        excluded.push(exclude);
        const failure = left.shift();
        if (failure === undefined) return Promise.resolve(agreed);
        return Promise.reject(failure instanceof Error ? failure : new ProxySearchFailed(failure, failure));
      },
    },
    avoid: new Set(),
    tries: 6,
    signal: new AbortController().signal,
    onWait: () => undefined,
    random: () => 1,
    pause: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    ...more,
  };
}

describe('a search for a proxy', () => {
  it('is tried again, after longer and longer, so often as it may', async () => {
    const told: string[] = [];
    const onWait = (failure: ProxySearchFailed, ms: number): void => void told.push(`${failure.code} ${ms}`);
    const four = ['no_registry', 'all_taken', 'nobody_playable', 'all_taken'] as const;
    expect(await searchProxy(options(four, { onWait }))).toBe(agreed);
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(told[0]).toBe('no_registry 1000');
    const six = Array.from({ length: 6 }, () => 'all_taken' as const);
    await expect(searchProxy(options(six))).rejects.toMatchObject({ code: 'all_taken' });
    expect(Math.max(...waits)).toBe(10_000);
    expect(excluded).toHaveLength(11);
  });

  it('is tried once if it is to be told at once', async () => {
    await expect(searchProxy(options(['all_taken'], { tries: 1 }))).rejects.toMatchObject({ code: 'all_taken' });
    expect([waits, excluded]).toEqual([[], [[]]]);
  });

  it('asks those that are avoided only if nobody else agrees', async () => {
    const avoid = new Set(['lost']);
    await searchProxy(options([], { avoid }));
    expect(excluded).toEqual([['lost']]);
    excluded = [];
    await searchProxy(options(['nobody_playable'], { avoid }));
    expect(excluded).toEqual([['lost'], []]);
    excluded = [];
    await expect(searchProxy(options(['no_registry'], { avoid, tries: 1 }))).rejects.toMatchObject({
      code: 'no_registry',
    });
    expect(excluded).toEqual([['lost']]);
  });

  it('is not tried again after a fault of its own, and ends when it is stopped', async () => {
    const fault = new TypeError('a fault');
    await expect(searchProxy(options([fault]))).rejects.toBe(fault);
    const stop = new AbortController();
    const onWait = (): void => stop.abort();
    const { pause: _pause, ...real } = options(['all_taken'], { signal: stop.signal, onWait });
    await expect(searchProxy(real)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
