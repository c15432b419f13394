import { readParts } from './read-parts.js';

const bytes = (content: string | Uint8Array, name?: string, mediaType?: string) => ({
  kind: 'bytes' as const,
  bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content,
  ...(name === undefined ? {} : { name }),
  ...(mediaType === undefined ? {} : { mediaType }),
});

describe('the parts of a message', () => {
  it('are texts, files and data, each by a name', () => {
    const { texts, files, unreadable } = readParts([
      { kind: 'text', text: 'words' },
      bytes('let a;', 'a.ts', 'application/typescript'),
      bytes('x'),
      { kind: 'data', data: { some: 'data' } },
      bytes('let b;', 'a.ts'),
    ]);
    expect(texts).toEqual(['words']);
    expect(files.map(({ name, fileName, text }) => [name, fileName, text])).toEqual([
      ['a.ts', 'a.ts', 'let a;'],
      ['part_3', undefined, 'x'],
      ['part_4', undefined, '{\n  "some": "data"\n}'],
      ['a.ts (2)', 'a.ts', 'let b;'],
    ]);
    expect(unreadable).toEqual([]);
  });

  it.each([
    ['bytes that are no UTF-8', bytes(Uint8Array.of(0xff, 0xd8), 'a.jpg', 'image/jpeg'), 'a.jpg is not text.'],
    ['bytes with zeros', bytes('a\0b', 'a.bin', 'application/octet-stream'), 'a.bin is not text.'],
    ['addresses', { kind: 'url' as const, url: 'http://x/' }, 'part_1 is an address'],
  ])('that cannot be read are told: %s', (_what, part, told) => {
    const { files, unreadable } = readParts([part]);
    expect(files).toEqual([]);
    expect(unreadable).toEqual([expect.stringContaining(told)]);
  });

  it.each([
    [{ input: { text: 'a' } }, { input: { text: 'a' }, parameters: {} }],
    [
      { capability: 'translate', input: 'a', parameters: { b: 1 } },
      { capability: 'translate', input: 'a', parameters: { b: 1 } },
    ],
    [{ input: 1, other: 2 }, undefined],
    [{ capability: 7, input: 1 }, undefined],
    [{ input: 1, parameters: [] }, undefined],
    [[1], undefined],
    ['input', undefined],
  ])('%j describes %j', (given, order) => {
    expect(readParts([{ kind: 'data', data: given }]).order).toEqual(order);
  });
});
