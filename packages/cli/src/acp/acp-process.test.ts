import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AcpProcess } from '../../test-support/acp-process.js';

const packageFolder = dirname(dirname(import.meta.dirname));
const rootFolder = dirname(dirname(packageFolder));
const launcher = join(packageFolder, 'bin', 'parley.js');
const mcpServer = join(rootFolder, 'packages/harness/src/mcp/test-servers/sdk-stdio-server.mjs');

/** Prints where only the protocol may be, whenever it is told to. */
const NOISE = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2', () => { console.log('noise'); process.stdout.write('stray\\n'); console.error('heard'); });",
)}`;

/** Two generations of children, one of which does not care about SIGTERM; each tells its pid. */
const FAMILY = `(trap '' TERM; echo $BASHPID > deaf.pid; sleep 300 & echo $! > grandchild.pid; wait) & echo $! > child.pid; wait`;
const PIDS = ['deaf.pid', 'grandchild.pid', 'child.pid'];

let folder: string;
let env: NodeJS.ProcessEnv;
const processes: AcpProcess[] = [];

beforeAll(async () => {
  const tsc = join(rootFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 280_000 });
}, 300_000);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-acp-')));
  await mkdir(join(folder, 'work'));
  env = { PATH: process.env['PATH'], HOME: folder, SHELL: '/bin/bash' };
});

afterEach(async () => {
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function start(args: readonly string[] = [], nodeArgs: readonly string[] = []): AcpProcess {
  const child = new AcpProcess([...nodeArgs, launcher, 'acp', '--offline', ...args], { cwd: folder, env });
  processes.push(child);
  return child;
}

const work = (...path: readonly string[]): string => join(folder, 'work', ...path);

/** Starts {@link FAMILY} and waits until all of it lives. @returns the request and the pids. */
async function withFamily(acp: AcpProcess, sessionId: string): Promise<{ request: string; pids: number[] }> {
  const request = acp.calls(sessionId, ['shell', { command: FAMILY }]);
  await acp.until('a running command', () =>
    acp.updates.some(({ kind, status }) => kind === 'execute' || status === 'in_progress'),
  );
  const pids = await Promise.all(PIDS.map((name) => pidIn(work(name))));
  expect(pids.filter(isAlive)).toHaveLength(3);
  return { request, pids };
}

async function pidIn(path: string): Promise<number> {
  return looked(async () => Number(await readFile(path, 'utf8').catch(() => '')));
}

/** Looks at what tells nobody of itself until it is there. */
async function looked<T>(look: () => T | Promise<T>): Promise<T> {
  for (let tries = 0; tries < 4_000; tries++) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('looked for too long');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('parley acp', () => {
  it('asks before it writes a file, writes it, and after a restart tells the session again', async () => {
    const acp = start();
    const sessionId = await acp.begin(work());
    const request = acp.calls(sessionId, ['write_file', { path: 'a.txt', content: 'made\n' }]);
    expect((await acp.answer(request)).result).toEqual({ stopReason: 'end_turn' });
    expect(await readFile(work('a.txt'), 'utf8')).toBe('made\n');
    expect(acp.messages.filter(({ method }) => method === 'session/request_permission')).toHaveLength(1);
    acp.child.stdin.end();
    expect(await acp.exit).toEqual({ code: 0, signal: null });

    const again = start();
    await again.request('initialize', { protocolVersion: 1 });
    const { result } = await again.request('session/list', { cwd: work() });
    expect(result?.['sessions']).toMatchObject([{ sessionId, cwd: work() }]);
    const loaded = await again.request('session/load', { sessionId, cwd: work(), mcpServers: [] });
    expect(loaded.result).toMatchObject({ modes: { currentModeId: 'ask' } });
    expect(again.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      'user_message_chunk',
      'tool_call',
      'agent_message_chunk',
    ]);
    expect(again.messages.at(-1)).toEqual(loaded);
    const read = again.calls(sessionId, ['read_file', { path: 'a.txt' }]);
    expect((await again.answer(read)).result).toEqual({ stopReason: 'end_turn' });
    expect(JSON.stringify(again.updates)).toContain('made');
  }, 120_000);

  it('writes nothing where the client says no', async () => {
    const acp = start();
    acp.permission = 'reject_once';
    const sessionId = await acp.begin(work());
    const request = acp.calls(sessionId, ['write_file', { path: 'a.txt', content: 'made\n' }]);
    expect((await acp.answer(request)).result).toEqual({ stopReason: 'end_turn' });
    await expect(access(work('a.txt'))).rejects.toThrow('ENOENT');
  }, 120_000);

  it('has modes: one that only reads, one that does not ask', async () => {
    const acp = start();
    acp.permission = 'reject_once';
    const sessionId = await acp.begin(work());
    const write = () => acp.answer(acp.calls(sessionId, ['write_file', { path: 'a.txt', content: 'made\n' }]));
    await acp.request('session/set_mode', { sessionId, modeId: 'read-only' });
    await write();
    await expect(access(work('a.txt'))).rejects.toThrow('ENOENT');
    await acp.request('session/set_mode', { sessionId, modeId: 'full-access' });
    await write();
    expect(await readFile(work('a.txt'), 'utf8')).toBe('made\n');
    expect(acp.messages.filter(({ method }) => method === 'session/request_permission')).toEqual([]);
  }, 120_000);

  it('keeps the standard output for the protocol, whoever else writes to it', async () => {
    const acp = start([], ['--import', NOISE]);
    const sessionId = await acp.begin(work());
    acp.child.kill('SIGUSR2');
    await acp.until('the log', () => acp.err.includes('heard'));
    await acp.answer(acp.prompt(sessionId, 'hello'));
    acp.child.stdin.end();
    expect((await acp.exit).code).toBe(0);
    for (const message of acp.messages) expect(message).toMatchObject({ jsonrpc: '2.0' });
    expect(acp.err).toContain('noise');
    expect(acp.err).toContain('stray');
  }, 120_000);

  it('answers a request whose input ends with it', async () => {
    const acp = start();
    acp.ask('initialize', { protocolVersion: 1 });
    acp.child.stdin.end();
    expect((await acp.exit).code).toBe(0);
    expect(acp.messages).toMatchObject([{ result: { protocolVersion: 1 } }]);
  }, 120_000);

  it.each<[string, (acp: AcpProcess) => void, { code: number; signal: null }]>([
    ['its input ends', (acp) => acp.child.stdin.end(), { code: 0, signal: null }],
    ['SIGTERM comes', (acp) => acp.child.kill('SIGTERM'), { code: 143, signal: null }],
  ])(
    'ends with everything it started when %s, and says that the prompt was cancelled',
    async (_name, end, exit) => {
      const acp = start(['--yes']);
      const sessionId = await acp.begin(work());
      const { request, pids } = await withFamily(acp, sessionId);
      end(acp);
      expect(await acp.exit).toEqual(exit);
      expect(pids.filter(isAlive)).toEqual([]);
      expect((await acp.answer(request)).result).toEqual({ stopReason: 'cancelled' });
    },
    120_000,
  );

  it('ends with everything it started when nobody reads its output any more', async () => {
    const acp = start(['--yes']);
    const sessionId = await acp.begin(work());
    const { pids } = await withFamily(acp, sessionId);
    acp.child.stdout.destroy();
    // The next thing that it says does not arrive.
    acp.ask('session/list', {});
    expect(await acp.exit).toEqual({ code: 0, signal: null });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(acp.err).not.toMatch(/EPIPE|\bat /u);
  }, 120_000);

  it('ends in time although the client neither reads nor goes', async () => {
    const acp = start(['--yes']);
    const sessionId = await acp.begin(work());
    acp.child.stdout.pause();
    // More than any pipe holds.
    for (let count = 0; count < 3; count++) {
      await writeFile(work(`large${count}.txt`), `${'x'.repeat(99)}\n`.repeat(2_000));
    }
    acp.calls(sessionId, ...[0, 1, 2].map((count) => ['read_file', { path: `large${count}.txt` }] as const), [
      'shell',
      { command: FAMILY },
    ]);
    await looked(() => acp.child.stdout.readableLength >= acp.child.stdout.readableHighWaterMark);
    acp.child.kill('SIGTERM');
    const code = await new Promise((resolve) => acp.child.once('exit', resolve));
    expect(code).toBe(143);
    acp.child.stdout.resume();
  }, 120_000);

  it('ends a command, and all that it started, when its prompt is cancelled', async () => {
    const acp = start(['--yes']);
    const sessionId = await acp.begin(work());
    const { request, pids } = await withFamily(acp, sessionId);
    acp.send({ method: 'session/cancel', params: { sessionId } });
    expect((await acp.answer(request)).result).toEqual({ stopReason: 'cancelled' });
    expect(pids.filter(isAlive)).toEqual([]);
    expect((await acp.answer(acp.prompt(sessionId, 'hello'))).result).toEqual({ stopReason: 'end_turn' });
  }, 120_000);

  it('uses the MCP servers of the client, and ends them with their session', async () => {
    const acp = start(['--yes']);
    const pidFile = work('server.pid');
    const server = {
      name: 'lab',
      command: '/bin/sh',
      args: ['-c', `echo $$ > ${pidFile}; exec ${process.execPath} ${mcpServer}`],
      env: [],
    };
    const sessionId = await acp.begin(work(), [server]);
    const { result } = await acp.answer(acp.calls(sessionId, ['lab__echo', { text: 'over there' }]));
    expect(result).toEqual({ stopReason: 'end_turn' });
    expect(JSON.stringify(acp.updates)).toContain('over there');
    const pid = await pidIn(pidFile);
    expect(isAlive(pid)).toBe(true);
    expect((await acp.request('session/close', { sessionId })).result).toEqual({});
    expect(isAlive(pid)).toBe(false);
  }, 120_000);

  it('deletes a session for good', async () => {
    const acp = start();
    const sessionId = await acp.begin(work());
    await acp.answer(acp.prompt(sessionId, 'hello'));
    expect((await acp.request('session/delete', { sessionId })).result).toEqual({});
    expect((await acp.request('session/list', {})).result).toEqual({ sessions: [] });
    const load = { sessionId, cwd: work(), mcpServers: [] };
    expect((await acp.request('session/load', load)).error?.code).toBe(-32002);
    const again = start();
    await again.request('initialize', { protocolVersion: 1 });
    expect((await again.request('session/load', load)).error?.code).toBe(-32002);
  }, 120_000);

  it('offers skills as commands', async () => {
    await mkdir(join(folder, 'skills', 'review'), { recursive: true });
    const skill = '---\nname: review\ndescription: Reviews code.\n---\nLook twice.\n';
    await writeFile(join(folder, 'skills', 'review', 'SKILL.md'), skill);
    const acp = start(['--skills', 'skills']);
    const sessionId = await acp.begin(work());
    const told = await acp.until('commands', () =>
      acp.updates.find(({ sessionUpdate }) => sessionUpdate === 'available_commands_update'),
    );
    expect(told['availableCommands']).toMatchObject([{ name: 'review', description: 'Reviews code.' }]);
    expect((await acp.answer(acp.prompt(sessionId, '/review this'))).result).toEqual({ stopReason: 'end_turn' });
  }, 120_000);

  it('goes on in the terminal with what an editor began', async () => {
    const acp = start();
    const sessionId = await acp.begin(work());
    await acp.answer(acp.prompt(sessionId, 'hello from the editor'));
    acp.child.stdin.end();
    await acp.exit;
    const run = promisify(execFile)(process.execPath, [launcher, 'run', '--sessions'], { cwd: folder, env });
    expect((await run).stdout).toContain('hello from the editor');
  }, 120_000);

  it('refuses options that cannot be', async () => {
    const acp = start(['--mcp', 'nowhere.json']);
    expect((await acp.exit).code).toBe(2);
    expect(acp.lines).toEqual([]);
    expect(acp.err).toMatch(/^parley: .*nowhere\.json/u);
  }, 120_000);
});
