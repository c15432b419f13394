import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultOf } from '../tool-call.test-helper.js';
import { FileSandbox } from './file-sandbox.test-helper.js';
import type { FileToolsOptions } from './file-tools.js';

const box = new FileSandbox();
const { put, text, tools, use } = box;
const read = (args: Record<string, unknown>, options?: Partial<FileToolsOptions>) => use('read_file', args, options);
const edit = (args: Record<string, unknown>, options?: Partial<FileToolsOptions>) =>
  use('edit_file', { path: 'a.txt', ...args }, options);

describe('reading', () => {
  it('gives lines, how many there are, and whether that was all', async () => {
    put('a.txt', 'one\ntwo\nthree\n');
    expect(await read({ path: './a.txt' })).toStrictEqual({
      status: 'ok',
      path: 'a.txt',
      text: 'one\ntwo\nthree\n',
      start_line: 1,
      end_line: 3,
      total_lines: 3,
      truncated: false,
    });
    expect(await read({ path: 'a.txt', offset: 2, limit: 1 })).toMatchObject({
      text: 'two\n',
      start_line: 2,
      end_line: 2,
      total_lines: 3,
      truncated: true,
    });
    expect(await read({ path: 'a.txt', offset: 3, limit: null })).toMatchObject({ text: 'three\n', truncated: false });
    expect(await read({ path: 'a.txt', offset: 4 })).toMatchObject({ error: 'the file has 3 lines' });
  });

  it.each([
    ['', 0],
    ['x', 1],
    ['x\n', 1],
    ['\n', 1],
    ['\n\nx', 3],
    [`${'y'.repeat(70_000)}\nz`, 2],
    ['a\r\nb\r\n', 2],
  ])('counts the lines of case %#', async (content, lines) => {
    put('a.txt', content);
    expect(await read({ path: 'a.txt' })).toMatchObject({ text: content, total_lines: lines, truncated: false });
  });

  it('gives as much as is allowed, whole characters only, and goes on from there', async () => {
    put('a.txt', 'ab\n€€€\nz\n');
    const first = await read({ path: 'a.txt' }, { maxReadBytes: 7 });
    expect(first).toMatchObject({ text: 'ab\n€', start_line: 1, end_line: 2, total_lines: 3, truncated: true });
    const exact = await read({ path: 'a.txt' }, { maxReadBytes: 13 });
    expect(exact).toMatchObject({ text: 'ab\n€€€\n', end_line: 2, truncated: true });
    expect(await read({ path: 'a.txt', offset: 3 }, { maxReadBytes: 13 })).toMatchObject({
      text: 'z\n',
      truncated: false,
    });
  });

  it('reads a part of a very long file', async () => {
    put('a.txt', Array.from({ length: 300_000 }, (_, i) => `line ${i + 1}\n`).join(''));
    expect(await read({ path: 'a.txt', offset: 299_999, limit: 10 })).toMatchObject({
      text: 'line 299999\nline 300000\n',
      total_lines: 300_000,
      truncated: false,
    });
  });

  it('tells binary files and bytes that are no UTF-8', async () => {
    put('a.bin', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]));
    expect(await read({ path: 'a.bin' })).toMatchObject({ status: 'error', error: 'the file is binary, not text' });
    put('latin1.txt', Buffer.from('caf\xe9\n', 'latin1'));
    expect(await read({ path: 'latin1.txt' })).toMatchObject({
      text: 'caf\uFFFD\n',
      note: 'the file is not valid UTF-8; other bytes are shown as U+FFFD',
    });
    put('bom.txt', '\uFEFFhello');
    expect(await read({ path: 'bom.txt' })).toMatchObject({ text: 'hello' });
  });

  it('takes absolute paths into the folder', async () => {
    expect(await read({ path: put('a.txt', 'x') })).toMatchObject({ path: 'a.txt', text: 'x' });
  });
});

describe('writing', () => {
  it('makes a file and the folders on its way', async () => {
    expect(await use('write_file', { path: 'a/b/c.txt', content: 'ä' })).toStrictEqual({
      status: 'ok',
      path: 'a/b/c.txt',
      bytes: 2,
      created: true,
    });
    expect(text('a/b/c.txt')).toBe('ä');
  });

  it('replaces a file, keeps its mode and leaves nothing else behind', async () => {
    chmodSync(put('run.sh', 'old'), 0o750);
    expect(await use('write_file', { path: 'run.sh', content: 'new' })).toMatchObject({ created: false });
    expect(text('run.sh')).toBe('new');
    expect(statSync(join(box.root, 'run.sh')).mode & 0o777).toBe(0o750);
    expect(readdirSync(box.root)).toStrictEqual(['run.sh']);
  });

  it('puts a new file in the place of the old one, so that nobody sees half of it', async () => {
    const file = put('a.txt', 'old');
    linkSync(file, join(box.base, 'kept'));
    await use('write_file', { path: 'a.txt', content: 'new' });
    expect(readFileSync(join(box.base, 'kept'), 'utf8')).toBe('old');
  });

  it('refuses what is too large, a folder, and what is write-protected', async () => {
    expect(await use('write_file', { path: 'a', content: 'xxxx' }, { maxWriteBytes: 3 })).toMatchObject({
      error: 'the file has more than 3 bytes',
    });
    mkdirSync(join(box.root, 'folder'));
    expect(await use('write_file', { path: 'folder', content: '' })).toMatchObject({ error: "'folder' is a folder" });
    put('file');
    expect(await use('write_file', { path: 'file/x', content: '' })).toMatchObject({ status: 'error' });
    chmodSync(put('fixed', 'old'), 0o444);
    expect(await use('write_file', { path: 'fixed', content: 'new' })).toMatchObject({
      error: 'the file is write-protected',
    });
    expect(text('fixed')).toBe('old');
    expect(readdirSync(box.root).sort()).toStrictEqual(['file', 'fixed', 'folder']);
  });

  it('leaves nothing behind when it fails', async () => {
    put('a.txt', 'old');
    const handler = tools({ newId: () => 'x'.repeat(300) });
    expect(await resultOf(handler, 'write_file', { path: 'a.txt', content: 'new' })).toMatchObject({
      error: "'a.txt': the name is too long",
    });
    expect(text('a.txt')).toBe('old');
    expect(readdirSync(box.root)).toStrictEqual(['a.txt']);
  });
});

describe('editing', () => {
  it('replaces what occurs once', async () => {
    put('a.txt', 'one two three');
    expect(await edit({ old_text: 'two', new_text: '$& $1 $$' })).toStrictEqual({
      status: 'ok',
      path: 'a.txt',
      replacements: 1,
    });
    expect(text('a.txt')).toBe('one $& $1 $$ three');
  });

  it('says how often a text occurs when that is not once', async () => {
    put('a.txt', 'x = 1; x = 1; x = 1');
    expect(await edit({ old_text: 'y', new_text: 'z' })).toMatchObject({
      error: "'old_text' does not occur in the file",
    });
    expect(await edit({ old_text: 'x = 1', new_text: 'z' })).toMatchObject({
      error: "'old_text' occurs 3 times; give more of its surroundings or set 'replace_all'",
    });
    expect(text('a.txt')).toBe('x = 1; x = 1; x = 1');
    expect(await edit({ old_text: 'x = 1', new_text: 'z', replace_all: true })).toMatchObject({ replacements: 3 });
    expect(text('a.txt')).toBe('z; z; z');
  });

  it('does not take a text that overlaps itself for one that occurs once', async () => {
    put('a.txt', 'aaa');
    const result = await edit({ old_text: 'aa', new_text: 'b' });
    expect(result['error']).toContain('more than once');
  });

  it('keeps line ends', async () => {
    put('a.txt', 'one\r\ntwo\r\nthree\r\n');
    expect(await edit({ old_text: 'one\ntwo', new_text: 'uno\ndos\ntres' })).toMatchObject({ replacements: 1 });
    expect(text('a.txt')).toBe('uno\r\ndos\r\ntres\r\nthree\r\n');
    expect(await edit({ old_text: 'three', new_text: 'a\r\nb\nc' })).toMatchObject({ replacements: 1 });
    expect(text('a.txt')).toBe('uno\r\ndos\r\ntres\r\na\r\nb\r\nc\r\n');
    put('a.txt', 'one\ntwo\n');
    await edit({ old_text: 'two', new_text: 'two\nthree' });
    expect(text('a.txt')).toBe('one\ntwo\nthree\n');
  });

  it('keeps a byte order mark, the mode and everything else', async () => {
    chmodSync(put('a.txt', '\uFEFFone\n\n\ttwo'), 0o600);
    await edit({ old_text: 'one', new_text: 'uno' });
    expect(readFileSync(join(box.root, 'a.txt'))).toStrictEqual(Buffer.from('\uFEFFuno\n\n\ttwo'));
    expect(statSync(join(box.root, 'a.txt')).mode & 0o777).toBe(0o600);
  });

  it('does not touch what it could not write back', async () => {
    put('a.txt', Buffer.from('caf\xe9', 'latin1'));
    expect(await edit({ old_text: 'caf', new_text: 'tea' })).toMatchObject({
      error: 'the file is not valid UTF-8 text',
    });
    put('a.txt', 'a\0b');
    expect(await edit({ old_text: 'a', new_text: 'b' })).toMatchObject({ status: 'error' });
  });

  it('refuses empty texts, equal texts and what would grow too large', async () => {
    put('a.txt', 'a'.repeat(100));
    expect(await edit({ old_text: '', new_text: 'b' })).toMatchObject({ error: "'old_text' must not be empty" });
    expect(await edit({ old_text: 'a', new_text: 'a' })).toMatchObject({
      error: "'old_text' and 'new_text' are the same",
    });
    const growing = { old_text: 'a', new_text: 'b'.repeat(1_000_000), replace_all: true };
    expect(await edit(growing, { maxWriteBytes: 1_000 })).toMatchObject({ error: 'the file would become too large' });
    expect(await edit({ old_text: 'a', new_text: 'b' }, { maxWriteBytes: 50 })).toMatchObject({
      error: 'the file has more than 50 bytes',
    });
  });

  it('does not overwrite what somebody else wrote meanwhile', async () => {
    const file = put('a.txt', 'one');
    // The name of the new file is asked for after reading and before writing.
    const newId = () => {
      writeFileSync(file, 'one and more');
      return 'id';
    };
    expect(await edit({ old_text: 'one', new_text: 'uno' }, { newId })).toMatchObject({
      error: 'the file was changed by somebody else meanwhile; read it again',
    });
    expect(text('a.txt')).toBe('one and more');
    expect(readdirSync(box.root)).toStrictEqual(['a.txt']);
  });
});
