import { AppError } from '@parley/service-kit';
import { checkpoint, stopIfAborted } from './checkpoint.js';

describe('stopIfAborted', () => {
  it('lets work go on while nobody has aborted it', () => {
    expect(() => {
      stopIfAborted(new AbortController().signal);
    }).not.toThrow();
  });

  it.each([
    ['a plain abort', AbortSignal.abort(), 'cancelled'],
    ['an abort for some reason', AbortSignal.abort('enough'), 'cancelled'],
    ['a deadline', AbortSignal.abort(new DOMException('late', 'TimeoutError')), 'deadline_exceeded'],
    ['an error of ours', AbortSignal.abort(new AppError('unavailable', 'Closing.')), 'unavailable'],
  ])('tells %s by its reason', (_name, signal, reason) => {
    let thrown: unknown;
    try {
      stopIfAborted(signal);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect(thrown).toMatchObject({ reason });
  });
});

describe('checkpoint', () => {
  it('lets an abort through that arrives while work is waiting', async () => {
    const controller = new AbortController();
    const waiting = checkpoint(controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' });
  });
});
