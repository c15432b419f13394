import { jest } from '@jest/globals';
import { FakeTty } from '../../test-support/fake-io.js';
import type { Key } from './keys.js';
import { Terminal } from './terminal.js';

function makeTerminal() {
  const tty = new FakeTty();
  const keys: Key[] = [];
  const heard: string[] = [];
  const terminal = new Terminal(tty, tty, {
    onKeys: (more) => {
      keys.push(...more);
      tty.emit('keys');
    },
    onResize: () => heard.push('resize'),
    onLost: () => heard.push('lost'),
  });
  return { tty, keys, heard, terminal };
}

describe('Terminal', () => {
  it('takes the terminal over and gives it back as it was', () => {
    const { tty, terminal } = makeTerminal();
    terminal.enter();
    expect(tty).toMatchObject({ isRaw: true, isReading: true, screen: { isPasteMode: true } });
    terminal.restore();
    expect(tty).toMatchObject({ isRaw: false, isReading: false, screen: { isPasteMode: false, isCursorShown: true } });
    const written = tty.written;
    terminal.restore();
    expect(tty.written).toBe(written);
  });

  it('leaves no listener behind but the ones for errors, however often it is entered', () => {
    const { tty, terminal } = makeTerminal();
    for (let round = 0; round < 5; round += 1) {
      terminal.enter();
      terminal.restore();
    }
    expect(tty.eventNames()).toEqual(['error']);
    expect(tty.listenerCount('error')).toBe(2);
  });

  it('puts characters together that come in pieces', () => {
    const { tty, keys, terminal } = makeTerminal();
    terminal.enter();
    const bytes = Buffer.from('👍');
    tty.emit('data', bytes.subarray(0, 2));
    tty.emit('data', bytes.subarray(2));
    terminal.restore();
    expect(keys).toEqual([{ type: 'text', text: '👍' }]);
  });

  it('takes the line ends of what was typed ahead for Enter, and later ones not', () => {
    jest.useFakeTimers();
    try {
      const { tty, keys, terminal } = makeTerminal();
      terminal.enter();
      tty.type('task\n');
      jest.advanceTimersByTime(50);
      tty.type('\n');
      terminal.restore();
      expect(keys).toEqual([
        { type: 'text', text: 'task' },
        { type: 'key', name: 'enter' },
        { type: 'key', name: 'newline' },
      ]);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('takes a lone ESC for a key when nothing follows', async () => {
    const { tty, keys, terminal } = makeTerminal();
    terminal.enter();
    const came = new Promise((resolve) => tty.once('keys', resolve));
    tty.type('\u001b');
    await came;
    expect(keys).toEqual([{ type: 'key', name: 'escape' }]);
    terminal.restore();
  });

  it.each(['end', 'close'])(
    'says once that the terminal has gone on %s of the input, and still gives it back',
    (name) => {
      const { tty, heard, terminal } = makeTerminal();
      terminal.enter();
      tty.emit(name);
      tty.emit(name);
      expect(heard).toEqual(['lost']);
      terminal.restore();
      expect(tty.screen.isPasteMode).toBe(false);
    },
  );

  it('writes no more when nobody reads', () => {
    const { tty, heard, terminal } = makeTerminal();
    terminal.enter();
    tty.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(heard).toEqual(['lost']);
    const { written } = tty;
    terminal.write('late');
    terminal.restore();
    expect(tty.written).toBe(written);
    expect(tty.isRaw).toBe(false);
  });

  it('survives an error after it was given back', () => {
    const { tty, terminal } = makeTerminal();
    terminal.enter();
    terminal.restore();
    expect(() => tty.emit('error', new Error('EIO'))).not.toThrow();
  });

  it('takes a terminal without a size for one of 80 by 24', () => {
    const tty = new FakeTty(0, 0);
    const terminal = new Terminal(tty, tty, { onKeys: () => {}, onResize: () => {}, onLost: () => {} });
    expect([terminal.columns, terminal.rows]).toEqual([80, 24]);
  });
});
