import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { inspect } from 'node:util';
import { ChildStartError } from './child-errors.js';
import { startChild, type ChildProgram, type StartChildOptions } from './start-child.js';

const children: ChildProgram[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.end({ closeMs: 0, termMs: 0 })));
});

async function start(text: string, options: Partial<StartChildOptions> = {}): Promise<ChildProgram> {
  const child = await startChild({ command: '/bin/sh', args: ['-c', text], cwd: tmpdir(), ...options });
  children.push(child);
  child.stdout.resume();
  return child;
}

async function startNode(text: string, options: Partial<StartChildOptions> = {}): Promise<ChildProgram> {
  return start('', { command: process.execPath, args: ['-e', text], ...options });
}

describe('how a child ended', () => {
  it.each([
    ['exit 0', 'the child exited with code 0'],
    ['exit 3', 'the child exited with code 3'],
    ['echo "no such model" >&2; exit 3', 'the child exited with code 3: no such model'],
    ['kill -9 $$', 'the child was killed by SIGKILL'],
    ['echo trouble >&2; kill -SEGV $$', 'the child was killed by SIGSEGV: trouble'],
  ])('is told after `%s`', async (text, told) => {
    const child = await start(text);
    await child.exited;
    expect(child.describeExit()).toBe(told);
  });

  it('is not told while it runs', async () => {
    const child = await start('cat');
    expect(child.describeExit()).toBe('the child is running');
    expect(child.exit).toBeUndefined();
    await child.end();
    expect(child.describeExit()).toBe('the child exited with code 0');
  });

  it('is known when the last output was read', async () => {
    const child = await startNode(
      `process.stdout.write('x'.repeat(500000)); process.stderr.write('y'.repeat(5000) + ' the last')`,
    );
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await child.exited;
    expect(bytes).toBe(500_000);
    expect(child.describeExit()).toMatch(/ the last$/u);
  });

  it('is known soon also when somebody else holds its pipes', async () => {
    const child = await start('sleep 600 & exit 4');
    const begun = performance.now();
    expect(await child.exited).toStrictEqual({ code: 4, signal: null });
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(await child.end({ closeMs: 0, termMs: 500 })).toStrictEqual({ found: 1, left: 0 });
  });
});

describe('the last errors of a child', () => {
  it('are bounded, and have whole characters', async () => {
    const child = await startNode(`process.stderr.write('ä€😀'.repeat(20000))`, { maxStderrBytes: 100 });
    await child.exited;
    const tail = child.stderrTail;
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(100);
    expect(Buffer.byteLength(tail)).toBeGreaterThan(95);
    expect(tail).toMatch(/^[ä€😀]+$/u);
  });

  it('never hold up a child that writes many of them', async () => {
    const child = await startNode(
      `require('fs').writeSync(2, 'z'.repeat(60000)); for (let i = 0; i < 100; i++) process.stderr.write('z'.repeat(60000)); process.exitCode = 5`,
    );
    expect(await child.exited).toStrictEqual({ code: 5, signal: null });
    expect(child.describeExit().length).toBeLessThan(4_096);
  });

  it('steer no terminal', async () => {
    const child = await startNode(
      String.raw`process.stderr.write('\x1b[31mred\x1b[0m \x1b]0;title\x07\x07\x9b5m\u202eright\r\nnext\tline')`,
    );
    await child.exited;
    expect(child.stderrTail).toBe('red 5mright\nnext\tline');
  });

  it('tell nothing of what it was given', async () => {
    const args = [
      '-e',
      'console.error(process.env.LOGIN, process.argv.slice(1).join(" "), process.env.GIVEN, "sent Authorization: Bearer abcdefgh")',
      '--token=hidden-argument',
      '--mode',
      'hidden-word',
      '/a/path',
    ];
    const parentEnv = { PATH: process.env['PATH'], GIVEN: 'hidden-forwarded' };
    const env = { LOGIN: 'hidden-variable' };
    const child = await start('', {
      command: process.execPath,
      args: ['--', ...args].slice(1),
      env,
      parentEnv,
      forwardEnv: ['GIVEN'],
    });
    await child.exited;
    const told = child.describeExit();
    expect(told).toContain('[redacted]');
    expect(told).not.toContain('hidden');
    expect(told).not.toContain('abcdefgh');
    expect(inspect(child, { depth: 1 })).not.toContain('hidden');
    expect(child.safeText('said hidden-variable')).toBe('said [redacted]');
  });

  it('have no rest of a value that the bound cut in two', async () => {
    const secret = 'abcdefghijklmnopqrstuvwxyz';
    const env = { LOGIN: secret };
    const child = await startNode(`process.stderr.write('x'.repeat(50) + process.env.LOGIN + ' end')`, {
      env,
      maxStderrBytes: 14,
    });
    await child.exited;
    expect(child.stderrTail).toBe('end');
  });
});

describe('a child that cannot be started', () => {
  it.each([
    ['/nowhere/agent', 'ENOENT'],
    ['no-such-agent', 'ENOENT'],
    ['/etc/passwd', 'EACCES'],
    ['agent --token hidden', 'ENOENT'],
    ['', 'EINVAL'],
  ])('%j is told as %s, by its name', async (command, systemCode) => {
    const options = { command, args: ['hidden'], env: { A: 'hidden' }, cwd: tmpdir() };
    const error: unknown = await startChild(options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChildStartError);
    expect(error).toMatchObject({ systemCode, code: 'child_start_failed' });
    expect((error as ChildStartError).message).toContain(command.split(' ')[0]);
    expect(inspect(error, { depth: 9 })).not.toContain('hidden');
  });

  it('because it was called off is not started', async () => {
    const reason = new Error('called off');
    const begun = start('cat', { signal: AbortSignal.abort(reason) });
    await expect(begun).rejects.toBe(reason);
  });
});

it('a child that stops reading does not end this process', async () => {
  const child = await start('exec <&-; echo >&2; sleep 600');
  await once(child.stdout, 'resume').catch(() => undefined);
  const failure = new Promise((resolve) => {
    const write = () => child.stdin.write('x\n', (error) => (error ? resolve(error) : setTimeout(write, 5)));
    write();
  });
  expect(await failure).toMatchObject({ code: expect.stringMatching(/^(EPIPE|ECONNRESET)$/u) });
  expect((await child.end({ closeMs: 0, termMs: 100 })).left).toBe(0);
});
