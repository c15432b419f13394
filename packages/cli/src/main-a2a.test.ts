import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type A2aAgent, startA2aAgent } from '../test-support/a2a-agent.js';
import { Started } from '../test-support/started.js';

const packageFolder = dirname(import.meta.dirname);
const rootFolder = dirname(dirname(packageFolder));
const launcher = join(packageFolder, 'bin', 'parley.js');

let folder: string;
let agent: A2aAgent;
const children: Started[] = [];

beforeAll(async () => {
  const tsc = join(rootFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 120_000 });
  folder = await mkdtemp(join(tmpdir(), 'parley-a2a-'));
  agent = await startA2aAgent();
}, 150_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await agent.close();
  await rm(folder, { recursive: true, force: true });
});

/** The program as a process of its own. */
function parley(...args: string[]): Started {
  const { PATH } = process.env;
  const child = new Started(process.execPath, [launcher, ...args], {
    cwd: folder,
    env: { PATH, HOME: folder, ...preload },
    stdin: 'ignore',
  });
  children.push(child);
  return child;
}

let preload: Record<string, string> = {};

async function ended(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = parley(...args);
  const code = await child.exitCode;
  return { code, out: child.out, err: child.err };
}

/** Nobody listens on it any more. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const ONLY_SAFE = /^[\n\u0020-\u007e\u00a0-\uffff]*$/u;

describe('parley and a real agent', () => {
  it('shows its card', async () => {
    const { code, out, err } = await ended('card', agent.url);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^loopback 1\.0\.0\nDoes what it is told\n[^]*JSONRPC 1\.0 .*\/a2a\n[^]*echo Echo/u);
    expect(out).toMatch(ONLY_SAFE);
  }, 30_000);

  it.each(['jsonrpc', 'rest', 'grpc'])(
    'calls it over %s',
    async (binding) => {
      const { code, out, err } = await ended('call', agent.url, 'echo', 'one', 'two', 'three', '--binding', binding);
      expect([code, out]).toEqual([0, 'one two three\n']);
      expect(err).toMatch(
        /^submitted\nworking: thinking(?:␛\[2J)? hard\nartifact out\ncompleted\ntask \S+ · context \S+/u,
      );
      expect(err).toMatch(ONLY_SAFE);
    },
    30_000,
  );

  it('sends files, data, capability, parameters and headers', async () => {
    await writeFile(join(folder, 'notes.md'), '# hi');
    const args = '--file notes.md --data {"n":1} --capability echo --param limit=3 --header x-key=secret';
    const { code } = await ended('call', agent.url, 'echo a b', ...args.split(' '));
    expect(code).toBe(0);
    const message = agent.messages.at(-1);
    expect(message?.parts.map(({ content }) => content?.$case)).toEqual(['text', 'raw', 'data']);
    expect(message?.parts[1]).toMatchObject({ filename: 'notes.md', mediaType: 'text/markdown' });
    expect(message?.parts[1]?.content?.value).toEqual(new TextEncoder().encode('# hi'));
    expect(message?.metadata).toEqual({ capability: 'echo', parameters: { limit: 3 } });
    expect(agent.headers.at(-1)).toMatchObject({ 'x-key': 'secret' });
  }, 30_000);

  it('prints lines of JSON', async () => {
    const { code, out, err } = await ended('call', agent.url, 'echo', 'a', 'b', '--json');
    expect([code, err]).toEqual([0, '']);
    const updates = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; state?: string });
    expect(updates.map(({ kind, state }) => state ?? kind)).toEqual([
      'task',
      'working',
      'artifact',
      'artifact',
      'completed',
    ]);
  }, 30_000);

  it('answers what it is asked for', async () => {
    const asked = await ended('call', agent.url, 'ask');
    expect([asked.code, asked.out]).toEqual([3, '']);
    expect(asked.err).toContain('input-required: which one?\n');
    const [, url = '', id = ''] = /answer: parley call (\S+) --task (\S+) TEXT\n/u.exec(asked.err) ?? [];
    const answered = await ended('call', url, '--task', id, 'ask', 'that', 'one');
    expect([answered.code, answered.out]).toEqual([0, 'that one\n']);
    expect(agent.messages.at(-1)?.taskId).toBe(id);
  }, 30_000);

  it('works without a stream', async () => {
    const { code, out } = await ended('call', agent.url, 'echo', 'a', 'b', '--no-stream');
    expect([code, out]).toEqual([0, 'a b\n']);
  }, 30_000);

  it('ends with 1 and the reason when the task failed', async () => {
    const { code, out, err } = await ended('call', agent.url, 'fail');
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('failed: cannot\n');
  }, 30_000);

  it('detaches, lists, follows, cancels and shows a task', async () => {
    const detached = await ended('call', agent.url, 'wait', '--detach');
    expect([detached.code, detached.err]).toEqual([0, '']);
    const id = detached.out.trim();
    const listed = await ended('tasks', agent.url, '--status', 'working');
    expect(listed.out).toContain(`${id}  working`);
    const following = parley('task', agent.url, id, '--follow');
    await following.says(/so far/u);
    const left = parley('task', agent.url, id, '--follow');
    await left.says(/so far/u);
    left.kill('SIGINT');
    expect(await left.exitCode).toBe(130);
    expect(agent.canceled).not.toContain(id);
    const canceled = await ended('cancel', agent.url, id);
    expect([canceled.code, canceled.err]).toEqual([0, '']);
    expect(canceled.out).toContain(`${id}  canceled`);
    expect(await following.exitCode).toBe(1);
    expect(following.out).toBe('so far \n');
    expect(following.err).toContain('canceled: stopped\n');
    const shown = await ended('task', agent.url, id);
    expect(shown.out).toMatch(/^task {4}\S+\ncontext \S+\nstate {3}canceled .*\n\nstopped\n\nartifact out\nso far\n$/u);
  }, 60_000);

  it('Ctrl-C cancels the remote task and waits for its end', async () => {
    const call = parley('call', agent.url, 'wait');
    await call.says(/so far/u);
    const before = agent.canceled.length;
    call.kill('SIGINT');
    expect(await call.exitCode).toBe(130);
    expect(agent.canceled).toHaveLength(before + 1);
    expect(call.out).toBe('so far \n');
    expect(call.err).toContain('canceling\ncanceled: stopped\n');
  }, 30_000);

  it('cancels when nobody reads any more', async () => {
    const before = agent.canceled.length;
    const call = parley('call', agent.url, 'flood');
    await call.says(/line 5\n/u);
    await call.leaveAfterFirstOutput();
    expect(await call.exitCode).toBe(141);
    expect(agent.canceled).toHaveLength(before + 1);
  }, 30_000);

  it('says in one line what the agent answers, and that it does not answer', async () => {
    for (const binding of ['jsonrpc', 'rest', 'grpc']) {
      const missing = await ended('task', agent.url, 'nothing', '--binding', binding);
      expect([missing.code, missing.out]).toEqual([1, '']);
      expect(missing.err).toMatch(/^parley: .*\(TASK_NOT_FOUND\)\n$/u);
    }
    const refused = await ended('card', `http://127.0.0.1:${await closedPort()}`);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^parley: [^\n]*\(PEER_UNREACHABLE, ECONNREFUSED\)\n$/u);
    const noCard = await ended('card', `${agent.url}/rest/x.json`);
    expect(noCard.err).toMatch(/^parley: [^\n]*\(CARD_NOT_FOUND\)\n$/u);
  }, 60_000);

  it('waits for no agent that is silent', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    try {
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const { code, err } = await ended('card', `http://127.0.0.1:${port}`, '--timeout', '0.3');
      expect(code).toBe(1);
      expect(err).toMatch(/^parley: [^\n]*\(PEER_TIMEOUT\)\n$/u);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  }, 30_000);
});

describe('parley run', () => {
  it('loads nothing that speaks with agents', async () => {
    const hook = join(folder, 'hook.mjs');
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module';
       registerHooks({ resolve: (name, context, next) => {
         if (/@parley\\/agent|@a2a-js|grpc/u.test(name)) process.stderr.write('LOADED ' + name + '\\n');
         return next(name, context);
       } });`,
    );
    preload = { NODE_OPTIONS: `--import=${hook}` };
    try {
      const run = await ended('run', '-p', 'hello');
      expect(run.code).toBe(0);
      expect(run.err).not.toContain('LOADED');
      expect((await ended('card', agent.url)).err).toContain('LOADED @parley/agent');
    } finally {
      preload = {};
    }
  }, 30_000);
});
