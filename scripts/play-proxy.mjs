// Plays a proxy once, so that there is a trajectory to look at: a turn with commands, tools of an environment and an
// error in it, sent, driven and shown by the commands that anybody would use. Offline: no model.
//   PROXY_URL        default http://127.0.0.1:8003
//   ENV_SERVER_HOST  under which the proxy reaches this machine; default: its first address
//   JAEGER_URL       default http://127.0.0.1:16686; only printed
import { spawn } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const proxy = process.env.PROXY_URL ?? 'http://127.0.0.1:8003';
const jaeger = process.env.JAEGER_URL ?? 'http://127.0.0.1:16686';
const TURN_SECONDS = 60;
const MESSAGE = `Look around, count, and try what fails.

$ echo "hello from $(uname -s)"
tool add {"a": 19, "b": 23}
tool fail {}
$ ls /nowhere; exit 3
`;

const children = new Set();

/** Starts a program of ours; its output goes to `onLine`. */
function start(args, onLine) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  createInterface({ input: child.stdout }).on('line', onLine);
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  void exited.then(() => children.delete(child));
  return { child, exited };
}

const parley = (args, onLine = (line) => console.log(`  ${line}`)) =>
  start(['packages/cli/dist/main.js', ...args], onLine);

async function run(...args) {
  console.log(`\n$ parley ${args.join(' ')}`);
  const lines = [];
  const code = await parley(args, (line) => {
    lines.push(line);
    console.log(`  ${line}`);
  }).exited;
  if (code !== 0) throw new Error(`parley ${args[0]} ended with ${code}`);
  return lines;
}

/** A small MCP server that the proxy reaches, started here. */
async function startEnvServer() {
  const url = await new Promise((resolve, reject) => {
    const { exited } = start(['tests/support/env-server.mjs', '0', '0.0.0.0'], resolve);
    void exited.then((code) => reject(new Error(`the env server ended with ${code}`)));
  });
  const reachable = new URL(url);
  reachable.hostname = process.env.ENV_SERVER_HOST ?? ownAddress();
  return reachable.href;
}

function ownAddress() {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

async function ask(path, init = {}) {
  const control = process.env.PROXY_CONTROL_TOKEN ?? '';
  const headers = {
    'content-type': 'application/json',
    ...(control === '' ? {} : { authorization: `Bearer ${control}` }),
  };
  return fetch(proxy + path, { ...init, headers, signal: AbortSignal.timeout(10_000) });
}

const forget = () => ask('/ext/mcp-config?name=env', { method: 'DELETE' });

/** Names the env server to the proxy, in place of one that an earlier run named. */
async function register(url) {
  await forget();
  const answer = await ask('/ext/mcp-config', { method: 'POST', body: JSON.stringify({ name: 'env', url }) });
  if (!answer.ok) throw new Error(`the proxy refuses the env server: ${answer.status} ${await answer.text()}`);
}

async function untilEnded(id) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } });
  for (;;) {
    const { result } = await (await ask('/a2a', { method: 'POST', body })).json();
    if (!['submitted', 'working'].includes(result?.status.state)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function play() {
  await register(await startEnvServer());
  console.log(`$ parley drive --proxy ${proxy} --offline &`);
  const driver = parley(['drive', '--proxy', proxy, '--offline']);
  const [taskId] = await run('send', '--proxy', proxy, '--detach', MESSAGE);
  const gone = driver.exited.then((code) => {
    throw new Error(`parley drive ended with ${code}`);
  });
  await Promise.race([untilEnded(taskId), gone]);
  gone.catch(() => undefined);
  driver.child.kill('SIGTERM');
  await driver.exited;
  await forget();
  await run('trajectory', 'show', '--proxy', proxy, '--task', taskId);
  await run('trajectory', 'verify', '--proxy', proxy, '--task', taskId);
  const page = await ask('/ext/trajectory', {
    method: 'POST',
    body: JSON.stringify({ task_id: taskId, after: 0, limit: 1 }),
  });
  const { events } = await page.json();
  console.log(`\nThe same turn in Jaeger: ${jaeger}/trace/${events[0].trace_id}`);
}

const limit = setTimeout(() => {
  console.error(`nothing came of it within ${TURN_SECONDS} s`);
  end(1);
}, TURN_SECONDS * 1_000);

function end(code) {
  clearTimeout(limit);
  for (const child of children) child.kill('SIGTERM');
  process.exitCode = code;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(1));
try {
  await play();
  end(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  end(1);
}
