import { Stopping } from './stopping.js';

function state({ drained, left, exitCode }: Stopping): unknown[] {
  return [drained.aborted, left.aborted, exitCode];
}

describe('the end by signals', () => {
  it('is after the turns in play by one Ctrl-C, at once by the second', () => {
    const stopping = new Stopping();
    expect(state(stopping)).toEqual([false, false, 0]);
    expect(stopping.stop(130)).toBe(true);
    expect(state(stopping)).toEqual([true, false, 130]);
    expect(stopping.stop(130)).toBe(false);
    expect(state(stopping)).toEqual([true, true, 130]);
  });

  it('is at once by any other', () => {
    const stopping = new Stopping();
    expect(stopping.stop(143)).toBe(false);
    expect(state(stopping)).toEqual([true, true, 143]);
  });
});
