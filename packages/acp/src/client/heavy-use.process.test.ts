import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PLAIN_NODE } from '../../../shell/src/testing/plain-node.js';
import type { HeavyUseReport } from '../testing/heavy-use.js';
import { KINDS } from '../testing/run-kinds.js';

const PROGRAM = fileURLToPath(new URL('../testing/heavy-use.ts', import.meta.url));
const TIMEOUT_MS = 120_000;

/** Warnings are wanted here: those of Node about its own way to run TypeScript are told apart by their text. */
const NODE_OPTIONS = [...PLAIN_NODE.filter((option) => option !== '--no-warnings'), '--conditions=parley-source'];

async function heavyUse(...args: string[]): Promise<HeavyUseReport> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...NODE_OPTIONS, PROGRAM, ...args], { timeout: TIMEOUT_MS });
  const report = JSON.parse(stdout) as HeavyUseReport;
  return { ...report, warnings: report.warnings.filter((text) => !text.includes('experimental feature')) };
}

const CLEAN = { alive: 0, signalListeners: 0, faults: [], warnings: [], unhandled: [] };

describe('heavy use', () => {
  it(
    'of two hundred runs of every kind leaves no process, no listener, no timer and no descriptor',
    async () => {
      const report = await heavyUse('each-kind', '200', '4');
      expect(report).toMatchObject(CLEAN);
      expect(report.after).toEqual(report.before);
      expect(report.outcomes).toEqual(Array.from({ length: 200 }, (_, i) => KINDS[i % KINDS.length]?.becomes));
    },
    TIMEOUT_MS,
  );

  it(
    'of fifty children at once, under one signal, completes without a warning and leaves nothing',
    async () => {
      const report = await heavyUse('all-at-once', '50');
      expect(report).toMatchObject({ ...CLEAN, mostAlive: 50 });
      expect(report.outcomes).toEqual(Array.from({ length: 50 }, () => 'completed'));
      expect(new Set(report.outputs).size).toBe(50);
      expect(report.after).toEqual(report.before);
    },
    TIMEOUT_MS,
  );
});
