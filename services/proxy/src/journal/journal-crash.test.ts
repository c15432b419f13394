import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '@parley/service-kit';
import type { Fact } from '../domain/facts.js';
import { openFactLog } from './open-fact-log.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`./testing/${name}.mjs`, import.meta.url));
const KILLS = 20;

let compiled: string;
let dir: string;

beforeAll(async () => {
  compiled = mkdtempSync(join(tmpdir(), 'journal-code-'));
  dir = mkdtempSync(join(tmpdir(), 'journal-'));
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', script('compile-journal'), compiled], {
    timeout: 30_000,
  });
}, 40_000);

afterAll(() => {
  for (const folder of [compiled, dir]) rmSync(folder, { recursive: true, force: true });
});

/** Lets a process append until it is killed; what it was told is kept. */
async function killedWriter(lifeMs: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [script('append-forever'), compiled, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const first = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      resolve();
    });
    child.once('close', () => reject(new Error('the writer ended by itself')));
  });
  const closed = once(child, 'close');
  await first;
  await sleep(lifeMs);
  child.kill('SIGKILL');
  await closed;
  const lines = output.slice(0, output.lastIndexOf('\n')).split('\n');
  return lines.filter((line) => !line.startsWith('loaded'));
}

function idOf(fact: Fact): string {
  if (fact.kind === 'skill_added') return `proxy ${fact.skill.name}`;
  if (fact.kind === 'turn_ending' && fact.end.state === 'completed') return `${fact.taskId} ${fact.end.texts[0] ?? ''}`;
  return '';
}

describe('a process that is killed at any moment while it appends', () => {
  it(`has kept every fact that was acknowledged, in order, after each of ${KILLS} kills`, async () => {
    const told: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      told.push(...(await killedWriter(Math.random() * 150)));
      const log = await openFactLog({ dir, logger: silentLogger });
      const kept: string[] = [];
      for await (const { facts } of log.load()) kept.push(...facts.map(idOf));
      await log.close();
      const place = new Map(kept.map((id, index) => [id, index]));
      expect(place.size).toBe(kept.length);
      expect(told.filter((id) => !place.has(id))).toEqual([]);
      for (const writer of new Set(told.map((id) => id.slice(0, id.lastIndexOf('-'))))) {
        const places = told.filter((id) => id.startsWith(`${writer}-`)).map((id) => place.get(id) ?? -1);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
      }
    }
    expect(told.length).toBeGreaterThan(KILLS * 5);
  }, 120_000);
});
