import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ChildProcess, compileSources } from './child-processes.test-helper.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { openSession } from './open-session.js';
import { SessionLockTimeoutError } from './session-errors.js';
import { recordRun, TemporaryFolder } from './sessions.test-helper.js';

describe('several processes on one session', () => {
  let folder: TemporaryFolder;
  let compiled: string;
  let children: ChildProcess[];
  let storage: JsonlSessionStorage;

  beforeAll(async () => {
    folder = new TemporaryFolder();
    compiled = join(folder.path, 'compiled');
    await compileSources(compiled);
  }, 60_000);

  afterAll(() => folder.remove());

  beforeEach(() => {
    children = [];
    storage = new JsonlSessionStorage(folder.path);
  });

  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await storage.close();
  });

  function start(name: 'hold-run' | 'record-runs', ...args: readonly string[]): ChildProcess {
    const child = new ChildProcess(name, [compiled, folder.path, ...args]);
    children.push(child);
    return child;
  }

  /** A process that has read the session. */
  async function opened(sessionId: string, runId: string): Promise<ChildProcess> {
    const child = start('hold-run', sessionId, runId);
    expect(await child.line()).toBe('opened');
    return child;
  }

  it('lets the second wait for the first, and then tells it that the history moved', async () => {
    const first = await opened('waits', 'r1');
    const second = await opened('waits', 'r2');
    first.tell();
    expect(await first.line()).toBe('begun');
    await expect(storage.lockRun('waits', { waitMs: 0 })).rejects.toThrow(SessionLockTimeoutError);
    second.tell();
    first.tell();
    expect(await first.line()).toBe('finished');
    expect(await second.line()).toMatch(/^SessionConflictError: the session holds a history/);
    expect((await storage.load('waits'))?.runs.map(({ runId, finished }) => [runId, finished])).toEqual([['r1', true]]);
  }, 30_000);

  it('frees the session at once when the process of a run is killed, and tells the run from an active one', async () => {
    const first = await opened('killed', 'r1');
    const second = await opened('killed', 'r2');
    first.tell();
    expect(await first.line()).toBe('begun');
    await expect(storage.abandon('killed', { waitMs: 0 })).rejects.toThrow(SessionLockTimeoutError);
    second.tell();
    await first.kill();
    // It waited for the lock and has it now: well within the ten seconds that it would wait.
    expect(await second.line()).toMatch(/^SessionConflictError: a run of this session ended with its process/);
    const { journal, session } = await openSession({
      storage,
      sessionId: 'killed',
      agentId: 'core',
      onUnfinished: 'abandon',
      runLockWaitMs: 5_000,
    });
    expect(session?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call-r1' });
    await recordRun(journal, 'r3');
    expect((await storage.load('killed'))?.runs.map(({ runId }) => runId)).toEqual(['r1', 'r3']);
    expect(readdirSync(folder.path).filter((name) => name.includes('.run-'))).toEqual([]);
  }, 30_000);

  it('never forks a history that three of them write to', async () => {
    const names = ['a', 'b', 'c'];
    const writers = names.map((name) => start('record-runs', 'shared', name, '12'));
    for (const writer of writers) expect(await writer.line()).toBe('ready');
    for (const writer of writers) writer.tell();
    const state = { writing: true };
    const finished = Promise.all(writers.map((writer) => writer.line())).finally(() => (state.writing = false));
    // Read all the while: what is there is always whole, and never less than before.
    for (let seen = 0; state.writing;) {
      const revision = (await storage.load('shared'))?.revision ?? 0;
      expect(revision).toBeGreaterThanOrEqual(seen);
      seen = revision;
      await nextTurn();
    }
    for (const line of await finished) expect(line).toMatch(/^\d+$/);
    const records = await storage.records('shared');
    expect(records.map(({ revision }) => revision)).toEqual(Array.from({ length: 108 }, (_, at) => at + 1));
    records.forEach(({ parentId }, at) => expect(parentId).toBe(at === 0 ? null : records[at - 1]?.recordId));
    const tasks = (await storage.load('shared'))?.runs.map(({ task }) => task ?? '') ?? [];
    expect(tasks.sort()).toEqual(names.flatMap((name) => Array.from({ length: 12 }, (_, n) => `${name}-${n}`)).sort());
  }, 60_000);
});
