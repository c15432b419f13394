import fc from 'fast-check';
import { type Key, KeyDecoder } from './keys.js';

function decode(...chunks: string[]): Key[] {
  const decoder = new KeyDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()];
}

const key = (name: string): Key => ({ type: 'key', name }) as Key;
const text = (content: string): Key => ({ type: 'text', text: content });

describe('KeyDecoder', () => {
  it('tells text from keys', () => {
    expect(decode('héllo 👍\r')).toEqual([text('héllo 👍'), key('enter')]);
  });

  it.each([
    ['\u001b[A', 'up'],
    ['\u001bOA', 'up'],
    ['\u001b[1;5D', 'word-left'],
    ['\u001bb', 'word-left'],
    ['\u001b[3~', 'delete'],
    ['\u001b\r', 'newline'],
    ['\n', 'newline'],
    ['\u0003', 'interrupt'],
    ['\u0004', 'end-of-input'],
    ['\u001b', 'escape'],
    ['\u007f', 'backspace'],
    ['\u001a', 'suspend'],
  ])('%j is %s', (sequence, name) => {
    expect(decode(sequence)).toEqual([key(name)]);
  });

  it('takes keys that it does not know for nothing, not for text', () => {
    expect(decode('\u001b[15~a\u001b[200;1Hb\u001bOPc\u0000')).toEqual([text('a'), text('b'), text('c')]);
  });

  it('waits for the rest of a sequence, and then no longer', () => {
    const decoder = new KeyDecoder();
    expect(decoder.push('\u001b[1')).toEqual([]);
    expect(decoder.waitsFor).toBe('sequence');
    expect(decoder.push(';5C')).toEqual([key('word-right')]);
    expect(decoder.waitsFor).toBeUndefined();
    expect(decoder.push('\u001b')).toEqual([]);
    expect(decoder.flush()).toEqual([key('escape')]);
  });

  it('gives a paste as one, with its line ends, keys in it are text', () => {
    expect(decode('\u001b[200~a\rb\u0003\u001b[A\u001b[201~x')).toEqual([
      { type: 'paste', text: 'a\rb\u0003\u001b[A' },
      text('x'),
    ]);
  });

  it('gives up waiting for the end of a paste', () => {
    const decoder = new KeyDecoder();
    decoder.push('\u001b[200~half');
    expect(decoder.waitsFor).toBe('paste');
    expect(decoder.flush()).toEqual([{ type: 'paste', text: 'half' }]);
    expect(decoder.push('\u0003')).toEqual([key('interrupt')]);
  });

  it('bounds a paste', () => {
    const [paste] = decode(`\u001b[200~${'x'.repeat(300_000)}`, `${'y'.repeat(300_000)}\u001b[201~`);
    expect(paste?.type === 'paste' && paste.text.length).toBe(200_000);
  });

  it('gives the same keys however the input is cut', () => {
    const whole = 'ab\u001b[1;5C\u001b[200~x\r\ny\u001b[201~\u001bOHz\u0003';
    const expected = joined(decode(whole));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length })), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const chunks = at.slice(1).map((end, index) => whole.slice(at[index], end));
        expect(joined(decode(...chunks))).toEqual(expected);
      }),
    );
  });
});

/** Texts that follow each other are one. */
function joined(keys: readonly Key[]): Key[] {
  const all: Key[] = [];
  for (const one of keys) {
    const last = all.at(-1);
    if (last?.type === 'text' && one.type === 'text') all[all.length - 1] = text(last.text + one.text);
    else all.push(one);
  }
  return all;
}
