import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callTool, resultOf } from '../tool-call.test-helper.js';
import { ShellTool, type ShellToolOptions } from './shell-tool.js';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-shell-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function shell(options: Partial<ShellToolOptions> = {}): ShellTool {
  return new ShellTool({ cwd: folder, killGraceMs: 150, ...options });
}

const run = (command: string, options?: Partial<ShellToolOptions>, args = {}) =>
  resultOf(shell(options), 'shell', { command, ...args });

/** Commands write the pids of what they start into files of this folder. */
function pidOf(name: string): number {
  return Number(readFileSync(join(folder, name), 'utf8'));
}

/** A process that only waits to be forgotten counts as ended. */
function lives(pid: number): boolean {
  expect(pid).toBeGreaterThan(1);
  try {
    return !/^State:\s+[ZX]/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function appears(name: string): Promise<void> {
  while (!existsSync(join(folder, name)) || readFileSync(join(folder, name), 'utf8') === '') await delay(5);
}

const SETSID = `${process.execPath} -e 'require("node:child_process").spawn("sh", ["-c", process.argv[1]], {detached: true, stdio: "ignore"}).unref()'`;

describe('a command', () => {
  it('gives its exit code and what it wrote, errors in their place', async () => {
    expect(await run('echo one; echo two >&2; echo three')).toStrictEqual({
      status: 'ok',
      exit_code: 0,
      output: 'one\ntwo\nthree\n',
    });
  });

  it('that fails is told as a failure with its code', async () => {
    const outcome = await callTool(shell(), 'shell', { command: 'echo no; exit 3' });
    expect(outcome.data).toStrictEqual({
      status: 'error',
      error: 'the command exited with code 3',
      exit_code: 3,
      output: 'no\n',
    });
    expect(outcome.error).toBe('the command exited with code 3');
    expect(outcome.control).toBe('continue');
  });

  it('that is ended by a signal tells which', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ status: 'error', exit_code: null, signal: 'SIGSEGV' });
  });

  it('has no input and no terminal', async () => {
    expect(await run('cat; echo end')).toMatchObject({ output: 'end\n' });
    expect(await run('(: </dev/tty) 2>/dev/null || echo none')).toMatchObject({ output: 'none\n' });
  });

  it('runs in the folder, or in one below it', async () => {
    mkdirSync(join(folder, 'sub'));
    expect(await run('pwd')).toMatchObject({ output: `${folder}\n` });
    expect(await run('pwd', {}, { cwd: 'sub' })).toMatchObject({ output: `${join(folder, 'sub')}\n` });
    expect(await run('pwd', {}, { cwd: 'none' })).toStrictEqual({
      status: 'error',
      tool: 'shell',
      error: "the folder 'none' does not exist",
    });
  });

  it('leads a session and a group of its own', async () => {
    const { output } = await run('cut -d " " -f 5,6 /proc/$$/stat; echo $$ $$');
    const [own, wanted] = (output as string).split('\n');
    expect(own).toBe(wanted);
  });

  it('gets its text as it is', async () => {
    expect(await run(`printf '%s|' "a  b" '$HOME' 'x"y'; echo`)).toMatchObject({ output: 'a  b|$HOME|x"y|\n' });
    expect(await run('# only a comment')).toMatchObject({ status: 'ok', output: '' });
    expect(await run('if')).toMatchObject({ status: 'error' });
  });

  it('is run by the shell that was asked for', async () => {
    expect(await run('echo ${BASH_VERSION:+bash}', { shell: '/bin/bash' })).toMatchObject({ output: 'bash\n' });
    expect(await run('echo "[${BASH_VERSION}]"', { shell: '/bin/sh' })).toMatchObject({ status: 'ok' });
  });

  it('whose shell is missing is an error result, not the end of the process', async () => {
    expect(await run('true', { shell: '/nowhere/sh' })).toStrictEqual({
      status: 'error',
      tool: 'shell',
      error: 'the command could not be started (ENOENT)',
    });
  });

  it.each([
    ['no command', {}, "'command' is required"],
    ['a blank one', { command: ' ' }, "'command' must not be blank"],
    ['a number', { command: 7 }, "'command' must be a string"],
    ['NUL', { command: 'a\0b' }, "'command' must not contain NUL characters"],
    [
      'too long a time',
      { command: 'true', timeout_seconds: 601 },
      "'timeout_seconds' must be a number from 0.001 to 600",
    ],
    ['too long a text', { command: `: ${'x'.repeat(130_000)}` }, "'command' must have at most 120000 bytes"],
  ])('with %s is refused', async (_what, args, error) => {
    const result = await resultOf(shell(), 'shell', args);
    expect(result).toMatchObject({ status: 'error', tool: 'shell' });
    expect(result['error']).toContain(error);
  });

  it.each([{ timeoutMs: 0 }, { maxOutputBytes: 1.5 }, { killGraceMs: -1 }, { maxTimeoutMs: 2 ** 31 }])(
    'cannot be limited by %p',
    (options) => {
      expect(() => shell(options)).toThrow(RangeError);
    },
  );
});

describe('the environment of a command', () => {
  const parentEnv = {
    PATH: process.env['PATH'],
    HOME: '/home/me',
    OPENAI_API_KEY: 'hunter2',
    AWS_SECRET: 'hunter2',
    K: 'v',
  };

  it('has nothing of the parent but what is on the list', async () => {
    const { output } = await run('env', { parentEnv });
    expect(output).not.toContain('hunter2');
    expect(output).toContain('HOME=/home/me');
  });

  it('has what is asked for', async () => {
    const { output } = await run('env', { parentEnv, passEnv: ['PATH', 'K'], env: { OWN: 'value' } });
    expect(output).toContain('K=v\n');
    expect(output).toContain('OWN=value\n');
    expect(output).not.toContain('HOME=/home/me');
  });

  it('has a path even if the parent has none', async () => {
    expect(await run('ls >/dev/null && echo found', { parentEnv: {} })).toMatchObject({ output: 'found\n' });
  });
});

describe('the output of a command', () => {
  it('keeps its beginning and its end, and says how much is missing', async () => {
    const result = await run('seq 1 100000', { maxOutputBytes: 200 });
    expect(result['output']).toMatch(/^1\n2\n3\n/u);
    expect(result['output']).toMatch(/99999\n100000\n$/u);
    expect(result['output']).toContain(`… ${result['omitted_bytes']} bytes left out …`);
    expect(result['omitted_bytes']).toBe(588_895 - 200);
  });

  it('may be endless: the command is ended in time and memory does not grow', async () => {
    const result = await run('yes', { maxOutputBytes: 1_000 }, { timeout_seconds: 0.3 });
    expect(result).toMatchObject({ status: 'timed_out' });
    expect((result['output'] as string).length).toBeLessThan(1_100);
  });

  it('has whole characters, wherever the pieces end', async () => {
    const command = `${process.execPath} -e 'const b=Buffer.from("äöü€😀".repeat(2000)); let i=0; (function n(){ if(i<b.length) process.stdout.write(b.subarray(i,i+=7),n) })()'`;
    expect(await run(command)).toMatchObject({ output: 'äöü€😀'.repeat(2_000) });
  });

  it('has whole characters around the gap', async () => {
    for (let maxOutputBytes = 20; maxOutputBytes < 30; maxOutputBytes += 1) {
      const { output } = await run(`printf '%s' ${'😀'.repeat(50)}`, { maxOutputBytes });
      expect(output).toMatch(/^(😀)+\n… \d+ bytes left out …\n(😀)+$/u);
    }
  });

  it('shows bytes that are no text as such', async () => {
    expect(await run(`printf 'a\\377b'`)).toMatchObject({ output: 'a\uFFFDb' });
  });

  it('is complete when the command ends right after writing', async () => {
    const { output } = await run('head -c 60000 /dev/zero | tr "\\0" x');
    expect(output).toHaveLength(60_000);
  });
});

describe('progress', () => {
  it('shows output while the command runs, at a bounded rate', async () => {
    const seen: string[] = [];
    const begun = performance.now();
    await callTool(
      shell({ progressIntervalMs: 50 }),
      'shell',
      { command: 'for i in $(seq 1 40); do echo line $i; sleep 0.01; done' },
      { onProgress: ({ message }) => void seen.push(message) },
    );
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThanOrEqual(Math.ceil((performance.now() - begun) / 50));
    expect(seen[0]).toMatch(/^line 1\n/u);
  });

  it('that nobody takes holds nothing up, and a failing reporter hurts nobody', async () => {
    const stuck = { onProgress: () => new Promise<void>(() => undefined) };
    const failing = { onProgress: () => Promise.reject(new Error('no sink')) };
    for (const options of [stuck, failing]) {
      const args = { command: 'echo a; sleep 0.05; echo b; sleep 0.05' };
      expect(await resultOf(shell({ progressIntervalMs: 1 }), 'shell', args, options)).toMatchObject({
        status: 'ok',
        output: 'a\nb\n',
      });
    }
  });
});

describe('the end of a command', () => {
  it('comes in time, with what was written until then', async () => {
    const result = await run('echo begun; sleep 100', {}, { timeout_seconds: 0.2 });
    expect(result).toMatchObject({
      status: 'timed_out',
      error: 'the command was ended after 0.2 s',
      output: 'begun\n',
    });
  });

  it('comes with the abort of the run, as a result that says so', async () => {
    const controller = new AbortController();
    const running = callTool(
      shell(),
      'shell',
      { command: 'echo $$ > pid; echo begun; sleep 100' },
      { signal: controller.signal },
    );
    await appears('pid');
    const begun = performance.now();
    controller.abort(new Error('stop'));
    const outcome = await running;
    // Less than what the exit of a shell that is not told to end would be waited for.
    expect(performance.now() - begun).toBeLessThan(900);
    expect(outcome.data).toMatchObject({ status: 'cancelled', output: 'begun\n' });
    expect(outcome.error).toBe('the command was ended because the run was aborted');
    expect(lives(pidOf('pid'))).toBe(false);
  });

  it('is not begun for a run that is aborted already', async () => {
    const aborted = AbortSignal.abort(new Error('stop'));
    await expect(callTool(shell(), 'shell', { command: 'touch ran' }, { signal: aborted })).rejects.toThrow('stop');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('gives programs the time to end well', async () => {
    const command = `trap 'echo bye; exit 0' TERM; echo up > up; while :; do sleep 0.01; done`;
    const result = await run(command, { killGraceMs: 5_000 }, { timeout_seconds: 0.3 });
    expect(result).toMatchObject({ status: 'timed_out' });
    expect(result['output']).toMatch(/bye\n$/u);
  });

  it('takes children and grandchildren along that ignore SIGTERM', async () => {
    const child = `trap "" TERM; echo $$ > child; sh -c 'echo $$ > grandchild; while :; do sleep 1; done'`;
    const command = `trap '' TERM; echo $$ > leader; sh -c '${child.replaceAll("'", `'"'"'`)}' & wait; sleep 100`;
    const controller = new AbortController();
    const running = callTool(shell(), 'shell', { command }, { signal: controller.signal });
    await appears('grandchild');
    controller.abort();
    await running;
    for (const name of ['leader', 'child', 'grandchild'])
      expect([name, lives(pidOf(name))]).toStrictEqual([name, false]);
  });

  it('does not wait for what runs on in the background, and takes it along', async () => {
    const begun = performance.now();
    const result = await run('sleep 100 & echo $! > background; echo done');
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(result).toMatchObject({
      status: 'ok',
      exit_code: 0,
      output: 'done\n',
      note: '1 background processes were ended with the command',
    });
    expect(lives(pidOf('background'))).toBe(false);
  });

  it('takes along what runs quietly in the background', async () => {
    await run('nohup sleep 100 >/dev/null 2>&1 & echo $! > background');
    expect(lives(pidOf('background'))).toBe(false);
  });

  it('takes along who made a group of its own', async () => {
    await run('set -m; sleep 100 & echo $! > background', { shell: '/bin/bash' });
    expect(lives(pidOf('background'))).toBe(false);
  });

  it('takes along who made a session of its own, with or without a living parent', async () => {
    const orphan = `${SETSID} 'echo $$ > orphan; exec sleep 100'`;
    await run(`${orphan}; while [ ! -s orphan ]; do sleep 0.01; done`);
    expect(lives(pidOf('orphan'))).toBe(false);

    // Without the marker in its environment, but with a parent that is known.
    const child = `env -i sh -c 'echo $$ > child; exec sleep 100'`;
    const result = await run(`setsid --wait ${child}`, {}, { timeout_seconds: 0.5 });
    expect(result).toMatchObject({ status: 'timed_out' });
    expect(lives(pidOf('child'))).toBe(false);
  });

  it('leaves others alone', async () => {
    const other = new AbortController();
    const running = callTool(shell(), 'shell', { command: 'echo $$ > other; sleep 100' }, { signal: other.signal });
    await appears('other');
    await run('sleep 100 & sleep 0.05');
    expect(lives(pidOf('other'))).toBe(true);
    other.abort();
    await running;
    expect(lives(pidOf('other'))).toBe(false);
  });

  it('comes for all commands when the tool is stopped', async () => {
    const tool = shell();
    const running = ['a', 'b'].map((name) => resultOf(tool, 'shell', { command: `echo $$ > ${name}; sleep 100` }));
    await Promise.all([appears('a'), appears('b')]);
    await tool.stop();
    expect(lives(pidOf('a')) || lives(pidOf('b'))).toBe(false);
    expect(await Promise.all(running)).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
  });

  it('comes when the process that called it exits', async () => {
    const program = `
      import { ShellTool } from ${JSON.stringify(new URL('./shell-tool.ts', import.meta.url).href)};
      const tool = new ShellTool({ cwd: ${JSON.stringify(folder)} });
      const signal = new AbortController().signal;
      void tool.call({ tool: tool.tools[0], arguments: { command: 'trap "" TERM HUP; echo $$ > leader; sleep 100' }, signal, progress: { report: async () => {} } });
      const { existsSync, readFileSync } = await import('node:fs');
      while (!existsSync(${JSON.stringify(join(folder, 'leader'))})) await new Promise((r) => setTimeout(r, 10));
      while (readFileSync(${JSON.stringify(join(folder, 'leader'))}, 'utf8') === '') await new Promise((r) => setTimeout(r, 10));
      process.exit(0);
    `;
    execFileSync(process.execPath, [...sourceFlags(), '--input-type=module', '-e', program], {
      env: { ...process.env, NODE_OPTIONS: '' },
      timeout: 20_000,
    });
    const pid = pidOf('leader');
    for (let tries = 0; tries < 200 && lives(pid); tries += 1) await delay(10);
    expect(lives(pid)).toBe(false);
  });

  it('leaves nothing behind: no descriptor, no listener, no zombie', async () => {
    const { signal } = new AbortController();
    const tool = shell();
    const once = () => callTool(tool, 'shell', { command: 'sleep 100 & echo x' }, { signal });
    await once();
    const before = readdirSync('/proc/self/fd').length;
    const listeners = process.listenerCount('exit');
    for (let i = 0; i < 10; i += 1) await once();
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
    expect(process.listenerCount('exit')).toBe(listeners);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(zombiesOf(process.pid)).toStrictEqual([]);
  });
});

/** Children that ended and were not waited for. */
function zombiesOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
        return fields[0] === 'Z' && Number(fields[1]) === parent;
      } catch {
        return false;
      }
    });
}

/** Lets a plain Node run the sources as they are. */
function sourceFlags(): string[] {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({
      resolve: (name, context, next) =>
        next(name.startsWith('.') && context.parentURL.endsWith('.ts') ? name.replace(/\\.js$/, '.ts') : name, context),
    });`;
  return [
    '--experimental-transform-types',
    '--no-warnings',
    '--conditions=parley-source',
    `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
  ];
}
