import { jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { startReplicaSign } from './replica-sign.js';

function fakeRedis(): { readonly redis: Redis; readonly commands: string[]; isAway: boolean } {
  const commands: string[] = [];
  const state = {
    commands,
    isAway: false,
    redis: {
      set: (...args: unknown[]) => command('SET', args),
      del: (...args: unknown[]) => command('DEL', args),
    } as unknown as Redis,
  };
  function command(name: string, args: unknown[]): Promise<unknown> {
    commands.push([name, ...args].join(' '));
    return state.isAway ? Promise.reject(new Error('away')) : Promise.resolve(1);
  }
  return state;
}

describe('the sign of a living replica', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is put up three times within its life, also after a while without a store, until it is taken down', async () => {
    const fake = fakeRedis();
    const sign = startReplicaSign(fake.redis, 'key', 15_000);
    expect(fake.commands).toEqual(['SET key 1 PX 15000']);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(fake.commands).toHaveLength(4);
    fake.isAway = true;
    await jest.advanceTimersByTimeAsync(15_000);
    expect(fake.commands).toHaveLength(7);
    expect(sign.lifeMs).toBe(15_000);
    await sign.takeDown();
    expect(sign.lifeMs).toBeUndefined();
    expect(fake.commands.at(-1)).toBe('DEL key');
    expect(jest.getTimerCount()).toBe(0);
  });
});
