import { silentLogger } from '@parley/service-kit';
import type { WatchEvent, WatchOptions } from '../registry-client/index.js';
import { PartnerWatch } from './partner-watch.js';

const { jest } = import.meta;

/** A registry whose watches the test feeds by hand. */
class Watches {
  readonly opened: { ids: readonly string[] | undefined; open: boolean; send: (event: WatchEvent) => void }[] = [];

  watch = (options: WatchOptions): AsyncIterable<WatchEvent> => {
    const queue: WatchEvent[] = [];
    let wake: (() => void) | undefined;
    const one = {
      ids: options.agentIds,
      open: true,
      send: (event: WatchEvent) => {
        queue.push(event);
        wake?.();
      },
    };
    this.opened.push(one);
    options.signal.addEventListener('abort', () => {
      one.open = false;
      wake?.();
    });
    return (async function* () {
      while (one.open) {
        const event = queue.shift();
        if (event !== undefined) yield event;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    })();
  };
}

function agentAt(agentId: string, endpoint = 'http://b:1'): NonNullable<WatchEvent['agent']> {
  return { agent_id: agentId, name: agentId, endpoint, capabilities: [], revision: 1 };
}
const snapshot = (...ids: string[]): WatchEvent => ({
  type: 'snapshot',
  revision: 1,
  agents: ids.map((id) => agentAt(id)),
  complete: true,
});
const expired = (id: string): WatchEvent => ({ type: 'expired', revision: 2, agent_id: id });

async function start(...partners: string[]) {
  const watches = new Watches();
  const heard: string[] = [];
  const watch = new PartnerWatch({
    client: watches,
    logger: silentLogger,
    absenceGraceMs: 30_000,
    listener: {
      connection: () => undefined,
      lapsed: (id) => heard.push(`lapsed ${id}`),
      back: (id, sameOwner) => heard.push(`back ${id}${sameOwner ? '' : ' as somebody else'}`),
      gone: (id) => heard.push(`gone ${id}`),
    },
  });
  const follow = async (...ids: string[]): Promise<void> => {
    watch.follow(new Set(ids));
    await jest.advanceTimersByTimeAsync(200);
  };
  await follow(...partners);
  const tell = async (...events: WatchEvent[]): Promise<void> => {
    for (const event of events) watches.opened.at(-1)?.send(event);
    await jest.advanceTimersByTimeAsync(0);
  };
  return { watch, watches, heard, follow, tell, pass: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('a watch is open only while there are partners, and opened anew only for a newcomer', async () => {
  const { watches, follow, watch } = await start();
  expect(watches.opened).toHaveLength(0);
  await follow('b');
  await follow('b', 'c');
  await follow('c');
  await follow('b', 'c');
  expect(watches.opened.map(({ ids, open }) => [ids, open])).toEqual([
    [['b'], false],
    [['b', 'c'], true],
  ]);
  await follow();
  expect(watches.opened.map(({ open }) => open)).toEqual([false, false]);
  await follow('b');
  expect(watches.opened).toHaveLength(3);
  watch.stop();
  expect(watches.opened[2]?.open).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});

it('with very many partners all agents are watched', async () => {
  const ids = Array.from({ length: 201 }, (_, index) => `p${String(index)}`);
  const { watches, follow, tell, heard } = await start(...ids);
  expect(watches.opened[0]?.ids).toBeUndefined();
  await follow(...ids, 'one-more');
  expect(watches.opened).toHaveLength(1);
  await tell(expired('stranger'), expired('one-more'));
  expect(heard).toEqual(['lapsed one-more']);
});

it('a lapse and a return are told once each, a deregistration as such', async () => {
  const { tell, heard } = await start('b');
  await tell(snapshot('b'), expired('b'), expired('b'));
  await tell({ type: 'registered', revision: 3, agent_id: 'b', agent: agentAt('b') });
  await tell({ type: 'updated', revision: 4, agent_id: 'b', agent: agentAt('b', 'http://elsewhere:1') });
  await tell({ type: 'deregistered', revision: 5, agent_id: 'b' });
  expect(heard).toEqual(['lapsed b', 'back b', 'gone b']);
});

it('one that comes back from elsewhere is somebody else', async () => {
  const { tell, heard } = await start('b');
  await tell(snapshot('b'), expired('b'));
  await tell({ type: 'registered', revision: 3, agent: agentAt('b', 'http://elsewhere:1') });
  expect(heard).toEqual(['lapsed b', 'back b as somebody else']);
});

it('one that is missing after the registry was away has a grace, and one that was never seen is left alone', async () => {
  const { tell, heard, pass } = await start('b', 'c', 'plain');
  await tell(snapshot('b', 'c'));
  await tell({ type: 'resync', revision: 9, reason: 'too_old' }, snapshot());
  await pass(29_000);
  expect(heard).toEqual([]);
  await tell({ type: 'registered', revision: 10, agent: agentAt('c') });
  await pass(1_000);
  expect(heard).toEqual(['lapsed b']);
  await pass(600_000);
  expect(heard).toEqual(['lapsed b']);
});

it('a snapshot in pieces counts when it is complete', async () => {
  const { tell, heard, pass } = await start('b', 'c');
  await tell(snapshot('b', 'c'));
  await tell({ ...snapshot('b'), complete: false }, snapshot('c'));
  await pass(60_000);
  expect(heard).toEqual([]);
  await tell({ ...snapshot('b'), complete: false });
  await pass(60_000);
  expect(heard).toEqual([]);
});
