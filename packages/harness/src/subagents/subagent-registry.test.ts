import { SubagentRegistry } from './subagent-registry.js';
import type { SubagentProvider, SubagentRequest } from './subagent-types.js';

const provider = (): SubagentProvider & { starts: number } => ({
  starts: 0,
  capabilities: { outputSchema: true, depthLimit: true, toolFilter: true, persona: true },
  start() {
    this.starts += 1;
    return Promise.reject(new Error('started'));
  },
});

const request: SubagentRequest = {
  label: 'l',
  prompt: [],
  parent: { agentId: 'a', depth: 1 },
  signal: new AbortController().signal,
};

describe('the registry of subagents', () => {
  it('lists providers in the order in which they came, and lets them go again', () => {
    const registry = new SubagentRegistry();
    const one = provider();
    const unregister = registry.register('one', one);
    registry.register('two', provider());
    expect(registry.list()).toEqual(['one', 'two']);
    expect(registry.get('one')).toBe(one);
    unregister();
    expect(registry.get('one')).toBeUndefined();
    registry.register('one', provider());
    unregister();
    expect(registry.list()).toEqual(['two', 'one']);
  });

  it('refuses a name that is taken, and one that is no name', () => {
    const registry = new SubagentRegistry();
    registry.register('one', provider());
    expect(() => registry.register('one', provider())).toThrow('registered already');
    expect(() => registry.register('', provider())).toThrow(RangeError);
    expect(() => registry.register('a b', provider())).toThrow(RangeError);
  });

  it('starts nothing with an unknown provider, below the depth, or after a cancel', async () => {
    const registry = new SubagentRegistry();
    const one = provider();
    registry.register('one', one);
    await expect(registry.start('nope', request)).rejects.toMatchObject({ code: 'subagent_provider_unknown' });
    await expect(registry.start('one', { ...request, maxDepth: 1 })).rejects.toMatchObject({
      code: 'subagent_too_deep',
    });
    const signal = AbortSignal.abort();
    await expect(registry.start('one', { ...request, signal })).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(one.starts).toBe(0);
    await expect(registry.start('one', { ...request, maxDepth: 2 })).rejects.toThrow('started');
    expect(one.starts).toBe(1);
  });
});
