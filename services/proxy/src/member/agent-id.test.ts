import { agentIdOf } from './agent-id.js';

describe('a name as an agent’s id', () => {
  it.each([
    ['proxy-0', 'proxy-0'],
    ['Proxy_1.local', 'Proxy_1.local'],
    ['-.my pod/ä 7', 'my-pod-7'],
    ['a'.repeat(200), 'a'.repeat(128)],
    ['…', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s becomes %s', (name, id) => {
    expect(agentIdOf(name)).toBe(id);
  });
});
