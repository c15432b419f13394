import fc from 'fast-check';
import { OutputCapture } from './output-capture.js';

describe('captured output', () => {
  it('is the beginning and the end of what was written, in whatever pieces', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'z'), maxLength: 40 }), { maxLength: 12 }),
        (maxBytes, pieces) => {
          const capture = new OutputCapture(maxBytes);
          for (const piece of pieces) capture.add(Buffer.from(piece));
          const whole = pieces.join('');
          const { text, omittedBytes } = capture.result();
          if (whole.length <= maxBytes) {
            expect({ text, omittedBytes }).toStrictEqual({ text: whole, omittedBytes: 0 });
            return;
          }
          const head = Math.ceil(maxBytes / 2);
          const omitted = whole.length - maxBytes;
          const end = whole.slice(whole.length - (maxBytes - head));
          const expected = `${whole.slice(0, head)}\n… ${omitted} bytes left out …\n${maxBytes === head ? '' : end}`;
          expect({ text, omittedBytes }).toStrictEqual({ text: expected, omittedBytes: omitted });
        },
      ),
    );
  });

  it('cuts no character in two, whatever the size', () => {
    for (let maxBytes = 8; maxBytes < 40; maxBytes += 1) {
      const capture = new OutputCapture(maxBytes);
      for (const byte of Buffer.from('a€😀é'.repeat(20))) capture.add(Buffer.from([byte]));
      const { text, omittedBytes } = capture.result();
      expect(text).not.toContain('\uFFFD');
      const shown = Buffer.byteLength(text) - Buffer.byteLength(`\n… ${omittedBytes} bytes left out …\n`);
      expect(shown + omittedBytes).toBe(20 * 10);
    }
  });
});
