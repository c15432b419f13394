import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSources, runScript } from './child-processes.test-helper.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { SessionStorageError } from './session-errors.js';
import { TemporaryFolder, wholeRun } from './sessions.test-helper.js';

interface Report {
  readonly acknowledged: readonly string[];
  readonly stored: readonly string[];
  readonly failure: { readonly name: string; readonly code: string; readonly message: string };
}

function runCommand(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

describe('a disk that takes no more', () => {
  let folder: TemporaryFolder;
  let compiled: string;
  let disk: string;
  let mounted: boolean;

  beforeAll(async () => {
    folder = new TemporaryFolder();
    compiled = join(folder.path, 'compiled');
    await compileSources(compiled);
  }, 60_000);

  afterAll(() => folder.remove());

  beforeEach(() => {
    disk = join(folder.path, 'disk');
    mkdirSync(disk);
    mounted = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk);
  });

  afterEach(() => {
    if (mounted) runCommand('umount', disk);
    rmSync(disk, { recursive: true, force: true });
  });

  /** Only root can, and not everywhere; without it the limit of a file's size stands in for the disk. */
  function mount(...args: readonly string[]): boolean {
    try {
      runCommand('mount', ...args);
      return true;
    } catch {
      return false;
    }
  }

  const journal = () => folder.journalPath('s1').replace(folder.path, disk);

  async function expectNothingLost(report: Report, code: RegExp): Promise<void> {
    expect(report.failure).toMatchObject({ name: 'SessionStorageError', code: 'session_storage' });
    expect(report.failure.message).toMatch(code);
    expect(report.acknowledged.length).toBeGreaterThan(5);
    expect(report.stored).toEqual(report.acknowledged);
    // What the disk took of the failed record is gone again.
    const lines = readFileSync(journal(), 'utf8').split('\n');
    expect(lines).toHaveLength(report.acknowledged.length + 1);
    expect(lines.at(-1)).toBe('');
    const storage = new JsonlSessionStorage(disk);
    const records = await storage.records('s1');
    expect(records.map(({ recordId }) => recordId)).toEqual(report.acknowledged);
    await storage.close();
  }

  it('fails typed, and keeps every acknowledged record, when a file may not grow', async () => {
    const report = JSON.parse(await runScript('append-until-full', [compiled, disk, 's1'], 48)) as Report;
    await expectNothingLost(report, /the disk took \d+ of \d+ bytes|EFBIG/);
  }, 30_000);

  it('fails typed, and keeps every acknowledged record, when there is no space; then goes on', async () => {
    const limit = mounted ? undefined : 48;
    const report = JSON.parse(await runScript('append-until-full', [compiled, disk, 's1'], limit)) as Report;
    await expectNothingLost(report, mounted ? /the disk took \d+ of \d+ bytes|ENOSPC/ : /the disk took|EFBIG/);
    if (mounted) runCommand('mount', '-o', 'remount,size=1m', disk);
    const storage = new JsonlSessionStorage(disk);
    await storage.abandon('s1');
    await storage.append('s1', 'core', wholeRun('after'));
    expect((await storage.load('s1'))?.runs.at(-1)).toMatchObject({ runId: 'after', finished: true });
    await storage.close();
  }, 30_000);

  it('goes on within the same process once there is space again', async () => {
    const report = JSON.parse(await runScript('append-after-full', [compiled, disk, 's1'], 48)) as Report;
    expect(report).toMatchObject({ failure: { name: 'SessionStorageError', code: 'session_storage' } });
    expect(report.acknowledged).toHaveLength(10);
    expect(report.stored).toEqual(report.acknowledged);
  }, 30_000);

  it('can be read when nothing can be written, and says so to who writes', async () => {
    const writer = new JsonlSessionStorage(disk);
    await writer.append('s1', 'core', wholeRun('r1'));
    await writer.close();
    if (!mounted) {
      const report = JSON.parse(await runScript('append-until-full', [compiled, disk, 's1'], 0)) as Report;
      expect(report).toMatchObject({ acknowledged: [], failure: { code: 'session_storage' } });
      expect(report.stored).toHaveLength(5);
      return;
    }
    runCommand('mount', '-o', 'remount,ro', disk);
    const storage = new JsonlSessionStorage(disk);
    expect((await storage.load('s1'))?.messages).toHaveLength(4);
    await expect(storage.append('s1', 'core', wholeRun('r2'))).rejects.toThrow(/EROFS/);
    await expect(storage.append('s1', 'core', wholeRun('r2'))).rejects.toThrow(SessionStorageError);
    await expect(storage.lockRun('s2')).rejects.toThrow(SessionStorageError);
    await expect(storage.repair('s1')).rejects.toThrow(SessionStorageError);
    expect((await storage.listSessions()).map(({ sessionId }) => sessionId)).toEqual(['s1']);
    await storage.close();
  });

  it('refuses a folder that cannot be one', async () => {
    const path = join(folder.path, 'a-file');
    writeFileSync(path, '');
    const storage = new JsonlSessionStorage(join(path, 'sessions'));
    await expect(storage.append('s1', 'core', wholeRun('r1'))).rejects.toThrow(SessionStorageError);
    expect(await storage.load('s1')).toBeNull();
    await expect(storage.listSessions()).rejects.toThrow(SessionStorageError);
    await storage.close();
  });
});
