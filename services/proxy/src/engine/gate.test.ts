import { Gate } from './gate.js';

/** Enters when it may, and says so. */
function visitor(gate: Gate, entered: string[]): (name: string, alone: boolean) => Promise<void> {
  return async (name, alone) => {
    const admitted = alone ? gate.hold() : gate.share();
    if (admitted !== undefined) await admitted;
    entered.push(name);
  };
}

describe('Gate', () => {
  it('keeps nobody waiting where nobody is', () => {
    const gate = new Gate();
    expect([gate.share(), gate.share()]).toEqual([undefined, undefined]);
    gate.unshare();
    gate.unshare();
    expect(gate.hold()).toBeUndefined();
    gate.release();
    expect(gate.hold()).toBeUndefined();
  });

  it('lets in those who go together beside each other, and one alone by itself', async () => {
    const gate = new Gate();
    const entered: string[] = [];
    const enter = visitor(gate, entered);
    const all = [enter('a', false), enter('b', false), enter('alone', true), enter('c', false), enter('d', false)];
    await new Promise(setImmediate);
    expect(entered).toEqual(['a', 'b']);
    gate.unshare();
    await new Promise(setImmediate);
    expect(entered).toEqual(['a', 'b']);
    gate.unshare();
    await new Promise(setImmediate);
    expect(entered).toEqual(['a', 'b', 'alone']);
    gate.release();
    await Promise.all(all);
    expect(entered).toEqual(['a', 'b', 'alone', 'c', 'd']);
  });

  it('lets nobody pass one who waits, so that all come in order of arrival', async () => {
    const gate = new Gate();
    const entered: string[] = [];
    const enter = visitor(gate, entered);
    const all = [enter('a', true), enter('b', true), enter('c', false), enter('d', true)];
    for (const leave of [() => gate.release(), () => gate.release(), () => gate.unshare(), () => gate.release()]) {
      await new Promise(setImmediate);
      leave();
    }
    await Promise.all(all);
    expect(entered).toEqual(['a', 'b', 'c', 'd']);
    expect(gate.hold()).toBeUndefined();
  });
});
