import { setTimeout as delay } from 'node:timers/promises';
import { CommandFolder, LAUNCHERS, lives } from './testing/command-folder.js';

/** A shell in a session of its own, with no parent that is known: it says its pid and stays, whatever is asked of it. */
const DAEMON = `setsid sh -c 'trap "" TERM HUP INT; echo $$ > daemon; while :; do sleep 1; done'`;

const QUIET = '>/dev/null 2>&1 </dev/null';

describe.each(LAUNCHERS)('by %s', (_launcher, launcher) => {
  let folder: CommandFolder;
  beforeEach(() => {
    folder = new CommandFolder(launcher);
  });
  afterEach(() => folder.remove());

  describe('what a command leaves in the background', () => {
    it.each([
      ['holds both pipes', 'sleep 600 &', 900, 1_500],
      ['holds standard output', 'sleep 600 2>/dev/null &', 900, 1_500],
      ['holds standard error', 'sleep 600 >/dev/null &', 900, 1_500],
      ['holds none', `sleep 600 ${QUIET} &`, 0, 900],
    ])('and %s delays the result by so much', async (_what, start, atLeast, below) => {
      const begun = performance.now();
      const running = folder.start(`${start} echo $! > background; echo hi`);
      expect(await running.result).toMatchObject({ stdout: 'hi\n', exitCode: 0, timedOut: false });
      const took = performance.now() - begun;
      expect(took).toBeGreaterThanOrEqual(atLeast);
      expect(took).toBeLessThan(below);
      const pid = await folder.pid('background');
      expect(lives(pid)).toBe(true);
      expect(await running.end()).toStrictEqual({ found: 1, left: 0 });
      expect(lives(pid)).toBe(false);
    });

    it('may write within a second, and is not held up by its pipe afterwards', async () => {
      const text = `(sleep 0.3; echo late; sleep 1; head -c 1M /dev/zero; echo $$ > over; sleep 100) & echo first`;
      const running = folder.start(text);
      expect(await running.result).toMatchObject({ stdout: 'first\nlate\n', stdoutBytes: 11 });
      await folder.pid('over');
      expect((await running.end()).left).toBe(0);
    });

    it('does not disturb the next command', async () => {
      const running = folder.start('sleep 600 & echo hi');
      await running.result;
      expect(await folder.run('echo next')).toMatchObject({ stdout: 'next\n' });
      expect((await running.end()).found).toBe(1);
    });
  });

  describe('the end of a command', () => {
    it('comes while it runs, with what it wrote', async () => {
      const running = folder.start('echo begun; sleep 100 & echo $$ > leader; wait');
      const pid = await folder.pid('leader');
      const [result, ended] = await Promise.all([running.result, running.end()]);
      expect(result).toMatchObject({ stdout: 'begun\n', exitCode: -15, timedOut: false });
      expect(ended).toStrictEqual({ found: 2, left: 0 });
      expect(lives(pid)).toBe(false);
      expect(await running.end()).toStrictEqual({ found: 0, left: 0 });
    });

    it('is not delayed by a holder of the pipes', async () => {
      const running = folder.start('sleep 600 & echo $! > background; echo hi');
      await folder.pid('background');
      const begun = performance.now();
      await running.end();
      expect(await running.result).toMatchObject({ stdout: 'hi\n' });
      expect(performance.now() - begun).toBeLessThan(900);
    });

    it.each([
      ['ignore the polite signal', `(trap '' TERM; echo $BASHPID > member; while :; do sleep 1; done) & wait`],
      [
        'outlive their leader, which the polite signal ends',
        `sh -c 'trap "" TERM; echo $$ > member; while :; do sleep 1; done' & sleep 600`,
      ],
      ['are stopped', `(echo $BASHPID > member; kill -STOP $BASHPID) & wait`],
      ['made a group of their own', `set -m; sleep 600 ${QUIET} & echo $! > member`],
      [
        'made a session of their own',
        `setsid sh -c 'echo $$ > member; exec sleep 600' ${QUIET} & until [ -s member ]; do sleep 0.01; done`,
      ],
      [
        'made a session of their own and lost their parent',
        `(setsid sh -c 'echo $$ > member; exec sleep 600' ${QUIET} &); until [ -s member ]; do sleep 0.01; done`,
      ],
      [
        'cleared their environment, lost their parent, and hold a pipe',
        `(env -i "$(command -v setsid)" /bin/sh -c 'echo $$ > member; exec /bin/sleep 600' &); until [ -s member ]; do sleep 0.01; done`,
      ],
      [
        'cleared their environment and lost their parent after they were seen',
        `env -i "$(command -v setsid)" /bin/sh -c 'echo $$ > member; exec /bin/sleep 600' ${QUIET} & sleep 0.3`,
      ],
      [
        'come from one that cleared its environment and was seen',
        `env -i "$(command -v setsid)" /bin/sh -c '/bin/sleep 0.4; (/bin/sleep 600 & echo $! > member); exec /bin/sleep 1' ${QUIET} & sleep 0.6`,
      ],
    ])('takes along those who %s', async (_what, text) => {
      const running = folder.start(text);
      const pid = await folder.pid('member');
      // Those who hide are told apart when the shell has ended or a look was due.
      if (text.includes('env -i')) await running.result;
      expect(lives(pid)).toBe(true);
      expect((await running.end()).left).toBe(0);
      expect(lives(pid)).toBe(false);
    });

    it('asks before it kills, and waits no longer than it must', async () => {
      const text = `trap 'echo bye; exit 0' TERM; echo $$ > leader; while :; do sleep 0.01; done`;
      const running = folder.start(text, { killGraceMs: 60_000 });
      await folder.pid('leader');
      const begun = performance.now();
      await running.end();
      expect(performance.now() - begun).toBeLessThan(2_000);
      expect(await running.result).toMatchObject({ stdout: 'bye\n', exitCode: 0 });
    });

    it('lets those who are stopped go on, to end well', async () => {
      const text = `trap 'echo bye; exit 0' TERM; echo $$ > leader; kill -STOP $$; while :; do sleep 0.01; done`;
      const running = folder.start(text, { killGraceMs: 2_000 });
      await folder.pid('leader');
      await delay(50);
      await running.end();
      expect(await running.result).toMatchObject({ stdout: 'bye\n', exitCode: 0 });
    });

    it('that is asked for again with less time comes sooner', async () => {
      const running = folder.start(`trap '' TERM; echo $$ > leader; while :; do sleep 0.01; done`, {
        killGraceMs: 60_000,
      });
      const pid = await folder.pid('leader');
      const first = running.end();
      await delay(50);
      expect(lives(pid)).toBe(true);
      await running.end(0);
      expect(lives(pid)).toBe(false);
      expect((await first).left).toBe(0);
    });

    it('comes to the whole tree when the time is over, before the result', async () => {
      const text = `${DAEMON} ${QUIET} & (trap '' TERM; echo $BASHPID > child; while :; do sleep 1; done) & echo up; sleep 600`;
      const running = folder.start(text, { timeoutMs: 500 });
      const pids = [await folder.pid('daemon'), await folder.pid('child')];
      expect(pids.map(lives)).toStrictEqual([true, true]);
      expect(await running.result).toMatchObject({ stdout: 'up\n', timedOut: true, exitCode: undefined });
      expect(pids.map(lives)).toStrictEqual([false, false]);
    });

    it('leaves other commands alone', async () => {
      const other = folder.start('echo $$ > other; sleep 600');
      const pid = await folder.pid('other');
      await folder.run('sleep 600 & sleep 0.1');
      expect(lives(pid)).toBe(true);
      expect((await other.end()).left).toBe(0);
      expect(lives(pid)).toBe(false);
    });

    it('of many at once takes no longer than that of one', async () => {
      const text = `trap '' TERM; sleep 600 ${QUIET} & echo $! > child$N; exit 0`;
      const commands = Array.from({ length: 30 }, (_, i) =>
        folder.start(text, { env: { PATH: process.env['PATH'] ?? '', N: String(i) }, killGraceMs: 300 }),
      );
      await Promise.all(commands.map(({ result }) => result));
      const pids = await Promise.all(commands.map((_, i) => folder.pid(`child${i}`)));
      expect(pids.every(lives)).toBe(true);
      const begun = performance.now();
      const ends = await Promise.all(commands.map((command) => command.end()));
      expect(performance.now() - begun).toBeLessThan(5_000);
      expect(ends).toStrictEqual(commands.map(() => ({ found: 1, left: 0 })));
      expect(pids.some(lives)).toBe(false);
    });

    it('holds against a tree that grows while it is ended', async () => {
      const spawner = `trap '' TERM; echo $$ > spawner; while :; do sleep 600 & /bin/sleep 0.01; done`;
      const running = folder.start(`setsid bash -c '${spawner}' & ${spawner}`, { killGraceMs: 50 });
      const pid = await folder.pid('spawner');
      await delay(150);
      expect((await running.end()).left).toBe(0);
      expect(lives(pid)).toBe(false);
    });
  });
});
