import { getEventListeners } from 'node:events';
import { ChildSlots } from './child-slots.js';

const never = new AbortController().signal;

/** What is said as soon as a place is had. */
function taker(slots: ChildSlots) {
  const heard: string[] = [];
  const take = (name: string, signal = never) =>
    slots.take(signal).then(
      () => heard.push(name),
      (error: unknown) => heard.push(`${name}: ${(error as Error).message}`),
    );
  return { heard, take };
}

const turn = () => new Promise(setImmediate);

describe('places for children', () => {
  it('are as many as there may be, and go to whoever has waited longest', async () => {
    const slots = new ChildSlots({ max: 2 });
    const { heard, take } = taker(slots);
    for (const name of ['a', 'b', 'c', 'd']) void take(name);
    await turn();
    expect(heard).toEqual(['a', 'b']);
    slots.free();
    void take('e');
    await turn();
    expect(heard).toEqual(['a', 'b', 'c']);
    for (let n = 0; n < 4; n += 1) slots.free();
    await turn();
    expect(heard).toEqual(['a', 'b', 'c', 'd', 'e']);
    await take('f');
    await take('g');
    void take('h');
    await turn();
    expect(heard.slice(5)).toEqual(['f', 'g']);
  });

  it('are not waited for by one that was cancelled, and it leaves no listener', async () => {
    const slots = new ChildSlots({ max: 1 });
    const controller = new AbortController();
    const { heard, take } = taker(slots);
    await take('a');
    const waiting = take('b', controller.signal);
    void take('c');
    controller.abort(new Error('gone'));
    await waiting;
    slots.free();
    await turn();
    expect(heard).toEqual(['a', 'b: gone', 'c']);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await take('d', controller.signal);
    expect(heard.at(-1)).toBe('d: gone');
  });

  it('keep no listener on whoever got one', async () => {
    const slots = new ChildSlots({ max: 1 });
    const { signal } = new AbortController();
    await slots.take(signal);
    const second = slots.take(signal);
    slots.free();
    await second;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('are waited for by no more than may wait', async () => {
    const slots = new ChildSlots({ max: 1, maxWaiting: 1 });
    await slots.take(never);
    void slots.take(never);
    await expect(slots.take(never)).rejects.toMatchObject({ reason: 'too_many_requests', code: 'subagents_busy' });
  });
});
