import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Started } from '../test-support/started.js';

const packageFolder = dirname(import.meta.dirname);
const rootFolder = dirname(dirname(packageFolder));
const launcher = join(packageFolder, 'bin', 'parley.js');
/** Gives a program a terminal of its own; part of every Debian. */
const SCRIPT = '/usr/bin/script';

const READ = '{"tool":"read_file","arguments":{"path":"notes.txt"}}';

let folder: string;
let env: NodeJS.ProcessEnv;
const children: Started[] = [];

beforeAll(async () => {
  const tsc = join(rootFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 120_000 });
  folder = await mkdtemp(join(tmpdir(), 'parley-main-'));
  await writeFile(join(folder, 'notes.txt'), 'the blue door\n');
  const { PATH } = process.env;
  env = { PATH, HOME: folder, TERM: 'xterm', SHELL: '/bin/sh' };
}, 150_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function start(command: string, args: readonly string[], stdin: 'pipe' | 'ignore'): Started {
  const child = new Started(command, args, { cwd: folder, env, stdin });
  children.push(child);
  return child;
}

function parley(...args: string[]): Started {
  return start(process.execPath, [launcher, 'run', ...args], 'ignore');
}

describe('the program', () => {
  it('prints the answer of a task', async () => {
    const run = parley('-p', READ);
    expect(await run.exitCode).toBe(0);
    expect(run.output).toContain('the blue door');
  }, 30_000);

  it('ends with 2 for an option that cannot be', async () => {
    const run = parley('--nonsense');
    expect(await run.exitCode).toBe(2);
    expect(run.output).toBe("parley: unknown option '--nonsense'\n");
  }, 30_000);

  it('stops what it does when nobody reads any more', async () => {
    const run = parley(
      '--json',
      '--yes',
      '{"tool":"shell","arguments":{"command":"for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 1; done"}}',
    );
    await run.leaveAfterFirstOutput();
    expect(await run.exitCode).toBe(141);
  }, 30_000);
});

// Where there is no such program, the tests with a terminal in memory have to do.
if (existsSync(SCRIPT)) {
  describe('the program on a terminal', () => {
    /** Afterwards the mode of the terminal is printed. */
    function onTerminal(options = ''): Started {
      const run = `sh -c 'echo pid $$; exec "${process.execPath}" "${launcher}" run ${options}'; echo code $?; stty -a`;
      return start(SCRIPT, ['-qfec', run, '/dev/null'], 'pipe');
    }

    const HEALTHY = /(?<![-\w])icanon[^]*(?<![-\w])echo(?!\w)/u;

    it('talks, and gives the terminal back', async () => {
      const run = onTerminal();
      await run.says(/session \d/u);
      run.write('/status\r');
      await run.says(/history/u);
      run.write('\u0004');
      await run.says(/code 0/u);
      expect((await run.says(HEALTHY)).input).toContain('\u001b[?2004l');
    }, 30_000);

    it.each([
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const)(
      'gives the terminal back on %s',
      async (signal, code) => {
        const run = onTerminal();
        const pid = Number((await run.says(/pid (\d+)/u))[1]);
        await run.says(/session \d/u);
        process.kill(pid, signal);
        await run.says(new RegExp(`code ${code}`, 'u'));
        await run.says(HEALTHY);
      },
      30_000,
    );

    it('gives the terminal back when it crashes', async () => {
      const crash = join(folder, 'crash.mjs');
      await writeFile(crash, 'setTimeout(() => { throw new Error("boom"); }, 1500);');
      env['NODE_OPTIONS'] = `--import=${crash}`;
      const run = onTerminal();
      delete env['NODE_OPTIONS'];
      await run.says(/session \d/u);
      await run.says(/boom[^]*code 1/u);
      await run.says(HEALTHY);
    }, 30_000);
  });
}
