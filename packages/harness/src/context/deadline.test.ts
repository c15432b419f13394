import { getEventListeners } from 'node:events';
import { deadlineOf } from './deadline.js';

describe('deadlineOf', () => {
  it('is aborted from the start if the outer signal is', () => {
    const reason = new Error('gone');
    const deadline = deadlineOf(AbortSignal.abort(reason), 1_000, 'late');
    expect([deadline.signal.aborted, deadline.signal.reason]).toEqual([true, reason]);
    deadline.release();
  });

  it('follows the outer signal until it is released', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const followed = deadlineOf(first.signal, 1_000, 'late');
    const released = deadlineOf(second.signal, 1_000, 'late');
    released.release();
    first.abort('stop');
    second.abort('stop');
    followed.release();
    expect([followed.signal.reason, released.signal.aborted]).toEqual(['stop', false]);
    expect(getEventListeners(second.signal, 'abort')).toHaveLength(0);
  });

  it('is aborted with its own text when the time is over', async () => {
    const { signal } = deadlineOf(new AbortController().signal, 1, 'too late');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    expect(signal.reason).toEqual(new Error('too late'));
  });
});
