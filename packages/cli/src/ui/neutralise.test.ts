import fc from 'fast-check';
import { neutralise, neutraliseLine, safeJson } from './neutralise.js';

describe('neutralise', () => {
  it.each([
    ['clears nothing', '\u001b[2J', '␛[2J'],
    ['sets no window title', '\u001b]0;owned\u0007', '␛]0;owned␇'],
    ['writes no clipboard', '\u001b]52;c;aGk=\u001b\\', '␛]52;c;aGk=␛\\'],
    ['knows the one-byte form of sequences', '\u009b2J', '<9b>2J'],
    ['drops colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['does not go back in the line', 'safe\rrm', 'safe\nrm'],
    ['does not go back one character', 'a\bb', 'a␈b'],
    ['turns no direction of writing', 'a\u202eb\u2066c', 'a<202e>b<2066>c'],
    ['shows DEL', '\u007f', '␡'],
    ['takes line ends of every kind', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
    ['keeps tabs', 'a\tb', 'a\tb'],
    ['replaces half a surrogate pair', 'a\ud83d', 'a\ufffd'],
    ['leaves emoji and letters of all scripts alone', '👩‍👩‍👧 日本 é', '👩‍👩‍👧 日本 é'],
  ])('%s', (_, text, expected) => {
    expect(neutralise(text)).toBe(expected);
  });

  it('leaves nothing that a terminal could obey, whatever comes in', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 60 });
    const pieces = fc.array(fc.oneof(hostile, fc.constantFrom('\u001b[', '\u001b[3', '1m', '\u001b', '\u009b', '\r')));
    fc.assert(
      fc.property(pieces, (parts) => {
        expect(neutralise(parts.join(''))).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u);
      }),
    );
  });

  it('makes one line of several', () => {
    expect(neutraliseLine('  a\n\n  b\tc \u001b[K ')).toBe('a b c ␛[K');
  });
});

describe('safeJson', () => {
  it('escapes what JSON leaves and a terminal may obey, and still is the same JSON', () => {
    const value = { text: '\u009b2J \u202e \u2028 \u007f é 👍' };
    const json = safeJson(value);
    expect(json).not.toMatch(/[\u007f-\u009f\u202e\u2028]/u);
    expect(JSON.parse(json)).toEqual(value);
  });
});
