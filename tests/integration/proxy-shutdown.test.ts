import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endEverything, eventually, isAlive, watchEvents } from '@parley/testkit';
import { startLoad, untilNotReady } from './support/load.js';
import { startProxy, type Proxy } from './support/proxy.js';
import { startRegistry, START_MS, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const TOKEN = 'the-token-of-the-driver-who-plays';
const DRAIN_MS = 600;
/** For a machine that does other things as well. */
const SLACK_MS = 4_000;

const PHASES = [
  'not ready',
  'deregistered',
  'agreements',
  'load balancers notice',
  'actions and requests in flight',
  'transfers',
  'trajectories',
  'journal',
];

let registry: Service;
let folder: string;
let proxy: Proxy;

beforeAll(async () => {
  registry = await startRegistry();
}, START_MS);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-proxy-stop-'));
  proxy = await startProxy({
    folder,
    env: {
      PROXY_REGISTRY_URL: registry.url,
      PROXY_AGENT_ID: 'proxy-stopped',
      PROXY_DRAIN_DELAY_MS: String(DRAIN_MS),
      PROXY_LONG_POLL_SECONDS: '25',
    },
  });
}, START_MS);
afterEach(async () => {
  await proxy.stop();
  await rm(folder, { recursive: true, force: true });
}, 30_000);
afterAll(endEverything, 30_000);

const drive = async (operation: string, fields: object): Promise<Record<string, unknown>> => {
  const { status, body } = await proxy.drive(operation, { token: TOKEN, ...fields });
  expect([operation, status, body]).toEqual([operation, 200, body]);
  return body as Record<string, unknown>;
};

/** A turn in which a command runs that has a child in its group and one that left it; their process ids. */
async function turnWithCommand(): Promise<{ acting: Promise<Record<string, unknown>>; pids: readonly number[] }> {
  const taskId = await proxy.send('work for long');
  await drive('next', { after: 0 });
  const file = join(folder, 'pids');
  const command = `sleep 600 & one=$!; setsid sleep 600 & echo $$ $one $! > ${file}.new; mv ${file}.new ${file}; wait`;
  const acting = drive('act', { task_id: taskId, action_id: 'a1', action: { kind: 'bash', command } });
  const pids = await eventually(async () => (await readFile(file, 'utf8')).trim().split(' ').map(Number));
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  return { acting, pids };
}

describe('a proxy that is stopped', () => {
  it('leaves the registry, answers everybody under load, ends its commands, in order of its phases, and ends with 0', async () => {
    const watch = await watchEvents(registry.url);
    await drive('claim', {});
    const { acting, pids } = await turnWithCommand();
    const waiting = [drive('next', { after: 1 }), drive('result', { action_id: 'a1' }), acting];
    const load = startLoad({
      workers: 8,
      next: (count) =>
        count % 2 === 0
          ? { method: 'GET', url: `${proxy.url}/.well-known/agent.json` }
          : { method: 'POST', url: `${proxy.url}/ext/proxy/claim`, body: { token: TOKEN } },
    });
    const since = performance.now();
    const end = proxy.stop({ graceMs: 25_000 });
    await watch.waitFor(({ type, agentId }) => type === 'deregistered' && agentId === 'proxy-stopped');
    expect(performance.now() - since).toBeLessThan(2_000);
    await untilNotReady(proxy.url);
    const { answers, broken } = await load.stop();
    expect(broken).toEqual([]);
    expect([...answers.keys()]).toEqual([200]);
    // Nobody is kept waiting for the rest of a long poll.
    const [next, ...states] = await Promise.all(waiting);
    expect(next).toMatchObject({ version: 1, turns: [{ context_id: 'c' }] });
    expect(states).toEqual([{ done: false }, { done: false }]);
    expect(await end).toEqual({ code: 0, signal: null });
    expect(performance.now() - since).toBeLessThan(DRAIN_MS + SLACK_MS);
    expect([...proxy.output().matchAll(/stopped: (.+)$/gmu)].map(([, name]) => name)).toEqual(PHASES);
    expect(pids.map(isAlive)).toEqual([false, false, false]);
  });

  it('exits at once at the second signal, and leaves no command behind', async () => {
    await drive('claim', {});
    const { acting, pids } = await turnWithCommand();
    const cut = expect(acting).rejects.toThrow();
    proxy.kill('SIGTERM');
    await proxy.waitForLine(/stopped: deregistered/u);
    const since = performance.now();
    proxy.kill('SIGTERM');
    expect(await proxy.exited).toEqual({ code: 1, signal: null });
    expect(performance.now() - since).toBeLessThan(3_000);
    await cut;
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false, false]));
  });
});
