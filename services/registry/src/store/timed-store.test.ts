import { MemoryStore } from './memory/memory-store.js';
import type { RegistryStore } from './store.js';
import { timedStore } from './timed-store.js';

const guard = { awayThresholdMs: 3_000, share: 0.5, minAgents: 1 };

describe('a timed store', () => {
  it('tells the time of what somebody waits for, and whether it failed, and changes nothing else', async () => {
    const seen: [string, boolean][] = [];
    const store = timedStore(new MemoryStore({ epoch: 'e', guard }), (operation, seconds, ok) => {
      expect(seconds).toBeGreaterThanOrEqual(0);
      seen.push([operation, ok]);
    });
    const command = {
      agentId: 'a',
      manifestJson: '{"agent_id":"a","name":"a","endpoint":"http://a","capabilities":["x"]}',
    };
    expect(await store.register({ ...command, ttlMs: 1_000, newTokenHash: 'h' })).toMatchObject({ kind: 'registered' });
    expect(await store.renew('a', 'other')).toMatchObject({ kind: 'forbidden' });
    expect(store.now()).toEqual(expect.any(Number));
    const broken = timedStore(
      { renew: () => Promise.reject(new Error('away')) } as unknown as RegistryStore,
      (operation, _seconds, ok) => seen.push([operation, ok]),
    );
    await expect(broken.renew('a', 'h')).rejects.toThrow('away');
    await store.close();
    expect(seen).toEqual([
      ['register', true],
      ['renew', true],
      ['renew', false],
    ]);
  });
});
