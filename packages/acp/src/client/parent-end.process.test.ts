import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { PLAIN_NODE } from '../../../shell/src/testing/plain-node.js';
import { killMarked, markedProcesses } from '../testing/marked-processes.mjs';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(60_000);

const PROGRAM = fileURLToPath(new URL('../testing/parent-that-ends.ts', import.meta.url));
const NODE_OPTIONS = [...PLAIN_NODE, '--conditions=parley-source'];

describe('a child whose parent ends', () => {
  let mark: string;

  beforeEach(() => {
    mark = randomUUID();
  });

  afterEach(() => killMarked(mark));

  /** Resolves with what the parent said, when it has ended. */
  function parent(...args: string[]): Promise<string> {
    return new Promise((resolve) => {
      execFile(process.execPath, [...NODE_OPTIONS, PROGRAM, ...args], { timeout: 45_000 }, (_error, stdout) => {
        resolve(stdout.trim());
      });
    });
  }

  async function isGone(): Promise<boolean> {
    for (let i = 0; i < 200 && markedProcesses(mark).length > 0; i += 1) await delay(25);
    return markedProcesses(mark).length === 0;
  }

  it.each(['exit', 'throw'])('by %s is killed with all that it started, however stubborn it is', async (way) => {
    expect(await parent(way, mark, 'stubborn')).toBe('2');
    expect(await isGone()).toBe(true);
  });

  it('by a kill goes by itself when its input ends', async () => {
    expect(await parent('kill', mark)).toBe('1');
    expect(await isGone()).toBe(true);
  });
});
