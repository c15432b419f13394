#!/usr/bin/env node
/**
 * `npm ci`, but only when what is installed does not belong to package-lock.json. Runs on every Node from 18 on:
 * the Node of this project comes with the packages.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lock = join(root, 'package-lock.json');
const stamp = join(root, 'node_modules', '.parley-installed');
// npm writes this last, so it is not there after an install that was broken off.
const installed = join(root, 'node_modules', '.package-lock.json');
const digest = createHash('sha256').update(readFileSync(lock)).digest('hex');

if (!isFresh()) {
  console.log('Installing packages (npm ci) ...');
  // Packages that ask for a newer Node than the machine's run under the one that is installed with them: no warnings.
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error(`npm ci failed${result.error === undefined ? '' : `: ${result.error.message}`}`);
    process.exit(result.status ?? 1);
  }
  writeFileSync(stamp, `${digest}\n`);
}

function isFresh() {
  if (!existsSync(installed)) return false;
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8').trim() === digest;
  // Installed by hand: newer than the lock file is new enough.
  return statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}
