import { JsonLineReader } from './json-line-reader.js';

function reader(maxLineBytes = 100) {
  const seen: unknown[] = [];
  const lines = new JsonLineReader(maxLineBytes, {
    onValue: (value) => seen.push(value),
    onGarbage: (line) => seen.push(`garbage ${line}`),
    onOverflow: () => seen.push('overflow'),
  });
  return { seen, push: (text: string | Buffer) => lines.push(Buffer.from(text)) };
}

describe('lines of JSON', () => {
  it('are read whatever chunks they come in, characters cut in two too', () => {
    const text = '{"a":"ä€😀"}\n\r\n[1]\r\n"x"\n';
    for (const size of [1, 2, 3, 5, 100]) {
      const { seen, push } = reader();
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) push(bytes.subarray(at, at + size));
      expect(seen).toEqual([{ a: 'ä€😀' }, [1], 'x']);
    }
  });

  it('that are something else are told apart, and what follows is read', () => {
    const { seen, push } = reader();
    push('starting\n{"half":\n{"a":1}\n');
    expect(seen).toEqual(['garbage starting', 'garbage {"half":', { a: 1 }]);
  });

  it.each([
    ['with an end', `${'x'.repeat(11)}\n1\n`],
    ['without an end', 'x'.repeat(11)],
  ])('that are too long stop it, once: %s', (_how, text) => {
    const { seen, push } = reader(10);
    push(text);
    push(text);
    push('1\n');
    expect(seen).toEqual(['overflow']);
  });

  it('of many megabytes cost no more than their length', () => {
    const { seen, push } = reader(100_000_000);
    const begin = performance.now();
    push('"');
    const chunk = Buffer.alloc(4_096, 'x');
    for (let i = 0; i < 5_000; i += 1) push(chunk);
    push('"\n');
    expect(String(seen[0])).toHaveLength(20_480_000);
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});
