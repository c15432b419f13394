import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeIo, fakeIo } from '../test-support/fake-io.js';
import { runCli } from './run-cli.js';

let folder: string;
let running: { readonly io: FakeIo; readonly exitCode: Promise<number> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  await writeFile(join(folder, 'notes.txt'), 'the blue door\n');
});

afterEach(async () => {
  for (const { io, exitCode } of running) {
    io.signals.emit('SIGTERM');
    await exitCode;
  }
  running = [];
  await rm(folder, { recursive: true, force: true });
});

/** The program with the offline model, in a folder of its own. */
function start(argv: readonly string[], isTty: boolean, env: Record<string, string> = {}) {
  const io = fakeIo({ isTty, cwd: folder, env: { PARLEY_HOME: join(folder, 'home'), NO_COLOR: '1', ...env } });
  const exitCode = runCli(['run', ...argv], io, '0.0.0');
  running.push({ io, exitCode });
  return { io, exitCode };
}

async function print(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, exitCode } = start(['-p', ...argv], false);
  setImmediate(() => io.stdin.emit('end'));
  return { code: await exitCode, out: io.out.text, err: io.err.text };
}

const calls = (...all: readonly (readonly [string, object])[]): string =>
  JSON.stringify(all.map(([tool, args]) => ({ tool, arguments: args })));

const READ = calls(['read_file', { path: 'notes.txt' }]);
const shell = (command: string): string => calls(['shell', { command }]);

describe('parley run --print', () => {
  it('works with files, answers, and says that no model is behind it', async () => {
    const { code, out, err } = await print(READ);
    expect(code).toBe(0);
    expect(out).toContain('the blue door');
    expect(err).toBe('parley: the offline model answers, no model is behind it: OPENAI_API_KEY is not set\n');
  });

  it('runs no command unless it was allowed', async () => {
    const touch = shell('touch made');
    expect((await print(touch)).err).toContain('shell was not run: --allow or --yes let it');
    expect(await readdir(folder)).not.toContain('made');
    expect((await print('--allow', 'write', touch)).err).toContain('shell was not run');
    expect((await print('--allow', 'shell', touch)).code).toBe(0);
    expect(await readdir(folder)).toContain('made');
  });

  it('sees nothing outside of its folder', async () => {
    expect((await print(calls(['read_file', { path: '/etc/hostname' }]))).out).toMatch(/failed/u);
  });

  it('goes on with the latest session, and keeps sessions from others', async () => {
    await print('--session', 'mine', READ);
    const { code } = await print('--resume', 'and go on');
    expect(code).toBe(0);
    const { io, exitCode } = start(['--sessions'], false);
    expect(await exitCode).toBe(0);
    expect(io.out.text).toMatch(/^mine {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}6 messages {2}\[\{"tool"/u);
    const sessions = join(folder, 'home', 'sessions');
    const [file = ''] = (await readdir(sessions)).filter((name) => name.endsWith('.jsonl'));
    expect((await stat(join(sessions, file))).mode & 0o077).toBe(0);
    expect(await readFile(join(sessions, file), 'utf8')).toContain('"session_id":"mine"');
  });

  it('stops a command that runs', async () => {
    const { io, exitCode } = start(['-p', '--yes', '--json', shell('sleep 60')], false);
    setImmediate(() => io.stdin.emit('end'));
    await io.out.shows('"kind":"tool_started"');
    io.signals.emit('SIGINT');
    expect(await exitCode).toBe(130);
    expect(io.out.text.trimEnd().split('\n').at(-1)).toContain('"stopReason":"external_abort"');
  });

  it('fails with 1 when a limit was reached', async () => {
    const { code, err } = await print('--max-steps', '1', READ);
    expect(code).toBe(1);
    expect(err).toContain('failed (max_steps)');
  });

  it.each([
    [['--cwd', 'nowhere', 'x'], /nowhere is not a folder/u],
    [['--skills', 'nowhere', 'x'], /nowhere is not a folder/u],
    [['--mcp', 'nowhere.json', 'x'], /nowhere\.json/u],
    [['--resume', 'x', 'task'], /no session x/u],
    [['--model', 'x', 'task'], /OPENAI_API_KEY/u],
    [['--resume', '-p', 'task'], /no session to go on with/u],
    [['--max-steps', 'x', 'task'], /whole number/u],
    [[], /a task is needed/u],
  ])('%j ends with 2 and one line', async (argv, message) => {
    const { code, out, err } = await print(...argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err).toMatch(/^parley: [^\n]+\n$/u);
  });

  it('refuses a model that cannot be reached like this', async () => {
    const { io, exitCode } = start(['-p', '-m', 'x', '--base-url', 'ftp://x', 'hi'], false, {
      OPENAI_API_KEY: 'secret-key',
    });
    setImmediate(() => io.stdin.emit('end'));
    expect(await exitCode).toBe(2);
    expect(io.err.text).toMatch(/^parley: .*OPENAI_BASE_URL.*\n$/u);
    expect(io.err.text).not.toContain('secret-key');
  });
});

describe('parley run', () => {
  it('asks before a command, runs it, and remembers an answer for the tool', async () => {
    const { io } = start(
      [
        calls(
          ['read_file', { path: 'notes.txt' }],
          ['shell', { command: 'echo one' }],
          ['shell', { command: 'echo two' }],
        ),
      ],
      true,
    );
    await io.tty.shows(/no model is behind it/u);
    await io.tty.shows(/✓ read_file \d\.\d s {2}notes\.txt\n {2}│ the blue door/u);
    await io.tty.shows('? shell asks to run\n  command: echo one');
    io.tty.type('a\r');
    await io.tty.shows(/✓ shell \d\.\d s {2}echo one\n {2}│ one/u);
    await io.tty.shows(/✓ shell \d\.\d s {2}echo two\n {2}│ two/u);
    await io.tty.shows(/\d turns · [\d,]+ tokens/u);
    expect(io.tty.screen.all.match(/asks to run/gu)).toHaveLength(1);
  });

  it('a denied command is not run, and the task goes on', async () => {
    const { io } = start([shell('touch made')], true);
    await io.tty.shows('allow?');
    io.tty.type('\r');
    await io.tty.shows(/⊘ shell denied, \d\.\d s {2}touch made\n {2}│ denied by the user/u);
    await io.tty.shows(/2 turns/u);
    expect(await readdir(folder)).not.toContain('made');
  });

  it('Ctrl-C while it asks: nothing is run, the task ends, the session can be gone on with', async () => {
    const { io, exitCode } = start(['--session', 'one', shell('touch made')], true);
    await io.tty.shows('allow?');
    io.tty.type('\u0003');
    await io.tty.shows('aborted: interrupted by the user');
    io.tty.type(`${READ}\r`);
    await io.tty.shows('│ the blue door');
    await io.tty.shows(/2 turns/u);
    io.tty.type('\u0004');
    expect(await exitCode).toBe(0);
    expect(await readdir(folder)).not.toContain('made');
  });

  it('steers, stops a command, comes back to the session, and forks it', async () => {
    const first = start(['--yes', '--session', 'one', shell('echo started; sleep 60')], true);
    await first.io.tty.shows(/◌ shell/u);
    first.io.tty.type('never mind\r');
    await first.io.tty.shows('queued: never mind');
    first.io.tty.type('\u0003');
    await first.io.tty.shows('not applied (external_abort): never mind');
    await first.io.tty.shows('aborted: interrupted by the user');
    first.io.tty.type(`${READ}\r`);
    await first.io.tty.shows('│ the blue door');
    await first.io.tty.shows(/2 turns/u);
    first.io.tty.type('\u0004');
    expect(await first.exitCode).toBe(0);
    expect(first.io.tty.screen.text).toContain('parley run --resume one');

    const second = start(['--resume'], true);
    await second.io.tty.shows('session one, resumed');
    expect(second.io.tty.screen.all).toMatch(/⊘ shell cancelled {2}echo started; sleep 60/u);
    expect(second.io.tty.screen.all).toMatch(/✓ read_file {2}notes\.txt\n {2}│ the blue door/u);
    second.io.tty.type('/fork\r');
    await second.io.tty.shows('session one@fork-1, resumed');
    second.io.tty.type(`${READ}\r`);
    await second.io.tty.shows(/turns · /u);
    second.io.tty.type('/sessions\r');
    await second.io.tty.shows(/one@fork-1 +\S+ \S+ +\d+ messages[^]*\none +\S+ \S+ +\d+ messages/u);
    second.io.tty.type('/quit\r');
    expect(await second.exitCode).toBe(0);
  });

  it('steering is applied to the run', async () => {
    const { io } = start(['--yes', shell('sleep 0.5')], true);
    await io.tty.shows(/◌ shell/u);
    io.tty.type(`${READ}\r`);
    await io.tty.shows('(steering)');
    await io.tty.shows('│ the blue door');
  });

  it('a follow-up comes after the task', async () => {
    const { io } = start(['--yes', shell('sleep 0.3')], true);
    await io.tty.shows(/◌ shell/u);
    io.tty.type(`/followup ${READ}\r`);
    await io.tty.shows('follow-up 1');
    await io.tty.shows(/turns · [^]*> \[\{"tool":"read_file"[^]*│ the blue door/u);
  });

  it('stops within a moment, the command with it, when it has to end', async () => {
    const { io, exitCode } = start(['--yes', shell('echo $$ > pid; exec sleep 60')], true);
    await io.tty.shows(/◌ shell/u);
    const pid = await untilFile(join(folder, 'pid'));
    io.signals.emit('SIGHUP');
    expect(await exitCode).toBe(129);
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
    expect(io.tty.isRaw).toBe(false);
  });

  it('a terminal that cannot be drawn on gets the plain form', async () => {
    const { io, exitCode } = start([READ], true, { TERM: 'dumb' });
    expect(await exitCode).toBe(0);
    expect(io.tty.written).not.toContain('\u001b');
    expect(io.tty.written).toContain('the blue door');
  });

  it('/compact and /continue do what they say', async () => {
    const { io } = start([READ], true);
    await io.tty.shows(/turns · /u);
    io.tty.type('/compact\r');
    await io.tty.shows('context');
    io.tty.type('/continue\r');
    await io.tty.shows('(continues)');
  });
});

async function untilFile(path: string): Promise<string> {
  for (;;) {
    const content = await readFile(path, 'utf8').catch(() => '');
    if (content.endsWith('\n')) return content.trim();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
