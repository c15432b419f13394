import { ContextQueues } from './context-queues.js';
import { Refusal } from './facts.js';

const limits = { maxOpenTurns: 2, maxQueuedPerContext: 2, maxQueued: 3 };

function opened(queues: ContextQueues): readonly string[] {
  const all: string[] = [];
  for (let next = queues.takeNext(); next !== undefined; next = queues.takeNext()) all.push(next);
  return all;
}

describe('ContextQueues', () => {
  it('opens one of each context at a time, in order of arrival', () => {
    const queues = new ContextQueues({ ...limits, maxOpenTurns: 9 });
    for (const [context, task] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b1'],
    ] as const) {
      queues.add(context, task);
    }
    expect([opened(queues), queues.openCount, queues.queuedCount]).toEqual([['a1', 'b1'], 2, 1]);
    queues.remove('a', 'a1');
    expect([opened(queues), queues.openCount, queues.queuedCount]).toEqual([['a2'], 2, 0]);
  });

  it('opens no more than its bound in all, contexts in order of being ready', () => {
    const queues = new ContextQueues(limits);
    for (const name of ['a', 'b', 'c']) queues.add(name, `${name}1`);
    expect(opened(queues)).toEqual(['a1', 'b1']);
    queues.add('a', 'a2');
    queues.remove('a', 'a1');
    expect(opened(queues)).toEqual(['c1']);
    queues.remove('b', 'b1');
    expect(opened(queues)).toEqual(['a2']);
  });

  it('refuses more waiting ones than its bounds, of a context and in all; not what opens at once', () => {
    const queues = new ContextQueues({ ...limits, maxQueuedPerContext: 2, maxQueued: 2 });
    queues.add('a', 'a1');
    opened(queues);
    queues.add('a', 'a2');
    queues.add('a', 'a3');
    expect(() => queues.add('a', 'a4')).toThrow(new Refusal(429, "context 'a' has 2 messages waiting already"));
    queues.add('b', 'b1');
    opened(queues);
    expect(() => queues.add('c', 'c1')).toThrow(new Refusal(429, '2 messages are waiting already'));
    expect([queues.openCount, queues.queuedCount]).toEqual([2, 2]);
    queues.remove('a', 'a3');
    queues.add('c', 'c1');
  });

  it('forgets a task wherever it stands, and is none the worse for one that it does not know', () => {
    const queues = new ContextQueues(limits);
    for (const task of ['a1', 'a2', 'a3'].slice(0, 2)) queues.add('a', task);
    queues.remove('a', 'a1');
    queues.remove('a', 'none');
    queues.remove('none', 'a2');
    expect([opened(queues), queues.queuedCount]).toEqual([['a2'], 0]);
    queues.remove('a', 'a2');
    queues.remove('a', 'a2');
    expect([queues.openCount, queues.queuedCount, opened(queues)]).toEqual([0, 0, []]);
  });

  it('takes over an earlier life without asking for bounds', () => {
    const queues = new ContextQueues({ ...limits, maxOpenTurns: 1, maxQueued: 1 });
    queues.restoreOpen('a', 'a1');
    queues.restoreOpen('b', 'b1');
    queues.restoreWaiting('a', 'a2');
    queues.restoreWaiting('c', 'c1');
    expect([queues.openCount, queues.queuedCount, opened(queues)]).toEqual([2, 2, []]);
    queues.remove('a', 'a1');
    queues.remove('b', 'b1');
    expect(opened(queues)).toEqual(['c1']);
    queues.remove('c', 'c1');
    expect(opened(queues)).toEqual(['a2']);
  });

  it('goes on whichever order a context is restored in', () => {
    const queues = new ContextQueues(limits);
    queues.restoreWaiting('a', 'a2');
    queues.restoreOpen('a', 'a1');
    expect(opened(queues)).toEqual([]);
    queues.remove('a', 'a1');
    expect(opened(queues)).toEqual(['a2']);
  });
});
