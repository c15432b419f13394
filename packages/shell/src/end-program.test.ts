import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lives } from './testing/command-folder.js';
import { PLAIN_NODE } from './testing/plain-node.js';
import { ProgramFolder, textOf } from './testing/program-folder.js';

const QUICK = { closeMs: 150, termMs: 150 };
const QUIET = '>/dev/null 2>&1 </dev/null';

/** An agent that runs as long as it has input, and says its pid. */
const AGENT = `require('fs').writeFileSync('agent', process.pid + '\\n'); process.stdin.resume()`;
const DEAF_AGENT = `require('fs').writeFileSync('agent', process.pid + '\\n'); setInterval(() => {}, 1000)`;

const realPlatform = process.platform;

/** Where there is no /proc, only the group is known. */
describe.each([
  ['with /proc', realPlatform],
  ['without /proc', 'darwin'],
])('the end of a program, %s', (_title, platform) => {
  let folder: ProgramFolder;
  beforeEach(() => {
    folder = new ProgramFolder();
    Object.defineProperty(process, 'platform', { value: platform });
  });
  afterEach(async () => {
    Object.defineProperty(process, 'platform', { value: realPlatform });
    await folder.remove();
  });

  it('is left to the program when it ends with its input', async () => {
    const program = await folder.sh('cat; trap "" TERM; echo "the end"; exit 7');
    const output = textOf(program.stdout);
    const begun = performance.now();
    expect((await program.end({ closeMs: 20_000, termMs: 20_000 })).left).toBe(0);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(await output).toBe('the end\n');
    expect(program.exit).toStrictEqual({ code: 7, signal: null });
  });

  it('is asked for when the program goes on without input', async () => {
    const program = await folder.sh('trap "echo asked; exit 5" TERM; echo up; while :; do sleep 0.01; done');
    await once(program.stdout, 'data');
    const output = textOf(program.stdout);
    const begun = performance.now();
    await program.end({ closeMs: 100, termMs: 20_000 });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(await output).toBe('asked\n');
    expect(program.exit).toStrictEqual({ code: 5, signal: null });
  });

  it('is forced when the program ignores both', async () => {
    const program = await folder.sh('trap "" TERM; echo up; while :; do sleep 0.01; done');
    await once(program.stdout, 'data');
    const begun = performance.now();
    expect((await program.end(QUICK)).left).toBe(0);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(290);
    expect(program.exit).toStrictEqual({ code: null, signal: 'SIGKILL' });
    expect(lives(program.pid)).toBe(false);
  });

  it('comes to a program that waits for somebody to read what it writes', async () => {
    const program = await folder.sh('cat; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 4');
    await program.end({ closeMs: 20_000, termMs: 0 });
    expect(program.exit).toStrictEqual({ code: 4, signal: null });
  });

  it.each([
    ['ignores its input', `"$NODE" -e "${DEAF_AGENT}" & wait`],
    [
      'is behind a wrapper that has ended',
      `"$NODE" -e "${DEAF_AGENT}" ${QUIET} & until [ -s agent ]; do sleep 0.01; done`,
    ],
    ['traps the polite signal', `(trap '' TERM; sh -c 'echo $$ > agent; while :; do sleep 0.05; done') & wait`],
    [
      'outlives its wrapper, which the polite signal ends',
      `sh -c 'trap "" TERM; echo $$ > agent; while :; do sleep 0.05; done' & sleep 600`,
    ],
    ['is stopped', `sh -c 'echo $$ > agent; kill -STOP $$; sleep 600' & wait`],
  ])('comes to the grandchild in the same group that %s', async (_what, text) => {
    const program = await folder.sh(text);
    const agent = await folder.pid('agent');
    expect(lives(agent)).toBe(true);
    expect((await program.end(QUICK)).left).toBe(0);
    expect([program.pid, agent].map(lives)).toStrictEqual([false, false]);
  });

  it('comes to the agent behind a wrapper when only the wrapper was killed', async () => {
    const program = await folder.sh(`"$NODE" -e "${DEAF_AGENT}" & wait`);
    const agent = await folder.pid('agent');
    process.kill(program.pid, 'SIGKILL');
    expect(await program.exited).toStrictEqual({ code: null, signal: 'SIGKILL' });
    expect(lives(agent)).toBe(true);
    expect((await program.end(QUICK)).left).toBe(0);
    expect(lives(agent)).toBe(false);
  });

  it('closes the input of an agent behind a wrapper', async () => {
    const program = await folder.sh(`exec 3<&0; "$NODE" -e "${AGENT}" <&3 & wait; exit 6`);
    await folder.pid('agent');
    await program.end({ closeMs: 20_000, termMs: 0 });
    expect(program.exit).toStrictEqual({ code: 6, signal: null });
  });

  it('may be asked for twice, together and one after the other', async () => {
    const program = await folder.sh(`trap '' TERM; echo up; while :; do sleep 0.05; done`);
    await once(program.stdout, 'data');
    const ends = await Promise.all([program.end(QUICK), program.end(QUICK)]);
    expect(ends.map(({ left }) => left)).toStrictEqual([0, 0]);
    expect((await program.end()).left).toBe(0);
  });

  it('comes sooner when it is asked for again with less time', async () => {
    const program = await folder.sh(`trap '' TERM; echo up; while :; do sleep 0.05; done`);
    await once(program.stdout, 'data');
    const first = program.end({ closeMs: 60_000, termMs: 60_000 });
    await delay(20);
    expect(lives(program.pid)).toBe(true);
    const begun = performance.now();
    await program.end({ closeMs: 0, termMs: 0 });
    await first;
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(lives(program.pid)).toBe(false);
  });

  it('after it has ended by itself takes nobody long and forgets it', async () => {
    const listeners = process.listenerCount('exit');
    const program = await folder.sh('exit 2');
    expect(process.listenerCount('exit')).toBe(listeners + 1);
    await program.exited;
    const begun = performance.now();
    expect(await program.end()).toStrictEqual({ found: 0, left: 0 });
    expect(performance.now() - begun).toBeLessThan(1_900);
    expect(process.listenerCount('exit')).toBe(listeners);
  });

  it('closes the pipes', async () => {
    const program = await folder.sh('cat');
    const output = textOf(program.stdout);
    program.stdin.write('x');
    await program.end(QUICK);
    await output;
    const { stdin, stdout, stderr } = program;
    expect([stdin, stdout, stderr].map(({ destroyed }) => destroyed)).toStrictEqual([true, true, true]);
  });
});

describe('the end of a program comes to those who left its group', () => {
  let folder: ProgramFolder;
  beforeEach(() => {
    folder = new ProgramFolder();
  });
  afterEach(() => folder.remove());

  it.each([
    ['by setsid', `setsid sh -c 'trap "" TERM; echo $$ > agent; while :; do sleep 0.05; done' & wait`],
    [
      'by setsid, and lost their parent',
      `(setsid sh -c 'echo $$ > agent; exec sleep 600' ${QUIET} &); until [ -s agent ]; do sleep 0.01; done; cat`,
    ],
    [
      'by setsid, lost their parent, cleared their environment and hold a pipe',
      `(env -i "$(command -v setsid)" /bin/sh -c 'echo $$ > agent; exec /bin/sleep 600' &); until [ -s agent ]; do sleep 0.01; done; cat`,
    ],
    [
      'by setsid, and cleared their environment when only their input was left',
      `exec 3<&0; (env -i "$(command -v setsid)" /bin/sh -c 'echo $$ > agent; exec /bin/sleep 600' <&3 >/dev/null 2>&1 &); until [ -s agent ]; do sleep 0.01; done; cat`,
    ],
    ['by a group of their own', `set -m; sleep 600 ${QUIET} & echo $! > agent; cat`],
  ])('%s', async (_what, text) => {
    const program = await folder.sh(text);
    const agent = await folder.pid('agent');
    expect(lives(agent)).toBe(true);
    expect((await program.end(QUICK)).left).toBe(0);
    expect([program.pid, agent].map(lives)).toStrictEqual([false, false]);
  });

  it('when this process exits, too', async () => {
    const text = `trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ > agent; while :; do sleep 0.05; done' & until [ -s agent ]; do sleep 0.01; done; echo $$ > leader; echo up; while :; do sleep 0.05; done`;
    const script = join(import.meta.dirname, 'testing', 'leaving-program.ts');
    const leaving = spawn(process.execPath, [...PLAIN_NODE, script, text], { cwd: folder.path, stdio: 'ignore' });
    const [code] = await once(leaving, 'exit');
    expect(code).toBe(0);
    const pids = [await folder.pid('agent'), await folder.pid('leader')];
    // The system needs a moment to end those who were killed.
    for (let i = 0; i < 100 && pids.some(lives); i += 1) await delay(10);
    expect(pids.map(lives)).toStrictEqual([false, false]);
  });

  it('and leaves other programs alone', async () => {
    const [one, other] = await Promise.all([folder.sh('cat'), folder.sh('cat')]);
    await one.end(QUICK);
    expect(lives(other.pid)).toBe(true);
    expect(other.exit).toBeUndefined();
  });
});
