#!/usr/bin/env node
/**
 * Kills a proxy again and again while a driver plays several turns at once: is anything lost, or done twice?
 * `node scripts/crash-proxy.mjs [--kills 100] [--turns 16] [--main FILE]` (built before: `make build`). One JSON line, and exit code 1
 * when anything was not as it should be.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endEverything } from '@parley/testkit';
import { useProjectNode } from './lib/workspace.mjs';
import { crashProxy } from '../tests/integration/support/proxy-crash.mjs';

useProjectNode();

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    turns: { type: 'string', default: '16' },
    main: { type: 'string' },
  },
});
const [kills, turns] = [Number(values.kills), Number(values.turns)];
if (!(kills > 0 && turns > 0)) {
  console.error('--kills and --turns must be numbers above 0');
  process.exit(2);
}

const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-crash-')));
try {
  const report = await crashProxy({
    folder,
    kills,
    turns,
    ...(values.main !== undefined && { main: values.main }),
    tell: (line) => console.error(line),
  });
  console.log(JSON.stringify(report));
  process.exitCode = report.faults.length === 0 ? 0 : 1;
} finally {
  await endEverything();
  await rm(folder, { recursive: true, force: true });
}
