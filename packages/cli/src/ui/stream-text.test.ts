import fc from 'fast-check';
import { neutralise } from './neutralise.js';
import { StreamText } from './stream-text.js';
import { wrapLine } from './text-width.js';

describe('StreamText', () => {
  it('gives full rows and keeps the last one', () => {
    const stream = new StreamText();
    expect(stream.push('the quick brown', 10)).toEqual(['the quick']);
    expect(stream.tail).toBe('brown');
    expect(stream.push(' fox\nnext', 10)).toEqual(['brown fox']);
    expect(stream.end(10)).toEqual(['next']);
    expect(stream.tail).toBe('');
  });

  it('joins characters, line ends and colours that were cut in two', () => {
    const stream = new StreamText();
    const rows = ['a\ud83d', '\udc4db\r', '\nc\u001b[3', '1md', '\u001b'].flatMap((delta) => stream.push(delta, 20));
    expect([...rows, ...stream.end(20)]).toEqual(['a👍b', 'cd␛']);
  });

  it('gives the same rows however the text is cut', () => {
    const unit = fc.constantFrom('a', 'bc', ' ', '\n', '日', '👍', '\r\n', '\u001b[31m', '\t', 'longword');
    fc.assert(
      fc.property(fc.array(unit), fc.array(fc.nat({ max: 60 })), (parts, cuts) => {
        const whole = parts.join('');
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const stream = new StreamText();
        const rows = at.slice(1).flatMap((end, index) => stream.push(whole.slice(at[index], end), 12));
        const all = [...rows, ...stream.end(12)];
        const expected = neutralise(whole)
          .replaceAll('\t', '    ')
          .split('\n')
          .flatMap((line) => wrapLine(line, 12))
          .map((row) => row.trimEnd());
        expect(all.join('\n').trimEnd()).toEqual(expected.join('\n').trimEnd());
      }),
    );
  });
});
