import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@parley/service-kit';
import type { OutputChunk } from './action-types.js';
import { ownCommandEnv } from './command-env.js';
import { createCommandRunner, type CommandRunnerOptions } from './command-runner.js';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-runner-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HOUR = { timeoutMs: 3_600_000 };

function runner(options: Partial<CommandRunnerOptions> = {}) {
  return createCommandRunner({
    cwd: folder,
    passedEnv: ['PATH', 'HOME'],
    ownEnv: {},
    killGraceMs: 150,
    logger: createLogger({ service: 'proxy', level: 'silent' }),
    ...options,
  });
}

async function run(text: string, options: Partial<CommandRunnerOptions> = {}, timeoutMs = 60_000) {
  const command = runner(options).start(text, { timeoutMs });
  const result = await command.result;
  await command.end();
  return result;
}

function lives(name: string): boolean {
  const pid = Number(readFileSync(join(folder, name), 'utf8'));
  expect(pid).toBeGreaterThan(1);
  try {
    return !/^State:\s+[ZX]/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('the command runner', () => {
  it('gives results in the form of the proxy', async () => {
    expect(await run('echo out; echo err >&2; exit 7')).toStrictEqual({
      kind: 'bash',
      exitCode: 7,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutBytes: 4,
      stderrBytes: 4,
      truncated: false,
      timedOut: false,
    });
    const late = await run('echo out; sleep 100', {}, 150);
    expect(late).toMatchObject({ stdout: 'out\n', timedOut: true });
    expect(late).not.toHaveProperty('exitCode');
    expect(await run('seq 1 9999', { maxStreamBytes: 100 })).toMatchObject({ truncated: true, stdoutBytes: 48_888 });
    expect(await run('a\0b')).toMatchObject({
      exitCode: 126,
      stderr: expect.stringMatching(/^error: the command couldn't start: /u),
    });
  });

  it('takes bash, or sh where there is none', async () => {
    expect(runner().isBash).toBe(true);
    expect((await run('echo ${BASH_VERSION:+bash}')).stdout).toBe('bash\n');
    const bare = runner({ parentEnv: { PATH: folder } });
    expect(bare.isBash).toBe(false);
    expect(await bare.start('echo "$0"', HOUR).result).toMatchObject({ stdout: 'sh\n', exitCode: 0 });
  });

  it('gives commands what is on the list and their own, and none of the proxy’s settings', async () => {
    const parentEnv = {
      PATH: process.env['PATH'],
      HOME: '/home/agent',
      OPENAI_API_KEY: 'hunter2',
      PROXY_CONTROL_TOKEN: 'hunter2',
      PROXY_ENV_GREETING: 'hello',
      PROXY_ENV_: 'nameless',
    };
    const passedEnv = ['PATH', 'HOME', 'PROXY_CONTROL_TOKEN'];
    const { stdout } = await run('env', { parentEnv, passedEnv, ownEnv: ownCommandEnv(parentEnv) });
    expect(stdout).toContain('HOME=/home/agent\n');
    expect(stdout).toContain('GREETING=hello\n');
    expect(stdout).not.toContain('hunter2');
    expect(stdout).not.toContain('PROXY_');
  });

  it('tells output as it comes, and an observer that throws hurts nobody', async () => {
    const chunks: OutputChunk[] = [];
    const onChunk = (chunk: OutputChunk) => void chunks.push(chunk);
    await runner().start('echo a', { ...HOUR, onChunk }).result;
    expect(chunks).toStrictEqual([{ stream: 'stdout', text: 'a\n' }]);
    const failing = () => {
      throw new Error('no sink');
    };
    expect(await runner().start('echo a', { ...HOUR, onChunk: failing }).result).toMatchObject({ stdout: 'a\n' });
  });

  it('says how many it ended that outlived their command', async () => {
    const command = runner().start('sleep 600 >/dev/null 2>&1 & echo $! > child', HOUR);
    await command.result;
    expect(lives('child')).toBe(true);
    const ending = command.end();
    expect(await ending).toBe(1);
    expect(await command.end()).toBe(1);
    expect(lives('child')).toBe(false);
  });

  it('ends everything in time when it is closed, and starts nothing any more', async () => {
    const all = runner({ killGraceMs: 600_000 });
    const stubborn = `trap '' TERM; while :; do sleep 0.1; done`;
    const finished = all.start(`(${stubborn}) >/dev/null 2>&1 & echo $! > child`, HOUR);
    await finished.result;
    const running = all.start(`echo $$ > leader; echo up; ${stubborn}`, HOUR);
    while ((await all.start('cat leader', HOUR).result).stdout === '');
    const begun = performance.now();
    // Long enough for a stall of the machine between its two halves.
    await all.close(3_000);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect([lives('child'), lives('leader')]).toStrictEqual([false, false]);
    expect(await running.result).toMatchObject({ stdout: 'up\n', exitCode: -9 });
    const late = all.start('touch ran', HOUR);
    expect(await late.result).toMatchObject({
      exitCode: 126,
      stderr: "error: the command couldn't start: the proxy is stopping",
    });
    expect(await late.end()).toBe(0);
  });
});
