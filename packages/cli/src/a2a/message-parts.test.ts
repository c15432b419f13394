import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mediaTypeOf, messageParts } from './message-parts.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-parts-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('messageParts', () => {
  it('holds the text, the files and the data', async () => {
    const path = join(folder, 'notes.md');
    await writeFile(path, '# hi');
    expect(await messageParts('read it', { files: [path], data: [{ n: 1 }, null] })).toEqual([
      { kind: 'text', text: 'read it' },
      { kind: 'bytes', bytes: Buffer.from('# hi'), name: 'notes.md', mediaType: 'text/markdown' },
      { kind: 'data', data: { n: 1 } },
      { kind: 'data', data: null },
    ]);
  });

  it('needs no text', async () => {
    expect(await messageParts('', { files: [], data: [1] })).toEqual([{ kind: 'data', data: 1 }]);
  });

  it.each([
    ['nothing', /cannot read .*: there is no such file/u],
    ['.', /is a folder/u],
  ])('refuses %s', async (name, message) => {
    await expect(messageParts('', { files: [join(folder, name)], data: [] })).rejects.toThrow(message);
  });

  it('reads no file without an end', async () => {
    await expect(messageParts('', { files: ['/dev/zero'], data: [] })).rejects.toThrow('larger than 64 MiB together');
  });

  it('counts files together', async () => {
    const path = join(folder, 'large');
    execFileSync('truncate', ['-s', '40M', path]);
    await expect(messageParts('', { files: [path, path], data: [] })).rejects.toThrow('larger than 64 MiB together');
  });
});

describe('mediaTypeOf', () => {
  it.each([
    ['a.PDF', Buffer.from('x'), 'application/pdf'],
    ['Makefile', Buffer.from('all: ä'), 'text/plain'],
    ['a.bin', Buffer.from([0x41, 0]), 'application/octet-stream'],
    ['a.bin', Buffer.from([0xff, 0xfe]), 'application/octet-stream'],
  ])('%s', (path, bytes, type) => {
    expect(mediaTypeOf(path, bytes)).toBe(type);
  });
});
