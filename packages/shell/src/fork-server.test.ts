import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ForkServerLauncher } from './fork-server-launcher.js';
import { runCommand, type CommandEnd } from './run-command.js';
import { spawnLauncher } from './spawn-launcher.js';
import { CommandFolder, forkServer, lives, openDescriptors, parentOf, zombiesOf } from './testing/command-folder.js';
import { describeOnLinux } from './testing/describe-on-linux.js';
import { PLAIN_NODE } from './testing/plain-node.js';

const PROGRAM = fileURLToPath(new URL('./testing/dying-program.ts', import.meta.url));
const LOST = 'error: it is not known how the command ended: the process that starts commands was ended\n';
const QUIET = '>/dev/null 2>&1 </dev/null';
const HIDE = 'env -i "$(command -v setsid)" /bin/sh -c';

let folder: CommandFolder;
beforeEach(() => {
  folder = new CommandFolder(forkServer);
});
afterEach(() => folder.remove());

const serverPid = (): number => {
  const pid = forkServer.serverPid;
  if (pid === undefined) throw new Error('no fork server');
  return pid;
};

/** A command with one pipe for its output and its errors. */
async function merged(text: string): Promise<{ end: CommandEnd; output: string }> {
  let output = '';
  const end = await runCommand({
    shell: '/bin/bash',
    text,
    cwd: folder.path,
    env: { PATH: process.env['PATH'] ?? '' },
    id: 'merged',
    timeoutMs: 10_000,
    killGraceMs: 100,
    signal: new AbortController().signal,
    onOutput: (chunk) => (output += chunk.toString()),
    launcher: forkServer,
  });
  return { end, output };
}

const hasNoZombies = () => zombiesOf(serverPid()).length === 0;

/** Until it is so, for two seconds at most. */
async function soon(isSo: () => boolean): Promise<void> {
  for (const until = performance.now() + 2_000; !isSo() && performance.now() < until;) await delay(10);
}

async function ended(pid: number): Promise<void> {
  while (lives(pid)) await delay(5);
}

describeOnLinux('a command of the fork server', () => {
  it('may open its output by name', async () => {
    const text = 'echo a > /dev/stdout; echo b > /dev/stderr; echo c >> /proc/self/fd/1';
    expect(await folder.run(text)).toMatchObject({ stdout: 'a\nc\n', stderr: 'b\n', exitCode: 0 });
  });

  it('has one pipe for both if they are merged', async () => {
    const { end, output } = await merged('echo a; echo b >&2; echo c > /dev/stdout; echo d > /dev/stderr; kill -9 $$');
    expect(output).toBe('a\nb\nc\nd\n');
    expect(end).toMatchObject({ cause: 'exited', exitCode: null, exitSignal: 'SIGKILL' });
  });

  it.each([
    ['exit 137', 137],
    ['kill -9 $$', -9],
    ['kill -34 $$', -34],
  ])('ended by `%s` has the code %p', async (text, exitCode) => {
    expect(await folder.run(text)).toMatchObject({ exitCode });
  });

  it('has just its environment, byte by byte, and no descriptor but its own', async () => {
    const env = { PATH: process.env['PATH'] ?? '', A: 'ü=\n "x"', B: '' };
    const { stdout } = await folder.run(`exec cat /proc/self/environ`, { env });
    const entries = stdout
      .split('\0')
      .filter((entry) => !/^(PARLEY_SHELL_CALL=.*|PWD=.*|SHLVL=.*|_=.*)?$/u.test(entry));
    expect(entries.sort()).toStrictEqual(['A=ü=\n "x"', 'B=', `PATH=${env.PATH}`]);
    expect((await folder.run('exec ls /proc/self/fd')).stdout).toBe('0\n1\n2\n3\n');
  });

  it('has no signal ignored or blocked', async () => {
    const { stdout } = await folder.run(`exec grep -E 'Sig(Blk|Ign)' /proc/self/status`);
    const [blocked, ignored] = [...stdout.matchAll(/\t([0-9a-f]{16})$/gmu)].map(([, mask]) => BigInt(`0x${mask}`));
    // Signals 32 and 33 belong to the C library, which lets nobody set them.
    const ofTheLibrary = 0b11n << 31n;
    expect([blocked, (ignored ?? -1n) & ~ofTheLibrary]).toEqual([0n, 0n]);
  });
});

describeOnLinux('the fork server', () => {
  it('has nothing secret, nothing of ours, and a session and folder of its own', async () => {
    await folder.run('true');
    const pid = serverPid();
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    expect(environment.map((entry) => entry.split('=')[0]).sort()).toStrictEqual(['PARLEY_SHELL_CALL', 'PATH']);
    expect(parentOf(pid)).toBe(process.pid);
    // Both pipes, three times nothing: /dev/null twice and the signals.
    expect(openDescriptors(pid)).toBe(5);
  });

  it('keeps neither descriptors nor zombies of 200 commands', async () => {
    await folder.run('true');
    const own = openDescriptors();
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => folder.run(i % 4 === 0 ? 'sleep 9 & echo x' : 'echo x')));
      await Promise.all(Array.from({ length: 5 }, () => folder.run('true', { shell: '/nowhere/sh' })));
    }
    // The server has to get its turn to wait for the last of them.
    await soon(() => openDescriptors() <= own && openDescriptors(serverPid()) === 5 && hasNoZombies());
    expect(openDescriptors()).toBeLessThanOrEqual(own);
    expect(openDescriptors(serverPid())).toBe(5);
    expect(zombiesOf(serverPid())).toStrictEqual([]);
  }, 30_000);

  it('waits for orphans', async () => {
    await folder.run('i=0; while [ $i -lt 200 ]; do (sleep 0.05 &); i=$((i+1)); done >/dev/null 2>&1');
    // All of them have ended by then.
    await delay(300);
    await soon(hasNoZombies);
    expect(zombiesOf(serverPid())).toStrictEqual([]);
  });

  it('shows orphans that hide from everything else, which end with their command', async () => {
    const running = folder.start(`(${HIDE} 'echo $$ > ${folder.path}/hidden; exec /bin/sleep 600' ${QUIET} &); true`);
    await running.result;
    const pid = await folder.pid('hidden');
    expect(parentOf(pid)).toBe(serverPid());
    expect(await running.end()).toStrictEqual({ found: 1, left: 0 });
    expect(lives(pid)).toBe(false);
  });

  it('starts commands that are not taken for orphans of those that end meanwhile', async () => {
    const end = performance.now() + 3_000;
    const loop = async () => {
      while (performance.now() < end) {
        const running = folder.start('sleep 0.02 & exit 3');
        expect(await running.result).toMatchObject({ exitCode: 3, stderr: '' });
        expect((await running.end()).left).toBe(0);
      }
    };
    await Promise.all(Array.from({ length: 8 }, loop));
  }, 15_000);

  it.each(['TERM', 'INT', 'HUP', 'USR1'])('is not ended by a command with %s', async (signal) => {
    await folder.run('true');
    const pid = serverPid();
    expect(await folder.run(`kill -${signal} $PPID; echo on`)).toMatchObject({ stdout: 'on\n', exitCode: 0 });
    expect(serverPid()).toBe(pid);
  });

  it('that is killed before it tells of a start leaves that open, and ends what may have begun', async () => {
    await folder.run('true');
    process.kill(serverPid(), 'SIGSTOP');
    const running = merged('echo begun; sleep 600');
    process.kill(serverPid(), 'SIGKILL');
    const { end, output } = await running;
    expect(end).toMatchObject({ cause: 'exited', exitCode: 126, exitSignal: null, survivors: 0 });
    expect(output).toBe(LOST);
  });

  it('goes on when a command has stopped it', async () => {
    expect(await folder.run('kill -STOP $PPID; echo on')).toMatchObject({ stdout: 'on\n', exitCode: 0 });
  });

  it('that is killed by a command ends that one with a word, and the next one works', async () => {
    const running = folder.start(
      'sleep 600 & echo $! > child; echo begun; until [ -e go ]; do sleep 0.01; done; kill -9 $PPID; sleep 600',
    );
    const child = await folder.pid('child');
    const old = serverPid();
    writeFileSync(join(folder.path, 'go'), '');
    expect(await running.result).toMatchObject({ stdout: 'begun\n', stderr: LOST, exitCode: 126, timedOut: false });
    expect(lives(child)).toBe(false);
    expect(await folder.run('echo next')).toMatchObject({ stdout: 'next\n', exitCode: 0 });
    expect(serverPid()).not.toBe(old);
  });

  it('that is killed by a command at once leaves nothing of it', async () => {
    for (let i = 0; i < 5; i += 1) {
      const text = `sleep 600 ${QUIET} & echo $! > child${i}; kill -9 $PPID; sleep 600`;
      const result = await folder.run(text);
      // Whether its start was told before or not: it may have begun, so nobody says that it did not.
      expect(result).toMatchObject({ exitCode: 126, stderr: LOST });
      await ended(await folder.pid(`child${i}`));
    }
    expect(await folder.run('echo next')).toMatchObject({ stdout: 'next\n' });
  });

  it('that is killed takes no other command for ended that it had told of', async () => {
    const other = folder.start('echo $$ > other; sleep 600');
    const pid = await folder.pid('other');
    await folder.run('kill -9 $PPID');
    expect(await other.result).toMatchObject({ exitCode: 126, stderr: LOST });
    expect(lives(pid)).toBe(false);
  });

  it('ends everything when this process is killed, and then itself', async () => {
    const commands = [
      `trap '' TERM; echo $$ > a; sleep 600`,
      `setsid sh -c 'echo $$ > b; exec sleep 600' ${QUIET} & wait`,
      `(${HIDE} 'echo $$ > ${folder.path}/c; exec /bin/sleep 600' ${QUIET} &); true`,
      `(${HIDE} '(echo a; /bin/sleep 600) & echo $! > ${folder.path}/d; exit 0' ${QUIET} &); sleep 600`,
    ];
    const child = spawn(process.execPath, [...PLAIN_NODE, PROGRAM, ...commands], {
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [told] = (await once(child.stdout, 'data')) as [Buffer];
    const server = Number(told.toString());
    const pids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => folder.pid(name)));
    expect([server, ...pids].map(lives)).toStrictEqual([true, true, true, true, true]);
    child.kill('SIGKILL');
    await ended(server);
    expect(pids.map(lives)).toStrictEqual([false, false, false, false]);
  }, 15_000);
});

describeOnLinux('where there can be no fork server', () => {
  const withPerl = (program: string | undefined) => {
    if (program !== undefined) {
      writeFileSync(join(folder.path, 'perl'), `#!/bin/sh\n${program}\n`);
      chmodSync(join(folder.path, 'perl'), 0o755);
    }
    return new ForkServerLauncher(spawnLauncher, folder.path);
  };

  it.each([
    ['there is no perl', undefined],
    ['it fails', 'exit 3'],
    ['it speaks of something else', 'echo "R 999"; read x'],
  ])('because %s, commands are started without', async (_why, program) => {
    const launcher = withPerl(program);
    for (let i = 0; i < 5; i += 1) expect(await folder.run('echo hi', { launcher })).toMatchObject({ stdout: 'hi\n' });
    expect(launcher.serverPid).toBeUndefined();
  });

  it('it is tried three times and not again', async () => {
    const launcher = withPerl(`echo x >> ${folder.path}/tries; exit 3`);
    for (let i = 0; i < 6; i += 1) await folder.run('true', { launcher });
    expect(readFileSync(join(folder.path, 'tries'), 'utf8')).toBe('x\nx\nx\n');
  });
});
