import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/lib/free-ports.mjs';
import { untilReady } from '../../scripts/lib/service-process.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const running = new Set();

/** Starts a process and waits for a line; ended with `stopAll`, by its id. */
export async function start(command, args, { cwd = root, env = {}, ready } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  void exited.then(() => running.delete(child));
  const lines = [];
  const line = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (text) => {
        if (lines.length < 50) lines.push(text);
        const match = ready?.exec(text);
        if (match) resolve(match);
      });
    }
    void exited.then((code) =>
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${lines.join('\n')}`)),
    );
  });
  line.catch(() => undefined);
  const match = ready === undefined ? undefined : await line;
  return { pid: child.pid, match, stop: () => (child.kill('SIGTERM'), exited) };
}

export async function stopAll() {
  for (const child of [...running]) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await gone;
    clearTimeout(force);
  }
}

const LONG_LEASES = { REGISTRY_DEFAULT_TTL_SECONDS: '86400', REGISTRY_MAX_TTL_SECONDS: '86400' };

/** A registry as a process of its own, with an inspector port of the loopback address for measuring its heap. */
export async function startRegistry(env = {}) {
  const [http, grpc, inspect] = await freePorts(3);
  const server = await start(process.execPath, [`--inspect=127.0.0.1:${inspect}`, 'dist/main.js'], {
    cwd: join(root, 'services/registry'),
    env: {
      REGISTRY_HOST: '127.0.0.1',
      REGISTRY_HTTP_PORT: `${http}`,
      REGISTRY_GRPC_PORT: `${grpc}`,
      REGISTRY_LOG_LEVEL: 'warn',
      REGISTRY_DRAIN_DELAY_MS: '0',
      REDIS_URL: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      ...LONG_LEASES,
      ...env,
    },
  });
  const url = `http://127.0.0.1:${http}`;
  await untilReady(`${url}/readyz`);
  return { ...server, url, inspect };
}

export async function startAgentB(registryUrl) {
  const [http, grpc] = await freePorts(2);
  const server = await start(process.execPath, ['dist/main.js'], {
    cwd: join(root, 'services/agent-b'),
    env: {
      AGENT_HOST: '127.0.0.1',
      AGENT_HTTP_PORT: `${http}`,
      AGENT_GRPC_PORT: `${grpc}`,
      AGENT_REGISTRY_URL: registryUrl,
      AGENT_LOG_LEVEL: 'warn',
      AGENT_MAX_AGREEMENTS: '100000',
      AGENT_DRAIN_DELAY_MS: '0',
      REDIS_URL: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
    },
  });
  const url = `http://127.0.0.1:${http}`;
  await untilReady(`${url}/readyz`);
  return { ...server, url };
}

/** An agent that does next to nothing, on our A2A server or on the bare library (`bare`), with an inspector port. */
export async function startA2aServer(kind) {
  const [inspect] = await freePorts(1);
  const args = [`--inspect=127.0.0.1:${inspect}`, join(root, 'bench/a2a/server.mjs'), kind];
  const server = await start(process.execPath, args, { ready: /^listening on (\d+)/ });
  return { ...server, url: `http://127.0.0.1:${server.match[1]}`, inspect };
}

/** Bare node:http answering the given bodies by path. */
export async function startBare(answers) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const file = join(folder, 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  const server = await start(process.execPath, [join(root, 'bench/lib/bare-server.mjs'), file], {
    ready: /listening on (\d+)/,
  });
  rmSync(folder, { recursive: true });
  return { ...server, url: `http://127.0.0.1:${server.match[1]}` };
}

/** The FastAPI reference in a folder that was set up before; undefined when there is none. */
export async function startReference(folder) {
  if (folder === undefined) return undefined;
  const python = join(folder, '.venv/bin/python');
  if (!existsSync(python)) throw new Error(`${folder} has no .venv: run its setup.sh first`);
  const [port] = await freePorts(1);
  const args = ['-m', 'uvicorn', 'reference:app', '--port', `${port}`, '--no-access-log', '--log-level', 'warning'];
  const server = await start(python, args, { cwd: folder, env: { TTL: '86400', LOG: '0' } });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/agents?limit=1`);
  return { ...server, url };
}

export async function startRedis(binary) {
  const [port] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-redis-'));
  const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = await start(binary, args, { ready: /Ready to accept connections/ });
  return { ...server, url: `redis://127.0.0.1:${port}` };
}
