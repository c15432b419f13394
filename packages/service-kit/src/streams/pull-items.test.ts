import { EventEmitter, getEventListeners } from 'node:events';
import { drained } from './drained.js';
import { pullItems } from './pull-items.js';
import { withSignal } from './with-signal.js';

const never = new AbortController().signal;

/** Counts what is asked of it; gives `count` items and then waits. */
class Source implements AsyncIterable<number> {
  pulled = 0;
  returned = 0;
  readonly #count: number;
  constructor(count: number) {
    this.#count = count;
  }
  [Symbol.asyncIterator](): AsyncIterator<number> {
    return {
      next: async () => {
        this.pulled += 1;
        if (this.pulled > this.#count) return new Promise<never>(() => undefined);
        return Promise.resolve({ done: false, value: this.pulled });
      },
      return: async () => {
        this.returned += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

describe('pullItems', () => {
  it('hands over items in order, one after the other, until the source ends', async () => {
    const seen: number[] = [];
    let inUse = 0;
    const end = await pullItems(
      (async function* () {
        yield* [1, 2, 3];
        await Promise.resolve();
      })(),
      never,
      async (item) => {
        expect((inUse += 1)).toBe(1);
        await Promise.resolve();
        inUse -= 1;
        seen.push(item);
      },
    );
    expect([end, seen]).toEqual(['ended', [1, 2, 3]]);
  });

  it('ends at once when the signal aborts while the source is silent, and returns the source', async () => {
    const source = new Source(1);
    const stop = new AbortController();
    const end = pullItems(source, stop.signal, () => {
      queueMicrotask(() => {
        stop.abort();
      });
    });
    expect(await end).toBe('aborted');
    expect(source.returned).toBe(1);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('does not pull while an item is in use', async () => {
    const source = new Source(10);
    let release: (() => void) | undefined;
    const stop = new AbortController();
    const end = pullItems(source, stop.signal, () => new Promise<void>((resolve) => (release = resolve)));
    await new Promise(setImmediate);
    expect(source.pulled).toBe(1);
    release?.();
    await new Promise(setImmediate);
    expect(source.pulled).toBe(2);
    stop.abort();
    release?.();
    expect(await end).toBe('aborted');
  });

  it('passes on what the source or the use throws, and returns a source that did not fail', async () => {
    const source = new Source(5);
    const use = (): void => {
      throw new Error('use');
    };
    await expect(pullItems(source, never, use)).rejects.toThrow('use');
    expect(source.returned).toBe(1);
    const failing = (async function* () {
      yield await Promise.resolve(1);
      throw new Error('source');
    })();
    await expect(pullItems(failing, never, () => undefined)).rejects.toThrow('source');
  });

  it('lets a generator clean up what was opened for it, even if it is never asked for an item', async () => {
    let open = 1;
    const source = (async function* () {
      try {
        yield await Promise.resolve(1);
      } finally {
        open -= 1;
      }
    })();
    expect(await pullItems(source, AbortSignal.abort(), () => undefined)).toBe('aborted');
    await new Promise(setImmediate);
    expect(open).toBe(0);
  });

  it('takes a failure of the use after the abort for the abort', async () => {
    const stop = new AbortController();
    const end = pullItems(new Source(1), stop.signal, async () => {
      stop.abort();
      return Promise.reject(new Error('the reader is gone'));
    });
    expect(await end).toBe('aborted');
  });
});

describe('drained', () => {
  it('waits for room, without leaving listeners behind', async () => {
    const writable = new EventEmitter();
    const stop = new AbortController();
    const room = drained(writable, stop.signal, 10_000);
    writable.emit('drain');
    await room;
    expect(writable.eventNames()).toEqual([]);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('gives up a reader that takes nothing', async () => {
    await expect(drained(new EventEmitter(), never, 5)).rejects.toMatchObject({ code: 'slow_reader' });
  });

  it('ends with the reason of the signal, also when it has aborted before', async () => {
    const stop = new AbortController();
    const reason = new Error('left');
    const room = drained(new EventEmitter(), stop.signal, 10_000);
    stop.abort(reason);
    await expect(room).rejects.toBe(reason);
    await expect(drained(new EventEmitter(), stop.signal, 10_000)).rejects.toBe(reason);
  });
});

describe('withSignal', () => {
  it('gives what the work gives, and listens no longer', async () => {
    const stop = new AbortController();
    await expect(withSignal(Promise.resolve(1), stop.signal)).resolves.toBe(1);
    await expect(withSignal(Promise.reject(new Error('work')), stop.signal)).rejects.toThrow('work');
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('ends with the reason of the signal, whatever the work comes to later', async () => {
    const stop = new AbortController();
    let fail: ((error: Error) => void) | undefined;
    const work = withSignal(new Promise((_, reject) => (fail = reject)), stop.signal);
    stop.abort(new Error('left'));
    await expect(work).rejects.toThrow('left');
    fail?.(new Error('nobody hears this, and it must not end the process'));
    await new Promise(setImmediate);
    await expect(withSignal(Promise.resolve(1), stop.signal)).rejects.toThrow('left');
  });
});
