import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endEverything, eventually, freePort, type RunningProcess, startProcess } from '@parley/testkit';

const { jest } = import.meta;
jest.setTimeout(90_000);

const ROOT = new URL('../..', import.meta.url).pathname;
const TOKEN = 'secret-of-the-driver-0123456789';
const READY_MS = 30_000;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-driver-'));
  await writeFile(join(folder, 'token'), TOKEN, { mode: 0o600 });
});
afterAll(async () => {
  await endEverything();
  await rm(folder, { recursive: true, force: true });
}, 30_000);

/** The service, with a journal of its own. */
async function startProxy(port: number, name: string): Promise<RunningProcess> {
  return startProcess({
    command: process.execPath,
    args: [join(ROOT, 'services/proxy/dist/main.js')],
    cwd: folder,
    env: {
      HOME: folder,
      A2A_HOST: '127.0.0.1',
      A2A_PORT: String(port),
      PROXY_STATE_DIR: join(folder, name),
      PROXY_LONG_POLL_SECONDS: '2',
    },
    readyWhen: `http://127.0.0.1:${port}/health`,
    readyTimeoutMs: READY_MS,
  });
}

async function parley(...args: string[]): Promise<RunningProcess> {
  return startProcess({
    command: process.execPath,
    args: [join(ROOT, 'packages/cli/bin/parley.js'), ...args],
    cwd: folder,
    env: { HOME: folder, NO_COLOR: '1' },
  });
}

async function ended(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const run = await parley(...args);
  const { code } = await run.exited;
  return { code, out: run.stdout.join('\n'), err: run.stderr.join('\n') };
}

function drive(url: string, ...more: string[]): Promise<RunningProcess> {
  return parley('drive', '--proxy', url, '--token-file', 'token', '--offline', ...more);
}

describe('parley drive with the real proxy', () => {
  it('plays a turn; its trajectory is shown, verified, exported and replayed', async () => {
    const [port, other] = [await freePort(), await freePort()];
    const [url, fresh] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${other}`];
    await Promise.all([startProxy(port, 'one'), startProxy(other, 'two')]);
    const driver = await drive(url, '--once');
    const sent = await ended('send', '--proxy', url, '--context', 'c', '$ echo $((6 * 7))\n```bash\nenv; exit 3\n```');
    expect(sent.code).toBe(0);
    expect(sent.out).toContain('$ echo $((6 * 7))\n42');
    expect(sent.out).toContain('exit code 3');
    // Neither the commands nor anybody who reads what the driver says see the token.
    expect(sent.out).not.toContain(TOKEN);
    expect(await driver.exited).toMatchObject({ code: 0 });
    expect(driver.output()).toContain('answered');
    expect(driver.output()).not.toContain(TOKEN);

    const shown = await ended('trajectory', 'show', '--proxy', url, '--context', 'c');
    expect(shown.out).toMatch(/^turn {2}.*ok\n├─ chat offline .*\n├─ bash .*exit 0\n/u);
    expect(await ended('trajectory', 'verify', '--proxy', url, '--context', 'c')).toMatchObject({ code: 0 });
    const file = join(folder, 'turn.json');
    const exported = await ended('trajectory', 'export', '--proxy', url, '--context', 'c');
    await writeFile(
      file,
      exported.out
        .replace('env; exit 3', 'exit 3')
        .replaceAll(/"output\\": \\"[^"]*PATH=[^"]*\\"/gu, '"output\\": \\"\\"'),
    );
    expect((await ended('trajectory', 'verify', file)).code).toBe(1);
    for (const format of ['otlp', 'atif']) {
      const { code, out } = await ended('trajectory', 'export', '--format', format, file);
      expect([code, typeof JSON.parse(out)]).toEqual([0, 'object']);
    }

    const again = join(folder, 'again.json');
    await writeFile(again, (await readFile(file, 'utf8')).replaceAll('echo $((6 * 7))', 'echo $((6 * 8))'));
    const differs = await ended('replay', again, '--proxy', fresh, '--token-file', 'token');
    expect(differs.code).toBe(1);
    expect(differs.out).toMatch(
      /^event 1 differs: attributes\.gen_ai\.completion\.output\n {2}expected "42\\n"\n {2}got {6}"48\\n"/u,
    );
  });

  it('goes on with a turn after the proxy was killed and started again', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const first = await startProxy(port, 'restart');
    const driver = await drive(url, '--once');
    const marker = join(folder, 'started');
    const sending = ended('send', '--proxy', url, `$ echo x >> ${marker}; sleep 30\n$ echo went on`);
    await driver.waitForLine(/sleep 30/u, 20_000);
    await eventually(async () => expect(await readFile(marker, 'utf8')).toBe('x\n'));
    first.kill('SIGKILL');
    await first.exited;
    await startProxy(port, 'restart');
    const sent = await sending;
    expect(sent.code).toBe(0);
    expect(sent.out).toContain('$ echo went on\nwent on');
    // What ran then is lost, and is not run again by itself.
    expect(await readFile(marker, 'utf8')).toBe('x\n');
    expect(await driver.exited).toMatchObject({ code: 0 });
    expect((await ended('trajectory', 'verify', '--proxy', url, '--task', taskOf(sent.err))).code).toBe(0);
  });

  it('goes on with a turn that another driver with its token has begun', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await startProxy(port, 'handover');
    const killed = await drive(url);
    const gate = join(folder, 'gate');
    const runs = join(folder, 'runs');
    const wait = `echo x >> ${runs}; until test -e ${gate}; do sleep 0.1; done; echo waited`;
    const sending = ended('send', '--proxy', url, `$ echo one >> ${runs}\n$ ${wait}\n$ echo three`);
    await eventually(async () => expect(await readFile(runs, 'utf8')).toBe('one\nx\n'));
    killed.kill('SIGKILL');
    await killed.exited;
    const second = await drive(url, '--once');
    await second.waitForLine(/turn [0-9a-f]{8}: /u, 20_000);
    await writeFile(gate, '');
    const sent = await sending;
    expect(sent.code).toBe(0);
    expect(sent.out).toContain('waited\n');
    expect(sent.out).toContain('$ echo three\nthree');
    expect(await readFile(runs, 'utf8')).toBe('one\nx\n');
    expect(await second.exited).toMatchObject({ code: 0 });
  });

  it("does not play a proxy that is another's, and gives one up that is not there", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await startProxy(port, 'claimed');
    const first = await drive(url);
    await first.waitForLine(/playing/u);
    await eventually(async () => {
      const { err, code } = await ended('drive', '--proxy', url, '--offline', '--once');
      expect([code, err]).toEqual([1, expect.stringContaining('parley: this proxy is already claimed')]);
    });
    first.kill('SIGINT');
    expect(await first.exited).toMatchObject({ code: 130 });
    const nobody = await ended('trajectory', 'show', '--proxy', `http://127.0.0.1:${await freePort()}`, '--task', 't');
    expect(nobody).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^parley: .*cannot be reached \(ECONNREFUSED\)$/u),
    });
  });
});

function taskOf(err: string): string {
  return /task (\S+) in context/u.exec(err)?.[1] ?? '';
}
