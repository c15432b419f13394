import fc from 'fast-check';
import { ByteTail } from './byte-tail.js';

describe('the tail of a stream', () => {
  it('is its end in whole characters, however it comes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.array(fc.nat(20), { maxLength: 30 }),
        fc.integer({ min: 4, max: 40 }),
        (text, sizes, maxBytes) => {
          const bytes = Buffer.from(text.toWellFormed());
          const tail = new ByteTail(maxBytes);
          let from = 0;
          for (const size of [...sizes, bytes.length]) {
            tail.add(bytes.subarray(from, from + size));
            from = Math.min(bytes.length, from + size);
          }
          const { text: kept, isCut } = tail.content();
          expect(isCut).toBe(bytes.length > maxBytes);
          expect(text.toWellFormed().endsWith(kept)).toBe(true);
          expect(Buffer.byteLength(kept)).toBeGreaterThan(Math.min(bytes.length, maxBytes) - 4);
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
        },
      ),
    );
  });

  it('keeps no more than it must of what came', () => {
    const tail = new ByteTail(10);
    for (let i = 0; i < 1_000; i += 1) tail.add(Buffer.from('abc'));
    expect(tail.content()).toStrictEqual({ text: 'cabcabcabc', isCut: true });
  });
});
