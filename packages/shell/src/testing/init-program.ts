// Runs commands as PID 1 of a pid namespace, and says what became of them, as one line of JSON.
import { readdirSync, readFileSync } from 'node:fs';
import { defaultLauncher } from '../default-launcher.js';
import { findShell, startCommand } from '../index.js';
import { spawnLauncher } from '../spawn-launcher.js';

const ORPHANS = 200;
const { path, name } = findShell(process.env['PATH']);
const env = { PATH: process.env['PATH'] ?? '' };
const claimsOrphans = process.argv[2] === 'claim';
const launcher = process.argv[3] === 'spawn' ? spawnLauncher : defaultLauncher;
const start = (text: string) =>
  startCommand({ shell: path, shellName: name, text, cwd: '/', env, claimsOrphans, launcher, killGraceMs: 200 });

/** Of the processes of the namespace whose command line has the word; every process without one. */
function statesOf(word = ''): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/u.test(pid))
    .flatMap((pid) => {
      try {
        const isWanted = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
        return isWanted ? (readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.slice(0, 1) ?? []) : [];
      } catch {
        return [];
      }
    });
}

const hiddenStates = () => [statesOf('7001'), statesOf('7002')].flat();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// Each of them ends without the one that it came from.
const many = start(`i=0; while [ $i -lt ${ORPHANS} ]; do (sleep 0.05 &); i=$((i+1)); done >/dev/null 2>&1`);
await many.result;
await pause(300);
await many.end();
const zombies = statesOf().filter((state) => state === 'Z').length;

// Nothing tells of these but whose children they have become. The second may come from either command.
const hidden = (seconds: number) => `(env -i "$(command -v setsid)" /bin/sleep ${seconds} >/dev/null 2>&1 &)`;
const first = start(`${hidden(7001)}; true`);
await first.result;
const begun = performance.now();
const next = start('echo still here');
const ended = await next.result;
const took = performance.now() - begun;
await next.end();
await pause(50);
const second = start(`${hidden(7002)}; true`);
await second.result;
await pause(50);
const before = hiddenStates();
await first.end();
await second.end();
await pause(50);
const after = hiddenStates();
const report = { pid: process.pid, zombies, stdout: ended.stdout, took, before, after };
process.stdout.write(JSON.stringify(report), () => process.exit(0));
