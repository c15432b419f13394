import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endEverything, eventually, freePort, type RunningProcess, startProcess } from '@parley/testkit';
import { get, post } from './support/http.js';
import { type Proxy, startProxy, type StartProxyOptions } from './support/proxy.js';
import { START_MS, startRegistry, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(90_000);

/** Of the driver's own proxies, not of those that it finds. */
const CONTROL_TOKEN = 'the-control-token-of-others';
const ROOT = new URL('../..', import.meta.url).pathname;

let registry: Service;
let folder: string;
const proxies = new Set<Proxy>();
const drivers = new Set<RunningProcess>();

beforeAll(async () => {
  registry = await startRegistry();
}, START_MS);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-found-'));
});
afterEach(async () => {
  for (const driver of drivers) driver.kill('SIGKILL');
  await Promise.all([...drivers].map((driver) => driver.exited));
  await Promise.all([...proxies].map((proxy) => proxy.stop()));
  drivers.clear();
  proxies.clear();
  await rm(folder, { recursive: true, force: true });
}, 30_000);
afterAll(endEverything, 30_000);

async function start(id: string, options: Partial<StartProxyOptions> = {}): Promise<Proxy> {
  const env = { PROXY_REGISTRY_URL: registry.url, PROXY_AGENT_ID: id, PROXY_TTL_SECONDS: '2', ...options.env };
  const proxy = await startProxy({ folder, ...options, env });
  proxies.add(proxy);
  return proxy;
}

async function drive(url: string, ...more: string[]): Promise<RunningProcess> {
  const driver = await startProcess({
    command: process.execPath,
    args: [join(ROOT, 'packages/cli/bin/parley.js'), 'drive', '--registry', url, '--offline', ...more],
    cwd: folder,
    env: { HOME: folder, NO_COLOR: '1', PARLEY_PROXY_CONTROL_TOKEN: CONTROL_TOKEN },
  });
  drivers.add(driver);
  return driver;
}

async function failed(url: string, ...more: string[]): Promise<unknown[]> {
  const driver = await drive(url, ...more);
  const { code } = await driver.exited;
  return [code, driver.stderr.at(-1)];
}

/** Which proxy a driver has agreed on. */
/** The first that it plays, or the first that is another one. */
async function playedBy(driver: RunningProcess, notThis = 'nobody'): Promise<string> {
  const line = new RegExp(`^playing (?!${notThis} )(\\S+) at http\\S+ under agreement \\S+$`, 'u');
  const [, id = ''] = await driver.waitForLine(line, 20_000);
  return id;
}

async function answerOf(proxy: Proxy, taskId: string): Promise<string> {
  return eventually(
    async () => {
      const { body } = await post(`${proxy.url}/a2a`, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tasks/get',
        params: { id: taskId },
      });
      const { state, message } = (body as { result: { status: Status } }).result.status;
      expect(state).toBe('completed');
      return message?.parts.map(({ text }) => text).join('') ?? '';
    },
    { timeoutMs: 20_000 },
  );
}

interface Status {
  readonly state: string;
  readonly message?: { readonly parts: readonly { readonly text: string }[] };
}

function named(all: readonly Proxy[], ids: readonly string[], id: string): Proxy {
  const proxy = all[ids.indexOf(id)];
  if (proxy === undefined) throw new Error(`${id} is none of ${ids.join()}`);
  return proxy;
}

interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An address in front of a proxy, at which all is seen that is sent to it. */
async function forwarder(seen: Seen[]): Promise<{ readonly url: string; to: string; close(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path = '', method = 'GET', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      seen.push({ path, headers, body: JSON.parse(body || '{}') as Seen['body'] });
      const kept = Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name));
      const sent = { method, headers: Object.fromEntries(kept) as Record<string, string> };
      fetch(`${front.to}${path}`, { ...sent, ...(body !== '' && { body }) })
        .then(async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
          response.end(await answer.text());
        })
        .catch(() => request.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const front = { url, to: '', close };
  return front;
}

describe('parley drive --registry', () => {
  it('gives each driver a proxy of its own, tells the next one that all are taken, and frees a proxy at the end', async () => {
    const ids = ['proxy-1', 'proxy-2'];
    const all = await Promise.all(ids.map((id) => start(id)));
    const [first, second] = await Promise.all([drive(registry.url), drive(registry.url, '--once', '--json')]);
    const [one, two] = await Promise.all([playedBy(first), playedBy(second)]);
    expect([one, two].sort()).toEqual(ids);
    expect(await failed(registry.url)).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^parley: all proxies at ${registry.url} are taken: proxy-[12], proxy-[12]$`, 'u'),
      ),
    ]);
    for (const [id, text] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      const proxy = named(all, ids, id);
      const task = await proxy.send(`$ echo from ${text}`);
      expect(await answerOf(proxy, task)).toContain(`from ${text}`);
    }
    // Its only turn is played: it ends, and its proxy is free at once.
    expect(await second.exited).toMatchObject({ code: 0 });
    const next = await drive(registry.url, '--capability', 'playable@^1');
    expect(await playedBy(next)).toBe(two);
    first.kill('SIGINT');
    expect(await first.exited).toMatchObject({ code: 130 });
    const last = await drive(registry.url);
    expect(await playedBy(last)).toBe(one);
    last.kill('SIGTERM');
    expect(await last.exited).toMatchObject({ code: 143 });
    expect(await playedBy(await drive(registry.url))).toBe(one);
  });

  it('takes another proxy when the one that it plays is killed, and leaves the turn that was open there', async () => {
    const ids = ['proxy-3', 'proxy-4'];
    const all = await Promise.all(ids.map((id) => start(id)));
    const driver = await drive(registry.url, '--once');
    const first = await playedBy(driver);
    const killed = named(all, ids, first);
    await killed.send('$ sleep 60');
    await driver.waitForLine(/sleep 60/u, 20_000);
    killed.kill('SIGKILL');
    await killed.exited;
    await driver.waitForLine(new RegExp(`^${first} is lost, .*cannot be reached`, 'u'), 40_000);
    const second = await playedBy(driver, first);
    expect(second).not.toBe(first);
    // The turn that could not be played to its end is none of those that were to be played.
    const other = named(all, ids, second);
    expect(await answerOf(other, await other.send('$ echo went on'))).toContain('went on');
    expect(await driver.exited).toMatchObject({ code: 0 });
    expect(driver.output()).toMatch(/turn [0-9a-f]{8}: left open/u);
  });

  it('goes on with a proxy that comes back when there is no other', async () => {
    const httpPort = await freePort();
    const proxy = await start('proxy-5', { httpPort });
    const driver = await drive(registry.url, '--once');
    await playedBy(driver);
    proxy.kill('SIGKILL');
    await proxy.exited;
    const again = await start('proxy-5', { httpPort });
    await driver.waitForLine(/^proxy-5 is lost, /u, 40_000);
    await eventually(() => expect(driver.stderr.filter((line) => line.startsWith('playing '))).toHaveLength(2), {
      timeoutMs: 30_000,
    });
    expect(await answerOf(again, await again.send('$ echo back'))).toContain('back');
    expect(await driver.exited).toMatchObject({ code: 0 });
  });

  it('takes another proxy when its agreement is ended by somebody else', async () => {
    const ids = ['proxy-6', 'proxy-7'];
    const all = await Promise.all(ids.map((id) => start(id)));
    const driver = await drive(registry.url);
    const first = await playedBy(driver);
    const stopped = named(all, ids, first);
    expect((await stopped.stop()).code).toBe(0);
    await driver.waitForLine(new RegExp(`^${first} is lost, `, 'u'), 40_000);
    expect(ids).toContain(await playedBy(driver, first));
  });

  it('goes on with a turn that another driver has left open, under an agreement of its own', async () => {
    const proxy = await start('proxy-9');
    const left = await drive(registry.url);
    await playedBy(left);
    const [runs, gate] = [join(folder, 'runs'), join(folder, 'gate')];
    const wait = `echo x >> ${runs}; until test -e ${gate}; do sleep 0.1; done; echo waited`;
    const task = await proxy.send(`$ ${wait}\n$ echo two`);
    await eventually(async () => expect(await readFile(runs, 'utf8')).toBe('x\n'));
    left.kill('SIGTERM');
    expect(await left.exited).toMatchObject({ code: 143 });
    const next = await drive(registry.url, '--once');
    await next.waitForLine(/^turn [0-9a-f]{8}: /u, 20_000);
    await writeFile(gate, '');
    expect(await answerOf(proxy, task)).toMatch(/waited\n[^]*\ntwo/u);
    expect(await readFile(runs, 'utf8')).toBe('x\n');
    expect(await next.exited).toMatchObject({ code: 0 });
  });

  it('shows its secrets where they are needed, and nowhere else', async () => {
    const seen: Seen[] = [];
    const between = await forwarder(seen);
    const proxy = await start('proxy-8', { env: { PROXY_PUBLIC_URL: between.url } });
    between.to = proxy.url;
    const driver = await drive(registry.url, '--once', '--json');
    await playedBy(driver);
    expect(await answerOf(proxy, await proxy.send('$ env'))).toContain('PATH=');
    expect(await driver.exited).toMatchObject({ code: 0 });
    const driving = seen.filter(({ path }) => path.startsWith('/ext/proxy/'));
    const [claim, ...others] = driving;
    expect(others.map(({ path }) => path)).toEqual(expect.arrayContaining(['/ext/proxy/next', '/ext/proxy/reply']));
    const token = String(claim?.body['token']);
    const proof = String(claim?.headers['parley-agreement-proof']);
    expect([token.length, proof.length > 20]).toEqual([32, true]);
    expect(others.filter(({ headers }) => headers['parley-agreement-proof'] !== undefined)).toEqual([]);
    expect(JSON.stringify(seen)).not.toContain(CONTROL_TOKEN);

    const agreed = driver.stdout.map((line) => JSON.parse(line) as object)[0];
    expect(agreed).toEqual({ kind: 'agreed', proxy: 'proxy-8', url: between.url, agreement_id: expect.any(String) });
    for (const secret of [token, proof, CONTROL_TOKEN]) {
      for (const { output } of [driver, proxy, registry]) expect(output()).not.toContain(secret);
    }
    expect(await readdir(folder)).not.toContain('.parley');
    between.close();
  });

  it('says in one line that there is no registry, nobody to play, or a word that the registry does not take', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    expect(await failed(nowhere)).toEqual([1, `parley: no registry at ${nowhere} (ECONNREFUSED)`]);
    expect(await failed(registry.url, '--capability', 'unheard-of')).toEqual([
      1,
      `parley: nobody at ${registry.url} offers unheard-of`,
    ]);
    const [code, line] = await failed(registry.url, '--capability', 'playable@nonsense');
    expect([code, line]).toEqual([1, expect.stringMatching(/^parley: the registry at \S+ refuses: /u)]);
    expect((await get(`${registry.url}/readyz`)).status).toBe(200);
    const [grpcCode, grpcLine] = await failed(`grpc://127.0.0.1:${await freePort()}`);
    expect([grpcCode, grpcLine]).toEqual([
      1,
      expect.stringMatching(/^parley: no registry at grpc:\S+ \(ECONNREFUSED\)$/u),
    ]);
  });
});
