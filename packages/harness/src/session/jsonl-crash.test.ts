import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProcess, compileSources } from './child-processes.test-helper.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { TemporaryFolder, wholeRun } from './sessions.test-helper.js';

const SESSIONS = 4;
const KILLS_EACH = 52;

describe('a process that is killed while it writes', () => {
  let folder: TemporaryFolder;
  let compiled: string;

  beforeAll(async () => {
    folder = new TemporaryFolder();
    compiled = join(folder.path, 'compiled');
    await compileSources(compiled);
  }, 60_000);

  afterAll(() => folder.remove());

  /** Kills one writer after a random number of records and a random moment. */
  async function killOne(sessionId: string): Promise<readonly string[]> {
    const child = new ChildProcess('append-forever', [compiled, folder.path, sessionId]);
    const acknowledged: string[] = [];
    for (let wanted = randomInt(1, 12); wanted > 0; wanted -= 1) {
      const line = await child.line();
      if (line === undefined) throw new Error('the writer ended by itself');
      acknowledged.push(line);
    }
    // Anywhere within the next record, not only right after one.
    if (randomInt(2) === 1) await sleep(randomInt(4));
    // A line that the kill cut is no acknowledgement.
    const rest = (await child.kill()).filter((line) => /^[0-9a-f]{32}$/.test(line));
    return [...acknowledged, ...rest];
  }

  async function killMany(sessionId: string): Promise<number> {
    const acknowledged: string[] = [];
    for (let kill = 1; kill <= KILLS_EACH; kill += 1) {
      acknowledged.push(...(await killOne(sessionId)));
      if (kill % 13 !== 0) continue;
      const storage = new JsonlSessionStorage(folder.path);
      const stored = new Set((await storage.records(sessionId)).map(({ recordId }) => recordId));
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
      await storage.abandon(sessionId);
      await storage.append(sessionId, 'core', wholeRun(`after-${kill}`));
      await storage.close();
    }
    return acknowledged.length;
  }

  it(`loses no acknowledged record in ${SESSIONS * KILLS_EACH} kills, and the file can be read and written on`, async () => {
    const sessions = Array.from({ length: SESSIONS }, (_, n) => `s${n}`);
    let acknowledged = 0;
    // Two at a time.
    for (let n = 0; n < SESSIONS; n += 2) {
      const counts = await Promise.all(sessions.slice(n, n + 2).map(killMany));
      acknowledged += counts.reduce((sum, count) => sum + count, 0);
    }
    expect(acknowledged).toBeGreaterThan(SESSIONS * KILLS_EACH);
  }, 180_000);
});
