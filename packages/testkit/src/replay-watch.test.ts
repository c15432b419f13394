import { replayWatch } from './replay-watch.js';
import type { WatchedEvent } from './watch-events.js';

function event(type: string, revision: number, agentId?: string, data: Record<string, unknown> = {}): WatchedEvent {
  return { type, revision, agentId, id: String(revision), data, receivedAtMs: 0 };
}

const snapshot = (revision: number, ...ids: string[]) =>
  event('snapshot', revision, undefined, { agents: ids.map((agent_id) => ({ agent_id })) });

describe('replayWatch', () => {
  it('follows who lives from the snapshot on', () => {
    const replay = replayWatch([
      snapshot(5, 'a', 'b'),
      event('registered', 6, 'c'),
      event('updated', 7, 'a'),
      event('expired', 8, 'b'),
      event('deregistered', 9, 'c'),
    ]);
    expect([...replay.living]).toEqual(['a']);
    expect([...replay.expired]).toEqual([['b', 1]]);
    expect(replay.faults).toEqual([]);
  });

  it('begins anew with the snapshot after a resync', () => {
    const replay = replayWatch([snapshot(5, 'a'), event('resync', 3), snapshot(3, 'b'), event('registered', 4, 'a')]);
    expect([...replay.living]).toEqual(['b', 'a']);
    expect(replay.faults).toEqual([]);
  });

  it.each([
    ['an event that comes twice', [event('updated', 6, 'a'), event('updated', 6, 'a')], 'came as 6 after 6'],
    ['events out of order', [event('updated', 8, 'a'), event('updated', 7, 'a')], 'came as 7 after 8'],
    ['a registration of one that lives', [event('registered', 6, 'a')], 'a was registered twice'],
    ['an end of one that does not live', [event('expired', 6, 'b')], 'b ended twice'],
  ])('finds %s', (_what, events, fault) => {
    expect(replayWatch([snapshot(5, 'a'), ...events]).faults).toEqual([expect.stringContaining(fault)]);
  });
});
