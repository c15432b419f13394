import { setTimeout as delay } from 'node:timers/promises';
import type { OutputChunk } from './output-chunks.js';
import { CommandFolder, LAUNCHERS } from './testing/command-folder.js';

const node = (program: string) => `${process.execPath} -e '${program}'`;

/** 50,000 characters of three bytes on both streams, in pieces that end anywhere. */
const MANY = node(
  'const b = Buffer.from("你".repeat(50000)); for (const out of [process.stdout, process.stderr]) { let i = 0; const next = () => { if (i < b.length) out.write(b.subarray(i, i += 40001), next) }; next() }',
);

describe.each(LAUNCHERS)('by %s', (_launcher, launcher) => {
  let folder: CommandFolder;
  beforeEach(() => {
    folder = new CommandFolder(launcher);
  });
  afterEach(() => folder.remove());

  describe('the output of a command', () => {
    it('has whole characters, wherever its pieces end', async () => {
      const { stdout, stderr, stdoutBytes } = await folder.run(MANY);
      expect(stdout === '你'.repeat(50_000)).toBe(true);
      expect(stderr === '你'.repeat(50_000)).toBe(true);
      expect(stdoutBytes).toBe(150_000);
    });

    it('keeps control characters, and shows bytes that are no text as such', async () => {
      expect(await folder.run(`printf 'a\\0b\\033[1mc'`)).toMatchObject({ stdout: 'a\0b\u001b[1mc' });
      expect(await folder.run(`printf '\\360'; printf 'x\\377y' >&2`)).toMatchObject({
        stdout: '\uFFFD',
        stderr: 'x\uFFFDy',
      });
      const noise = await folder.run('head -c 1M /dev/urandom');
      expect(noise).toMatchObject({ exitCode: 0, stdoutBytes: 1_048_576, truncated: false });
      expect(JSON.parse(JSON.stringify(noise.stdout))).toBe(noise.stdout);
    });

    it('is bounded: its beginning and its end stay, each stream for itself', async () => {
      const result = await folder.run('seq 1 100000; echo short >&2', { maxStreamBytes: 200 });
      expect(result.stdout).toMatch(/^1\n2\n3\n[^…]*\n… 588695 bytes left out …\n[^…]*99999\n100000\n$/u);
      expect(result).toMatchObject({ stderr: 'short\n', truncated: true, stdoutBytes: 588_895, stderrBytes: 6 });
    });

    it('may be huge: memory stays, the command is not held up, and other work goes on', async () => {
      const before = process.memoryUsage().rss;
      let peak = 0;
      let longestStall = 0;
      const begun = performance.now();
      let last = begun;
      const watch = setInterval(() => {
        longestStall = Math.max(longestStall, performance.now() - last);
        last = performance.now();
        peak = Math.max(peak, process.memoryUsage().rss);
      }, 10);
      try {
        const result = await folder.run('head -c 512M /dev/zero', { timeoutMs: 100_000 });
        expect(result).toMatchObject({ timedOut: false, stdoutBytes: 2 ** 29, truncated: true });
        expect(result.stdout.length).toBeLessThan(1_048_576 + 100);
      } finally {
        clearInterval(watch);
      }
      expect(peak - before).toBeLessThan(200 * 1_048_576);
      // All at once would be one stall, however busy the machine is.
      expect(longestStall).toBeLessThan((last - begun) / 2);
    }, 120_000);

    it('that is written just before the exit is complete although somebody holds the pipes', async () => {
      const { stdout, exitCode } = await folder.run(
        `sleep 100 & head -c 200000 /dev/zero | tr '\\0' x; printf end; exit 5`,
      );
      expect(exitCode).toBe(5);
      expect(stdout.length).toBe(200_003);
      expect(stdout.endsWith('xend')).toBe(true);
    });

    it('that comes within the second after the exit is complete although this process was busy meanwhile', async () => {
      // As much as fits into a pipe: more could not have been written before it was read.
      const running = folder.start(`(sleep 0.6; printf '%060000d' 7; sleep 100) & echo begun`);
      await delay(300);
      // From here timers come before reading: those of the command are over before anything was read.
      await new Promise((resolve) => setImmediate(resolve));
      const until = performance.now() + 1_300;
      while (performance.now() < until);
      expect((await running.result).stdout.length).toBe(60_006);
    });
  });

  describe('output while a command runs', () => {
    const chunksOf = async (text: string) => {
      const chunks: OutputChunk[] = [];
      const result = await folder.run(text, { onChunk: (chunk) => void chunks.push(chunk) });
      const textOf = (name: string) =>
        chunks
          .filter(({ stream }) => stream === name)
          .map((chunk) => chunk.text)
          .join('');
      return { chunks, result, stdout: textOf('stdout'), stderr: textOf('stderr') };
    };

    it('is told at once, in order, and all of it', async () => {
      const seen: OutputChunk[] = [];
      const first = Promise.withResolvers<number>();
      const begun = performance.now();
      const running = folder.start('echo a; until [ -e go ]; do sleep 0.01; done; echo b >&2; echo c', {
        onChunk: (chunk) => {
          seen.push(chunk);
          first.resolve(performance.now() - begun);
        },
      });
      expect(await first.promise).toBeLessThan(1_000);
      expect(seen).toStrictEqual([{ stream: 'stdout', text: 'a\n' }]);
      folder.start('touch go');
      await running.result;
      const all = seen.map(({ stream, text }) => `${stream}:${text}`).join('');
      expect(all.replaceAll('stdout:', '').replaceAll('stderr:', '').length).toBe(6);
      expect(seen.filter(({ stream }) => stream === 'stderr')).toStrictEqual([{ stream: 'stderr', text: 'b\n' }]);
    });

    it('has whole characters', async () => {
      const { chunks, stdout, stderr } = await chunksOf(
        node(
          'const b = Buffer.from("a€😀é".repeat(300)); let i = 0; const t = setInterval(() => { if (i >= b.length) return clearInterval(t); process.stdout.write(b.subarray(i, i + 7)); process.stderr.write(b.subarray(i, i += 7)); }, 1)',
        ),
      );
      expect(chunks.length).toBeGreaterThan(3);
      expect(stdout).toBe('a€😀é'.repeat(300));
      expect(stderr).toBe('a€😀é'.repeat(300));
    });

    it('shows a character that never ends', async () => {
      expect((await chunksOf(`printf 'x\\360\\237'`)).stdout).toBe('x\uFFFD');
    });

    it('is told at a bounded rate and size, with a word for what is left out', async () => {
      const begun = performance.now();
      const { chunks, stdout } = await chunksOf('yes 你好 | head -c 100M');
      const rounds = Math.ceil((performance.now() - begun) / 50) + 2;
      expect(chunks.length).toBeLessThanOrEqual(rounds);
      expect(Buffer.byteLength(stdout)).toBeLessThan(rounds * 66_000);
      expect(stdout).toMatch(/\n… \d+ bytes left out …\n/u);
      expect(stdout.slice(0, -3)).not.toContain('\uFFFD');
    });

    it('is not told any more when the result is there', async () => {
      const chunks: OutputChunk[] = [];
      const running = folder.start('(while :; do echo more; sleep 0.01; done) & echo first', {
        onChunk: (chunk) => void chunks.push(chunk),
      });
      await running.result;
      const count = chunks.length;
      await delay(120);
      expect(chunks).toHaveLength(count);
    });
  });
});
