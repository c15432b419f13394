import { quietLogger } from '../logger.js';
import { ProgressChannel } from './progress-channel.js';

describe('a progress channel', () => {
  it('shows one update after the other, and closes when the last one has been shown', async () => {
    const shown: string[] = [];
    const shows: PromiseWithResolvers<undefined>[] = [];
    const channel = new ProgressChannel(
      new AbortController().signal,
      async ({ message }) => {
        const show = Promise.withResolvers<undefined>();
        shows.push(show);
        await show.promise;
        shown.push(message);
      },
      quietLogger,
    );
    void channel.report({ message: 'a' });
    const second = channel.report({ message: 'b' });
    let closed = false;
    const closing = channel.close().then(() => (closed = true));
    await Promise.resolve();
    expect(shows).toHaveLength(1);
    shows[0]?.resolve(undefined);
    while (shows.length < 2) await Promise.resolve();
    expect([shown, closed]).toEqual([['a'], false]);
    shows[1]?.resolve(undefined);
    await Promise.all([second, closing]);
    expect(shown).toEqual(['a', 'b']);
  });

  it('drops what waits when the call is aborted', async () => {
    const controller = new AbortController();
    const shown: string[] = [];
    const channel = new ProgressChannel(
      controller.signal,
      ({ message }) => {
        shown.push(message);
        controller.abort();
        return Promise.resolve();
      },
      quietLogger,
    );
    await Promise.all([channel.report({ message: 'a' }), channel.report({ message: 'b' })]);
    await channel.report({ message: 'c' });
    expect(shown).toEqual(['a']);
  });

  it('keeps data as JSON, and drops what is too large', async () => {
    const shown: unknown[] = [];
    const warnings: string[] = [];
    const channel = new ProgressChannel(
      new AbortController().signal,
      (update) => Promise.resolve(void shown.push(update)),
      { warn: (message) => warnings.push(message) },
    );
    await channel.report({ message: 'a', data: { n: 1n } as never });
    await channel.report({ message: 'b', data: 'x'.repeat(100_000) });
    expect(shown).toEqual([{ message: 'a', data: { n: '1' } }]);
    expect(warnings).toEqual(['tool progress was dropped']);
  });
});
