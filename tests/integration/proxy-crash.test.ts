import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endEverything } from '@parley/testkit';
import { crashProxy } from './support/proxy-crash.mjs';

const { jest } = import.meta;
jest.setTimeout(90_000);

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-crash-')));
});
afterAll(async () => {
  await endEverything();
  await rm(folder, { recursive: true, force: true });
}, 30_000);

describe('a proxy that is killed at random moments of 16 parallel turns', () => {
  it('loses no recorded call, runs no action twice, and goes on with every turn', async () => {
    const report = await crashProxy({ folder, kills: 10, turns: 16 });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(10);
    expect(report.turns).toBeGreaterThanOrEqual(16);
    expect(report.records).toBeGreaterThanOrEqual(report.turns);
    // Kills that met nothing at work would prove nothing.
    expect(report.done).toBeGreaterThan(0);
    expect(report.lost).toBeGreaterThan(0);
  });
});
