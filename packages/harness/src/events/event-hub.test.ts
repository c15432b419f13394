import { getEventListeners } from 'node:events';
import type { AgentEvent } from '../events.js';
import { EventHub } from './event-hub.js';

const turn = (number: number) => ({ kind: 'turn_started', turn: number }) as const;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function hubWith(sinks: ConstructorParameters<typeof EventHub>[0]['sinks'] = [], warnings: unknown[] = []): EventHub {
  return new EventHub({ agentId: 'a', sinks, logger: { warn: (...each) => warnings.push(each) } });
}

describe('events on their way to sinks', () => {
  it('are numbered from 1 in each run', async () => {
    const seen: AgentEvent[] = [];
    const hub = hubWith([{ emit: (event) => void seen.push(event) }]);
    const first = hub.openRun('r1');
    await first.emit(turn(1));
    await first.emit(turn(2));
    expect(first.nextSequence).toBe(3);
    await hub.openRun('r2').emit(turn(1));
    expect(seen.map(({ runId, sequence }) => `${runId} ${String(sequence)}`)).toEqual(['r1 1', 'r1 2', 'r2 1']);
    expect(seen[0]).toEqual({ agentId: 'a', runId: 'r1', sequence: 1, payload: turn(1) });
  });

  it('are waited for, sink after sink', async () => {
    const log: string[] = [];
    const slow = { emit: async () => (await tick(), void log.push('slow')) };
    const hub = hubWith([slow, { emit: () => void log.push('fast') }]);
    await hub.openRun('r').emit(turn(1));
    expect(log).toEqual(['slow', 'fast']);
  });

  it('keep their order for every sink, also if they are sent at the same time', async () => {
    const seen: number[] = [];
    let delay = 3;
    const uneven = {
      emit: async () => {
        for (let ticks = (delay -= 1); ticks > 0; ticks -= 1) await tick();
      },
    };
    const run = hubWith([uneven, { emit: ({ sequence }) => void seen.push(sequence) }]).openRun('r');
    await Promise.all([run.emit(turn(1)), run.emit(turn(2)), run.emit(turn(3))]);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('are not hurt by a sink that throws, at once or later', async () => {
    const seen: number[] = [];
    const warnings: unknown[] = [];
    const hub = hubWith(
      [
        {
          emit: () => {
            throw new Error('at once');
          },
        },
        { emit: () => Promise.reject(new Error('later')) },
        { emit: ({ sequence }) => void seen.push(sequence) },
      ],
      warnings,
    );
    await hub.openRun('r').emit(turn(1));
    expect(seen).toEqual([1]);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings)).toContain('later');
  });
});

describe('events for readers', () => {
  it('are kept from the moment of subscribing until they are read', async () => {
    const hub = hubWith();
    const run = hub.openRun('r');
    await run.emit(turn(1));
    const reader = hub.subscribe();
    await run.emit(turn(2));
    await run.emit(turn(3));
    hub.close();
    const seen: number[] = [];
    for await (const { sequence } of reader) seen.push(sequence);
    expect(seen).toEqual([2, 3]);
  });

  it('come to a reader that waits for them', async () => {
    const hub = hubWith();
    const reader = hub.subscribe();
    const waits = [reader.next(), reader.next()];
    await hub.openRun('r').emit(turn(1));
    hub.close();
    expect(await Promise.all(waits)).toMatchObject([{ done: false, value: { sequence: 1 } }, { done: true }]);
  });

  it('end with an error after what the buffer holds, for a reader that is too slow', async () => {
    const hub = hubWith();
    const run = hub.openRun('r');
    const reader = hub.subscribe({ capacity: 2 });
    for (const number of [1, 2, 3, 4]) await run.emit(turn(number));
    const seen: number[] = [];
    const read = async (): Promise<void> => {
      for await (const { sequence } of reader) seen.push(sequence);
    };
    await expect(read()).rejects.toThrow(RangeError);
    expect(seen).toEqual([1, 2]);
    expect((await reader.next()).done).toBe(true);
  });

  it('survive long reading without a gap', async () => {
    const hub = hubWith();
    const run = hub.openRun('r');
    const reader = hub.subscribe({ capacity: 3 });
    for (let number = 1; number <= 50; number += 1) {
      await run.emit(turn(number));
      if (number % 2 === 0) {
        const pair = [await reader.next(), await reader.next()];
        expect(pair.map(({ value }) => value?.sequence)).toEqual([number - 1, number]);
      }
    }
  });

  it('stop when the reader leaves the loop or its signal is aborted, and leave no listener', async () => {
    const hub = hubWith();
    const run = hub.openRun('r');
    const caller = new AbortController();
    const left = hub.subscribe({ signal: caller.signal });
    await run.emit(turn(1));
    for await (const event of left) {
      expect(event.sequence).toBe(1);
      break;
    }
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
    const aborted = hub.subscribe({ signal: caller.signal });
    const wait = aborted.next();
    caller.abort();
    expect((await wait).done).toBe(true);
    expect(hub.subscribe({ signal: caller.signal }).closed).toBe(true);
    await run.emit(turn(2));
    expect((await aborted.next()).done).toBe(true);
  });

  it('need a capacity that makes sense', () => {
    expect(() => hubWith().subscribe({ capacity: 0 })).toThrow(RangeError);
  });
});
