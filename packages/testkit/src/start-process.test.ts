import { spawn } from 'node:child_process';
import { endEverything, onTestsEnd } from './children.js';
import { freePort } from './free-port.js';
import { isAlive } from './is-alive.js';
import { startProcess } from './start-process.js';
import { waitFor } from './wait-for.js';

const node = (script: string, options: Partial<Parameters<typeof startProcess>[0]> = {}) =>
  startProcess({ command: process.execPath, args: ['-e', script], ...options });

const FOREVER = 'setInterval(() => {}, 1000);';

describe('startProcess', () => {
  afterEach(endEverything);

  it('gives the lines of both streams and how the process ended', async () => {
    const running = await node('console.log("one"); console.log("two"); console.error("three"); process.exit(7)');
    expect(await running.exited).toEqual({ code: 7, signal: null });
    expect(running.stdout).toEqual(['one', 'two']);
    expect(running.stderr).toEqual(['three']);
    expect(running.output().split('\n').sort()).toEqual(['one', 'three', 'two']);
  });

  it('finds a line that was printed before and one that comes later', async () => {
    const running = await node(
      'console.log("port 123"); process.stdin.on("data", (d) => console.log("got " + String(d).trim()))',
      { readyWhen: /port \d+/u, input: true },
    );
    expect((await running.waitForLine(/port (\d+)/u))[1]).toBe('123');
    const later = running.waitForLine(/got (.*)/u, 5_000, { since: 'now' });
    running.write('a word\n');
    expect((await later)[1]).toBe('a word');
    running.endInput();
    expect((await running.exited).code).toBe(0);
  });

  it('does not take an old line for a new one', async () => {
    const running = await node(`console.log("ready"); ${FOREVER}`, { readyWhen: /ready/u });
    await expect(running.waitForLine(/ready/u, 100, { since: 'now' })).rejects.toThrow(/waited 100 ms\nready/u);
  });

  it('stops waiting for a line when the process ends, and shows what it said', async () => {
    const running = await node('console.error("no luck"); process.exitCode = 3');
    await expect(running.waitForLine(/never/u)).rejects.toThrow(/has ended \(code 3\)\nno luck/u);
  });

  it('is ready when an address answers with success', async () => {
    const port = await freePort();
    const script = `let n = 0; require('http').createServer((q, r) => { r.statusCode = ++n < 3 ? 503 : 204; r.end() }).listen(${String(port)}, '127.0.0.1')`;
    const running = await node(script, { readyWhen: `http://127.0.0.1:${String(port)}/ready` });
    expect((await fetch(`http://127.0.0.1:${String(port)}/`)).status).toBe(204);
    expect((await running.stop()).signal).toBe('SIGTERM');
  });

  it('fails and leaves nothing when the process is not ready in time', async () => {
    const attempt = node(`console.log("pid " + process.pid); ${FOREVER}`, { readyWhen: /never/u, readyTimeoutMs: 700 });
    const error = await attempt.then(
      () => undefined,
      (cause: unknown) => cause as Error,
    );
    const pid = Number(/pid (\d+)/u.exec(error?.message ?? '')?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(isAlive(pid)).toBe(false);
  });

  it('fails when the process ends before its address answers', async () => {
    const attempt = node('console.log("bye")', { readyWhen: 'http://127.0.0.1:9/' });
    await expect(attempt).rejects.toThrow(/ended before it was ready \(code 0\)\nbye/u);
  });

  it('fails when there is no such program', async () => {
    await expect(startProcess({ command: '/no/such/program' })).rejects.toThrow(/could not start \/no\/such\/program/u);
  });

  it('passes on only a few of our own variables', async () => {
    process.env.PARLEY_TESTKIT_PROBE = 'leaked';
    const running = await node('console.log(JSON.stringify(process.env))', { env: { GIVEN: 'yes', HOME: undefined } });
    delete process.env.PARLEY_TESTKIT_PROBE;
    await running.exited;
    const seen = JSON.parse(running.stdout[0] ?? '') as Record<string, string>;
    expect(seen).toMatchObject({ GIVEN: 'yes', PATH: process.env.PATH });
    expect(seen).not.toHaveProperty('PARLEY_TESTKIT_PROBE');
    expect(seen).not.toHaveProperty('NODE_OPTIONS');
    expect(seen).not.toHaveProperty('HOME');
  });

  it('sends a signal and tells which one ended the process', async () => {
    const running = await node(`console.log("up"); ${FOREVER}`, { readyWhen: /up/u });
    expect(running.kill('SIGKILL')).toBe(true);
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(running.kill('SIGTERM')).toBe(false);
  });

  it('kills a process that does not go when asked', async () => {
    const running = await node(`process.on("SIGTERM", () => {}); console.log("up"); ${FOREVER}`, { readyWhen: /up/u });
    expect(await running.stop({ graceMs: 100 })).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await running.stop()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('ends the children of a process with it', async () => {
    const child = `require('child_process').spawn(process.execPath, ['-e', '${FOREVER}'], { stdio: 'inherit' })`;
    const running = await node(`console.log("child " + ${child}.pid); ${FOREVER}`);
    const pid = Number((await running.waitForLine(/child (\d+)/u))[1]);
    running.kill('SIGKILL');
    await running.exited;
    await waitFor(() => !isAlive(pid), { what: 'the child to end' });
  });

  it('ends what is left when the tests end', async () => {
    const running = await node(`process.on("SIGTERM", () => {}); console.log("up"); ${FOREVER}`, { readyWhen: /up/u });
    await endEverything();
    expect((await running.exited).signal).toBe('SIGKILL');
  });

  it('keeps a bounded number of lines', async () => {
    const running = await node('for (let i = 0; i < 12000; i++) console.log(i)');
    await running.exited;
    expect(running.stdout).toHaveLength(5_000);
    expect(running.stdout.at(-1)).toBe('11999');
  });
});

describe('a test process that is killed', () => {
  afterEach(endEverything);

  it('takes what it started with it', async () => {
    // A process of ours, killed with no chance to clean up, using the same guard as these tests.
    const source = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => next(name.replace(/^(\\..*)\\.js$/u, '$1.ts'), context) });
      const { startProcess } = await import(${JSON.stringify(new URL('./start-process.ts', import.meta.url).href)});
      const running = await startProcess({ command: 'sleep', args: ['600'] });
      console.log('child ' + running.pid);
      setInterval(() => {}, 1000);
    `;
    const outer = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestsEnd(() => void outer.kill('SIGKILL'));
    let printed = '';
    for (const stream of [outer.stdout, outer.stderr]) stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
    const pid = await waitFor(() => Number(/child (\d+)/u.exec(printed)?.[1] ?? 0), {
      timeoutMs: 10_000,
      what: 'the child',
    });
    expect(isAlive(pid)).toBe(true);
    outer.kill('SIGKILL');
    await waitFor(() => !isAlive(pid), { what: 'the orphan to end' });
  });
});
