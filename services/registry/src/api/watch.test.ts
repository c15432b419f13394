import { silentLogger, type CallContext } from '@parley/service-kit';
import { DEFAULT_GUARD } from '../domain/guard.js';
import type { RegistryCore } from '../replica/core-types.js';
import { createRegistryCore } from '../replica/registry-core.js';
import { MemoryStore } from '../store/memory/memory-store.js';
import { watchOperation, type WatchItem } from './watch.js';

let core: RegistryCore;
let store: MemoryStore;
beforeEach(async () => {
  store = new MemoryStore({ epoch: 'test', guard: DEFAULT_GUARD });
  core = createRegistryCore({ store, logger: silentLogger });
  await core.start();
});
afterEach(async () => {
  await core.stop();
  await store.close();
});

function call(signal = new AbortController().signal): CallContext {
  return { requestId: 'r', signal, transport: 'http', header: () => undefined };
}

async function register(agentId: string): Promise<void> {
  await core.register({
    manifest: { agentId, name: agentId, endpoint: 'http://127.0.0.1:9', capabilities: ['a'] },
    newTokenHash: 'hash',
  });
}

describe('a reader that is slower than the events', () => {
  it('gets what was kept for it, is then cut with an error, and gives its place back', async () => {
    const watch = watchOperation({ core, maxWatchers: 1, maxQueuedEvents: 3 });
    const items = (await watch.handle({ agent_ids: [] }, call()))[Symbol.asyncIterator]();
    expect((await items.next()).value).toMatchObject({ type: 'snapshot' });
    for (let i = 0; i < 5; i += 1) await register(`a${String(i)}`);
    for (let i = 0; i < 3; i += 1) expect((await items.next()).value).toMatchObject({ type: 'registered' });
    await expect(items.next()).rejects.toMatchObject({ code: 'slow_reader' });
    expect(watch.watcherCount()).toBe(0);
  });
});

describe('a watch', () => {
  it('ends when its reader leaves, also in the middle of waiting', async () => {
    const watch = watchOperation({ core, maxWatchers: 1 });
    const leave = new AbortController();
    const items = (await watch.handle({ agent_ids: [] }, call(leave.signal)))[Symbol.asyncIterator]();
    await items.next();
    const waiting = items.next();
    leave.abort();
    expect(await waiting).toMatchObject({ done: true });
    expect(watch.watcherCount()).toBe(0);
  });

  it('tells nothing twice that the snapshot has in it', async () => {
    const watch = watchOperation({ core, maxWatchers: 1 });
    await register('before');
    const items = (await watch.handle({ agent_ids: [] }, call()))[Symbol.asyncIterator]();
    await register('after');
    const [snapshot, event] = [await items.next(), await items.next()] as { value: WatchItem }[];
    expect(JSON.parse(snapshot?.value.json ?? '')).toMatchObject({ agents: [{ agent_id: 'before' }], complete: true });
    expect(JSON.parse(event?.value.json ?? '')).toMatchObject({ type: 'registered', agent_id: 'after' });
    await items.return?.();
    expect(watch.watcherCount()).toBe(0);
  });
});
