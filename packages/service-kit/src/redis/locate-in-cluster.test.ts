import { readClusterNodes } from './locate-in-cluster.js';

const ASKED = { host: '10.0.0.9', port: 6379 };
const NODES = [
  'aaa 10.0.0.1:6379@16379,one.example myself,master - 0 0 3 connected 0-99 101 [100->-bbb]',
  'bbb 10.0.0.2:6379@16379,two.example,shard-id=x master - 0 0 7 connected 100 102-200 [99-<-aaa]',
  'ccc 10.0.0.3:6379@16379 slave aaa 0 0 3 connected',
  'ddd 10.0.0.4:6379@16379 master,fail - 0 0 2 disconnected 300-400',
  'eee :0@0 master,noaddr - 0 0 2 disconnected 500',
  'fff :6380@16380 master - 0 0 5 connected 600-700',
  'ggg 2001:db8::1:6379@16379 master - 0 0 5 connected 800',
  '',
].join('\n');

const ownerOf = (slot: number, names = false) => readClusterNodes(NODES, slot, ASKED, names).owner;

describe('what a node says of its cluster', () => {
  it.each([
    [0, '10.0.0.1', 6379, 3],
    [99, '10.0.0.1', 6379, 3],
    [101, '10.0.0.1', 6379, 3],
    [100, '10.0.0.2', 6379, 7],
    [200, '10.0.0.2', 6379, 7],
    [650, '10.0.0.9', 6380, 5],
    [800, '2001:db8::1', 6379, 5],
  ])('slot %i is with %s:%i', (slot, host, port, epoch) => {
    expect(ownerOf(slot)).toEqual({ host, port, epoch });
  });

  it.each([[201], [350], [500]])('slot %i is with nobody who can serve it', (slot) => {
    expect(ownerOf(slot)).toBeUndefined();
  });

  it('gives names where they are wanted and there are any', () => {
    expect(ownerOf(0, true)?.host).toBe('one.example');
    expect(ownerOf(100, true)?.host).toBe('two.example');
    expect(ownerOf(800, true)?.host).toBe('2001:db8::1');
  });

  it('names every node that can be asked, replicas too', () => {
    expect(readClusterNodes(NODES, 0, ASKED, false).nodes.map(({ host }) => host)).toEqual([
      ...['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.9', '2001:db8::1'],
    ]);
  });

  it('is refused when it is something else', () => {
    expect(() => readClusterNodes(null, 0, ASKED, false)).toThrow(TypeError);
    expect(readClusterNodes('nonsense\n', 0, ASKED, false)).toEqual({ nodes: [], owner: undefined });
  });
});
