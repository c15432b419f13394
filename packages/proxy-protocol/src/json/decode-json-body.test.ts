import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { decodeJsonBody } from './decode-json-body.js';
import { JsonError } from './json-error.js';

const text = '{"name":"Zoë 你 😀"}';
const utf16be = (value: string): Buffer => Buffer.from(value, 'utf16le').swap16();

describe('decodeJsonBody', () => {
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16, little end first', Buffer.from(text, 'utf16le')],
    ['UTF-16, little end first, with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big end first', utf16be(text)],
    ['UTF-16, big end first, with a mark', utf16be(`\ufeff${text}`)],
  ])('reads %s', (_encoding, bytes) => {
    expect(decodeJsonBody(bytes)).toBe(text);
  });

  it('leaves the bytes as they were', () => {
    const bytes = utf16be(text);
    const before = Buffer.from(bytes);
    decodeJsonBody(bytes);
    expect(bytes.equals(before)).toBe(true);
  });

  it('reads a view into a larger buffer', () => {
    const whole = Buffer.from(`xx${text}yy`);
    expect(decodeJsonBody(new Uint8Array(whole.buffer, whole.byteOffset + 2, whole.length - 4))).toBe(text);
  });

  it('gives nothing for nothing', () => {
    expect(decodeJsonBody(new Uint8Array())).toBe('');
  });

  it.each([
    ['a byte that is never UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a character cut off', Buffer.from(text).subarray(0, 12)],
    ['half a UTF-16 unit', Buffer.from(text, 'utf16le').subarray(0, 9)],
  ])('refuses %s', (_what, bytes) => {
    expect(() => decodeJsonBody(bytes)).toThrow(JsonError);
  });

  it('reads every well-formed text in each encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        fc.pre(content.isWellFormed());
        const json = JSON.stringify(content);
        expect(decodeJsonBody(Buffer.from(json))).toBe(json);
        expect(decodeJsonBody(Buffer.from(json, 'utf16le'))).toBe(json);
        expect(decodeJsonBody(utf16be(json))).toBe(json);
      }),
    );
  });
});
