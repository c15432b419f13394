import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFolder, LAUNCHERS, openDescriptors, zombiesOf } from './testing/command-folder.js';

describe.each(LAUNCHERS)('by %s', (_launcher, launcher) => {
  let folder: CommandFolder;
  beforeEach(() => {
    folder = new CommandFolder(launcher);
  });
  afterEach(() => folder.remove());

  describe('the result of a command', () => {
    it('has both streams, each for itself, and the exit code', async () => {
      expect(await folder.run('echo one; echo two >&2; echo three; exit 3')).toStrictEqual({
        exitCode: 3,
        stdout: 'one\nthree\n',
        stderr: 'two\n',
        stdoutBytes: 10,
        stderrBytes: 4,
        truncated: false,
        timedOut: false,
      });
    });

    it.each([
      ['kill -9 $$', -9],
      ['kill -9 0', -9],
      ['kill -TERM $$', -15],
      ['kill -SEGV $$', -11],
      ['sh -c "kill -9 \\$\\$"; true', 0],
      ['nothing-of-that-name', 127],
      ['if', 2],
      ['', 0],
      ['# only a comment', 0],
      ['exit 255', 255],
    ])('of `%s` has the code %p', async (text, exitCode) => {
      expect(await folder.run(text)).toMatchObject({ exitCode, timedOut: false });
    });

    it('says what the shell says, by its name', async () => {
      expect(await folder.run('nothing-of-that-name')).toMatchObject({
        stderr: 'bash: line 1: nothing-of-that-name: command not found\n',
      });
      expect(await folder.run('echo "$0" "$#"')).toMatchObject({ stdout: 'bash 0\n' });
    });

    it('comes at once', async () => {
      await folder.run('true');
      const times: number[] = [];
      for (let i = 0; i < 15; i += 1) {
        const begun = performance.now();
        await folder.start('true').result;
        times.push(performance.now() - begun);
      }
      // The fastest: looking every 50 ms whether it is over would hold up every one, a busy machine does not.
      expect(Math.min(...times)).toBeLessThan(45);
    });
  });

  describe('a command', () => {
    it.each([
      ['cat', ''],
      ['read x || echo none', 'none\n'],
      ['wc -c', '0\n'],
      [`${process.execPath} -e 'process.stdin.on("end", () => console.log("end")).resume()'`, 'end\n'],
      ['cat & wait', ''],
    ])('finds its input at its end: `%s`', async (text, stdout) => {
      expect(await folder.run(text, { timeoutMs: 5_000 })).toMatchObject({ stdout, timedOut: false });
    });

    it('leads a session of its own, in its folder, with just its environment', async () => {
      const { stdout } = await folder.run('cut -d " " -f 5,6 /proc/$$/stat; echo $$ $$; pwd');
      const [own, wanted, cwd] = stdout.split('\n');
      expect(own).toBe(wanted);
      expect(cwd).toBe(folder.path);
      const env = { PATH: process.env['PATH'] ?? '', A: '1' };
      expect((await folder.run('env | cut -d = -f 1', { env })).stdout.split('\n').sort()).toStrictEqual(
        ['', 'A', 'PARLEY_SHELL_CALL', 'PATH', 'PWD', 'SHLVL', '_'].sort(),
      );
    });

    it('may have no end of its time', async () => {
      for (const timeoutMs of [Infinity, 2 ** 31, 1e300]) {
        expect(await folder.run('sleep 0.05; echo done', { timeoutMs })).toMatchObject({ stdout: 'done\n' });
      }
    });

    it('that sees no output pipe any more is done when it exits', async () => {
      expect(await folder.run('exec >&- 2>&-; sleep 0.05; exit 4')).toMatchObject({ exitCode: 4 });
    });
  });

  describe('a command that cannot be started', () => {
    it.each([
      ['a NUL in its text', 'echo a\0b', {}, 'its text is not valid'],
      ['too long a text', `: ${'x'.repeat(3_000_000)}`, {}, 'argument list too long'],
      ['no such shell', 'true', { shell: '/nowhere/sh' }, 'the shell does not exist'],
      ['a shell that is no program', 'true', { shell: '/etc/passwd' }, 'permission denied'],
      ['a folder that is none', 'true', { cwd: '/etc/passwd' }, 'the working folder is no folder'],
      ['a NUL in its environment', 'true', { env: { A: 'a\0b' } }, 'its text is not valid'],
    ])('because of %s, has code 126 and says why', async (_what, text, options, why) => {
      const stderr = `error: the command couldn't start: ${why}`;
      expect(await folder.run(text, options)).toStrictEqual({
        exitCode: 126,
        stdout: '',
        stderr,
        stdoutBytes: 0,
        stderrBytes: Buffer.byteLength(stderr),
        truncated: false,
        timedOut: false,
      });
    });

    it('because its folder is gone, says so, and the next one runs', async () => {
      const gone = join(folder.path, 'gone');
      mkdirSync(gone);
      rmdirSync(gone);
      expect((await folder.run('true', { cwd: gone })).stderr).toContain('the working folder does not exist');
      expect(await folder.run('true')).toMatchObject({ exitCode: 0 });
    });

    it('is nobody to be ended', async () => {
      expect(await folder.start('a\0').end()).toStrictEqual({ found: 0, left: 0 });
    });
  });

  describe('a command whose time is over', () => {
    it('keeps what it wrote until then', async () => {
      const begun = performance.now();
      expect(await folder.run('echo begun; echo trouble >&2; sleep 100', { timeoutMs: 200 })).toStrictEqual({
        exitCode: undefined,
        stdout: 'begun\n',
        stderr: 'trouble\n',
        stdoutBytes: 6,
        stderrBytes: 8,
        truncated: false,
        timedOut: true,
      });
      expect(performance.now() - begun).toBeLessThan(3_000);
    });

    it('may end well, and that output counts too', async () => {
      const text = `trap 'echo bye; exit 0' TERM; while :; do sleep 0.01; done`;
      expect(await folder.run(text, { timeoutMs: 200, killGraceMs: 5_000 })).toMatchObject({
        stdout: 'bye\n',
        timedOut: true,
        exitCode: undefined,
      });
    });
  });

  describe('many commands', () => {
    it('leave no descriptor, no listener, no timer and no zombie', async () => {
      await folder.run('true');
      const before = openDescriptors();
      const handles = handleCount();
      const listeners = process.listenerCount('exit');
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            folder.run(i % 5 === 0 ? `sleep 50 ${round === 0 ? '' : '>/dev/null 2>&1'} & echo x` : 'true'),
          ),
        );
      }
      expect(openDescriptors()).toBeLessThanOrEqual(before);
      expect(process.listenerCount('exit')).toBe(listeners);
      expect(zombiesOf(process.pid)).toStrictEqual([]);
      expect(handleCount()).toBeLessThanOrEqual(handles);
    }, 20_000);

    it('that failed to start leave no descriptor', async () => {
      const before = openDescriptors();
      for (let i = 0; i < 50; i += 1) await folder.run('true', { shell: '/nowhere/sh' });
      expect(openDescriptors()).toBeLessThanOrEqual(before);
      expect(existsSync(folder.path)).toBe(true);
    });
  });
});

function handleCount(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(ProcessWrap|PipeWrap)$/u.test(name)).length;
}
