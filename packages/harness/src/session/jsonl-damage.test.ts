import { closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { tryLock } from 'fs-native-extensions';
import { JournalFile } from './journal-file.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { SessionSerializationError } from './session-errors.js';
import { TemporaryFolder, Warnings, wholeRun } from './sessions.test-helper.js';

describe('a damaged session file', () => {
  let folder: TemporaryFolder;
  let warnings: Warnings;
  let storage: JsonlSessionStorage;
  let lines: readonly string[];

  beforeEach(async () => {
    folder = new TemporaryFolder();
    const writer = new JsonlSessionStorage(folder.path);
    await writer.append('s1', 'core', wholeRun('r1'));
    await writer.close();
    lines = folder.lines('s1').slice(0, 5);
    warnings = new Warnings();
    storage = new JsonlSessionStorage(folder.path, { logger: warnings, lockWaitMs: 2_000 });
  });

  afterEach(async () => {
    await storage.close();
    folder.remove();
  });

  const five = () => lines.join('');
  const edited = (line: number, change: Readonly<Record<string, unknown>>) =>
    `${JSON.stringify({ ...(JSON.parse(lines[line] ?? '') as object), ...change })}\n`;
  const withLast = (...last: readonly string[]) => [...lines.slice(0, 4), ...last].join('');
  const withNext = (next: string) => five() + next;
  const aside = () => readdirSync(folder.path).filter((name) => name.includes('.aside-'));
  const restart = async () => {
    await storage.close();
    storage = new JsonlSessionStorage(folder.path, { logger: warnings });
  };

  /** What is read of it, and how many records there are after the next append, by whoever reads it then. */
  const harmless: readonly (readonly [string, () => string | Buffer, number, readonly string[]])[] = [
    ['intact', five, 5, []],
    [
      'with its tail cut inside of a record',
      () => five().slice(0, -20),
      4,
      ['the last record of a session was torn: cut off'],
    ],
    ['with only the last newline missing', () => five().slice(0, -1), 5, []],
    ['with garbage at the end', () => withNext('garb'), 5, ['the last record of a session was torn: cut off']],
    ['with NULs at the end', () => withNext('\0'.repeat(4096)), 5, ['the last record of a session was torn: cut off']],
    ['with a number at the end', () => withNext('12'), 5, ['the last record of a session was torn: cut off']],
    [
      'with half a character at the end',
      () => Buffer.concat([Buffer.from(`${five()}{"agent_id":"`), Buffer.from([0xc3])]),
      5,
      ['the last record of a session was torn: cut off'],
    ],
    ['with a blank line at the end', () => withNext('\n'), 5, []],
    ['with blank lines in the middle', () => lines.join('\n \t\n\r\n'), 5, []],
    ['with blank lines before everything', () => `\n\n${five()}`, 5, []],
    [
      'with blanks at the end and no newline',
      () => withNext('  '),
      5,
      ['the last record of a session was torn: cut off'],
    ],
    ['with one record that lacks its newline', () => (lines[0] ?? '').slice(0, -1), 1, []],
    ['empty', () => '', 0, []],
    ['of blank lines', () => '\n\n', 0, []],
    [
      'with a torn first record',
      () => (lines[0] ?? '').slice(0, 40),
      0,
      ['the first record of a session was torn: set aside, starting over'],
    ],
    ['of NULs', () => '\0'.repeat(4096), 0, ['the first record of a session was torn: set aside, starting over']],
    ['with unknown fields in an envelope', () => withLast(edited(4, { future_field: 1 })), 5, []],
    ['with CRLF line ends', () => five().replaceAll('\n', '\r\n'), 5, []],
    ['with a line separator in a text', () => five().replace('"do it"', '"do\u2028it"'), 5, []],
    ['with a next-line character in a text', () => five().replace('"do it"', '"do\u0085it"'), 5, []],
    [
      'with blanks between its tokens',
      () => withLast(`${JSON.stringify(JSON.parse(lines[4] ?? ''), null, ' ').replaceAll('\n', ' ')}\n`),
      5,
      [],
    ],
  ];
  it.each(harmless)('%s is read and written on', async (_name, damaged, records, warned) => {
    const runs = records === 5 ? [true] : records === 0 ? [] : [false];
    folder.write('s1', damaged());
    expect(await storage.records('s1')).toHaveLength(records);
    expect((await storage.load('s1'))?.runs.map(({ finished }) => finished) ?? []).toEqual(runs);
    await storage.abandon('s1');
    const closed = records === 1 || records === 4 ? 1 : 0;
    await storage.append('s1', 'core', wholeRun('r2'));
    expect(warnings.messages).toEqual(warned);
    expect(await storage.records('s1')).toHaveLength(records + closed + 5);
    await restart();
    expect(await storage.records('s1')).toHaveLength(records + closed + 5);
    expect((await storage.load('s1'))?.runs.at(-1)).toMatchObject({ runId: 'r2', finished: true });
    await storage.append('s1', 'core', wholeRun('r3'));
    expect(folder.read('s1').includes(0)).toBe(false);
  });

  it('keeps the bytes of a torn first record in a file beside', async () => {
    const torn = (lines[0] ?? '').slice(0, 40);
    folder.write('s1', torn);
    expect(await storage.load('s1')).toBeNull();
    expect(folder.read('s1').toString()).toBe(torn);
    await storage.append('s1', 'core', wholeRun('r2'));
    expect(aside().map((name) => readFileSync(join(folder.path, name), 'utf8'))).toEqual([torn]);
  });

  it('says nothing about a tail that a writer may still be at, before it is cut', async () => {
    folder.write('s1', five().slice(0, -20));
    await storage.load('s1');
    expect(warnings.messages).toEqual([]);
  });

  it('reads on where a torn tail was completed', async () => {
    folder.write('s1', five().slice(0, -20));
    expect(await storage.records('s1')).toHaveLength(4);
    folder.write('s1', five().slice(0, -1));
    expect(await storage.records('s1')).toHaveLength(5);
    folder.write('s1', five());
    await storage.append('s1', 'core', wholeRun('r2'));
    expect(folder.lines('s1').filter((line) => line.trim() !== '')).toHaveLength(10);
  });

  const broken: readonly (readonly [string, () => string | Buffer, number, RegExp])[] = [
    ['garbage with a newline at the end', () => withNext('garbage\n'), 6, /no JSON/],
    ['NULs with a newline at the end', () => withNext(`${'\0'.repeat(64)}\n`), 6, /NUL bytes/],
    ['NULs in the middle', () => `${lines[0] ?? ''}${'\0'.repeat(64)}${lines.slice(1).join('')}`, 2, /NUL bytes/],
    [
      'two records fused on one line',
      () => `${lines[0] ?? ''}${(lines[1] ?? '').slice(0, 50)}${lines.slice(2).join('')}`,
      2,
      /no JSON/,
    ],
    ['a broken first line', () => `garbage\n${five()}`, 1, /no JSON/],
    ['bytes that are no UTF-8', () => Buffer.from(five().replace('do it', 'd\xff'), 'latin1'), 1, /UTF-8/],
    ['a line that is no object', () => withNext('[]\n'), 6, /must be an object/],
    ['a form feed raw in a text', () => five().replace('"do it"', '"do\fit"'), 1, /no JSON/],
    ['the last line twice', () => withNext(lines[4] ?? ''), 6, /record id was there before/],
    [
      'a revision twice',
      () => withNext(edited(4, { record_id: 'f'.repeat(32) })),
      6,
      /revision 5 comes where 6 should/,
    ],
    ['a revision that jumped', () => withLast(edited(4, { revision: 9 })), 5, /revision 9 comes where 5 should/],
    [
      'a stale parent',
      () => withNext(edited(4, { record_id: 'f'.repeat(32), revision: 6 })),
      6,
      /parent is not the branch head/,
    ],
    [
      'a newer schema version',
      () => edited(0, { journal_schema_version: 2 }) + lines.slice(1).join(''),
      1,
      /schema version 2/,
    ],
    [
      'a newer schema version and no newline',
      () => withLast(edited(4, { journal_schema_version: 2 }).trimEnd()),
      5,
      /schema version 2/,
    ],
    ['an unknown type', () => withLast(edited(4, { type: 'hologram' })), 5, /must be one of checkpoint/],
    ['a record of another session', () => withLast(edited(4, { session_id: 'other' })), 5, /another session/],
    ['a record of another agent', () => withLast(edited(4, { agent_id: 'other' })), 5, /another agent/],
    ['no agent', () => withLast(edited(4, { agent_id: null })), 5, /another agent/],
    ['a branch that was never created', () => withLast(edited(4, { branch_id: 'nope' })), 5, /never created/],
    [
      'a run that ends twice',
      () =>
        withNext(
          edited(4, {
            record_id: 'f'.repeat(32),
            revision: 6,
            parent_id: (JSON.parse(lines[4] ?? '') as { record_id: string }).record_id,
          }),
        ),
      6,
      /not open/,
    ],
    ['data without its parts', () => withLast(edited(4, { data: {} })), 5, /run_finished\.run_id must be a string/],
  ];
  it.each(broken)('with %s is refused loudly, and can be repaired', async (_name, damaged, line, reason) => {
    folder.write('s1', damaged());
    const content = folder.read('s1');
    const error: unknown = await storage.load('s1').then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SessionSerializationError);
    const { message, position } = error as SessionSerializationError;
    expect(message).toMatch(reason);
    expect(position?.line).toBe(line);
    const offset = position?.offset ?? -1;
    expect(offset).toBe(
      content
        .toString('latin1')
        .split(/(?<=\n)/)
        .slice(0, line - 1)
        .join('').length,
    );
    expect(message).toContain(`line ${line}, byte ${offset}`);
    expect(message).not.toContain('garbage');
    await expect(storage.append('s1', 'core', wholeRun('r2'))).rejects.toThrow(SessionSerializationError);
    expect(folder.read('s1').equals(content)).toBe(true);

    const report = await storage.repair('s1');
    expect(report).toMatchObject({ sessionId: 's1', keptRecords: line - 1, problem: message });
    expect(report.setAsideBytes).toBe(content.length - offset);
    expect(folder.read('s1').equals(content.subarray(0, offset))).toBe(true);
    expect(readFileSync(report.setAsidePath ?? '').equals(content.subarray(offset))).toBe(true);
    await storage.abandon('s1');
    await storage.append('s1', 'core', wholeRun('r2'));
    await restart();
    expect((await storage.load('s1'))?.runs.at(-1)).toMatchObject({ runId: 'r2', finished: true });
  });

  it('gives a torn tail to a repair too', async () => {
    folder.write('s1', withNext('{"agent'));
    const report = await storage.repair('s1');
    expect(report).toMatchObject({ keptRecords: 5, problem: 'the last line is torn', setAsideBytes: 7 });
    expect(folder.read('s1').toString()).toBe(five());
  });

  it('is noticed in what another process added', async () => {
    expect(await storage.records('s1')).toHaveLength(5);
    folder.write('s1', withNext('garbage\n'));
    await expect(storage.records('s1')).rejects.toMatchObject({ position: { line: 6 } });
  });

  it('is read anew when it was replaced, shortened or removed', async () => {
    expect(await storage.records('s1')).toHaveLength(5);
    folder.write('s1', lines.slice(0, 2).join(''));
    expect(await storage.records('s1')).toHaveLength(2);
    const other = new JsonlSessionStorage(join(folder.path, 'other'));
    await other.append('s1', 'core', wholeRun('other'));
    await other.close();
    const path = folder.journalPath('s1');
    renameSync(join(folder.path, 'other', basename(path)), path);
    await storage.append('s1', 'core', wholeRun('r2'));
    expect((await storage.load('s1'))?.runs.map(({ runId }) => runId)).toEqual(['other', 'r2']);
    rmSync(path);
    expect(await storage.load('s1')).toBeNull();
    await storage.append('s1', 'core', wholeRun('r3'));
    expect((await storage.load('s1'))?.runs.map(({ runId }) => runId)).toEqual(['r3']);
  });

  it('that only looked so while somebody wrote to it is read again under the lock', async () => {
    const refresh = jest.spyOn(JournalFile.prototype, 'refresh');
    const writer = openSync(`${folder.journalPath('s1')}.lock`, 'a');
    expect(tryLock(writer)).toBe(true);
    folder.write('s1', withNext('half a record, and the rest of another\n'));
    const loaded = storage.load('s1');
    while (refresh.mock.results.length === 0) await nextTurn();
    await expect(refresh.mock.results[0]?.value).rejects.toThrow(SessionSerializationError);
    folder.write('s1', five());
    closeSync(writer);
    expect((await loaded)?.runs).toHaveLength(1);
    refresh.mockRestore();
  });

  it('does not build on a record that was read and then taken back', async () => {
    // As after a write whose fsync failed: whoever reads without the lock may have seen it.
    const phantom = edited(4, { record_id: 'a'.repeat(32) });
    folder.write('s1', withLast(phantom));
    expect((await storage.head('s1'))?.recordId).toBe('a'.repeat(32));
    folder.write('s1', five());
    await storage.append('s1', 'core', wholeRun('r2'));
    await restart();
    expect(await storage.records('s1')).toHaveLength(10);
  });
});
