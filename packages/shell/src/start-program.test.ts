import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { livingProcesses } from './process-table.js';
import { ProgramStartError } from './program-start-error.js';
import { openDescriptors, zombiesOf } from './testing/command-folder.js';
import { ProgramFolder, textOf } from './testing/program-folder.js';

let folder: ProgramFolder;
beforeEach(() => {
  folder = new ProgramFolder();
});
afterEach(() => folder.remove());

describe('a program', () => {
  it('has pipes, its folder and just its environment', async () => {
    const env = { PATH: process.env['PATH'] ?? '', A: '1' };
    const text = 'cat; pwd; env | cut -d = -f 1 | sort; echo trouble >&2; exit 3';
    const program = await folder.start({ command: '/bin/sh', args: ['-c', text], env });
    program.stdin.end('hello\n');
    const [stdout, stderr, exit] = await Promise.all([textOf(program.stdout), textOf(program.stderr), program.exited]);
    expect(stdout).toBe(`hello\n${folder.path}\nA\nPARLEY_SHELL_CALL\nPATH\nPWD\n`);
    expect(stderr).toBe('trouble\n');
    expect(exit).toStrictEqual({ code: 3, signal: null });
    expect(program.exit).toStrictEqual(exit);
  });

  it('is told as ended by a signal', async () => {
    const program = await folder.sh('kill -9 $$');
    expect(program.exit).toBeUndefined();
    expect(await program.exited).toStrictEqual({ code: null, signal: 'SIGKILL' });
  });

  it('is found on the search path of its environment', async () => {
    writeFileSync(join(folder.path, 'here'), '#!/bin/sh\necho found "$1"\n', { mode: 0o755 });
    const program = await folder.start({ command: 'here', args: ['a b'], env: { PATH: folder.path } });
    expect(await textOf(program.stdout)).toBe('found a b\n');
  });

  it('is held up by an output that nobody reads, and goes on when it is read', async () => {
    const program = await folder.sh('head -c 3000000 /dev/zero; echo $$ > over');
    expect(await Promise.race([program.exited, delay(200, 'held up')])).toBe('held up');
    let bytes = 0;
    program.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await program.exited;
    await program.closed;
    expect(bytes).toBe(3_000_000);
  });

  it('that reads nothing holds up who writes to it', async () => {
    const program = await folder.sh('sleep 60');
    let taken = 0;
    for (let i = 0; i < 64; i += 1) program.stdin.write(Buffer.alloc(65_536), () => (taken += 1));
    await delay(100);
    expect(program.stdin.writableNeedDrain).toBe(true);
    expect(taken).toBeLessThan(64);
  });

  it('that has closed its input or has ended does not end this process by what is written to it', async () => {
    const program = await folder.sh('exec <&-; echo closed; sleep 60');
    await once(program.stdout, 'data');
    const failure = await new Promise((resolve) => program.stdin.write('x', resolve));
    expect(failure).toMatchObject({ code: 'EPIPE' });
    await program.end({ closeMs: 0, termMs: 0 });
    const late = await new Promise((resolve) => program.stdin.write('x', resolve));
    expect(late).toMatchObject({ message: expect.any(String) });
    await delay(10);
  });
});

describe('a program that cannot be started', () => {
  const failure = async (options: Parameters<ProgramFolder['start']>[0]): Promise<ProgramStartError> => {
    const error: unknown = await folder.start(options).catch((thrown: unknown) => thrown);
    if (!(error instanceof ProgramStartError)) throw new Error('it was started');
    return error;
  };

  it.each([
    ['it is not there', { command: '/nowhere/agent' }, 'ENOENT', 'does not exist'],
    ['it is not on the path', { command: 'no-such-agent' }, 'ENOENT', 'does not exist'],
    ['it is no program', { command: '/etc/passwd' }, 'EACCES', 'permission denied'],
    ['it is a folder', { command: '/etc' }, 'EACCES', 'permission denied'],
    ['of too many arguments', { command: '/bin/true', args: ['x'.repeat(3_000_000)] }, 'E2BIG', 'argument list'],
    ['of an argument', { command: '/bin/true', args: ['hidden\0value'] }, 'EINVAL', 'not valid'],
    ['of a variable', { command: '/bin/true', env: { A: 'hidden\0value' } }, 'EINVAL', 'not valid'],
    ['it has no name', { command: '' }, 'EINVAL', 'not valid'],
  ])('because %s is told by its name', async (_why, options, code, reason) => {
    const error = await failure(options);
    expect(error.code).toBe(code);
    expect(error.reason).toContain(reason);
    expect(error.message).toContain(`the program ${options.command} could not be started`);
    expect(inspect(error, { depth: 9 })).not.toContain('hidden');
    expect(error.cause).toBeUndefined();
  });

  it('because its interpreter is missing says that this may be', async () => {
    writeFileSync(join(folder.path, 'agent'), '#!/nowhere/interpreter\n', { mode: 0o755 });
    expect((await failure({ command: join(folder.path, 'agent') })).reason).toContain('what it says it runs by');
  });

  it('because it may not be run is told apart from one that is missing', async () => {
    writeFileSync(join(folder.path, 'agent'), '#!/bin/sh\n');
    chmodSync(join(folder.path, 'agent'), 0o644);
    expect((await failure({ command: join(folder.path, 'agent') })).code).toBe('EACCES');
  });

  it('because a line for a shell was given says so, without what follows the first word', async () => {
    const { message, code } = await failure({ command: 'agent --token=hidden --serve' });
    expect(code).toBe('ENOENT');
    expect(message).toContain('agent …');
    expect(message).toContain('no line for a shell');
    expect(message).not.toContain('hidden');
  });

  it('because its folder is gone is not told as missing', async () => {
    expect((await failure({ command: '/bin/true', cwd: '/nowhere' })).reason).toBe('the working folder does not exist');
  });

  it('leaves nothing', async () => {
    await failure({ command: '/nowhere/agent' });
    const before = openDescriptors();
    const listeners = process.listenerCount('exit');
    for (let i = 0; i < 50; i += 1)
      await failure({ command: i % 2 === 0 ? '/nowhere/agent' : '/bin/true', args: ['\0'] });
    expect(openDescriptors()).toBeLessThanOrEqual(before);
    expect(process.listenerCount('exit')).toBe(listeners);
  });

  it('because that was called off before is not started', async () => {
    const reason = new Error('not wanted any more');
    const signal = AbortSignal.abort(reason);
    await expect(folder.start({ command: '/bin/sh', args: ['-c', 'echo > begun'], signal })).rejects.toBe(reason);
  });
});

describe('many programs', () => {
  it('leave no process, descriptor, listener or timer', async () => {
    const round = async (i: number) => {
      const program = await folder.sh(`${i % 4 === 0 ? 'sleep 600 & ' : ''}cat; echo bye >&2`);
      program.stdin.write('hello\n');
      await once(program.stdout, 'data');
      expect(await program.end({ closeMs: 5_000, termMs: 300 })).toMatchObject({ left: 0 });
      return program.pid;
    };
    await round(0);
    const before = counts();
    const pids: number[] = [];
    for (let i = 0; i < 200; i += 10) {
      pids.push(...(await Promise.all(Array.from({ length: 10 }, (_, j) => round(i + j)))));
    }
    expect(pids).toHaveLength(200);
    expect(livingProcesses().filter(({ session }) => pids.includes(session))).toStrictEqual([]);
    expect(zombiesOf(process.pid)).toStrictEqual([]);
    const after = counts();
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.handles).toBeLessThanOrEqual(before.handles);
    // The runner of the tests has timers of its own.
    expect(after.timers).toBeLessThanOrEqual(before.timers + 1);
    expect(after.listeners).toBe(before.listeners);
  }, 40_000);
});

function counts() {
  const resources = process.getActiveResourcesInfo();
  return {
    descriptors: openDescriptors(),
    listeners: process.listenerCount('exit'),
    handles: resources.filter((name) => /^(Process|Pipe)/u.test(name)).length,
    timers: resources.filter((name) => name === 'Timeout').length,
  };
}
