import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../scripts/lib/free-ports.mjs';
import { untilReady } from '../../scripts/lib/service-process.mjs';
import { start } from '../lib/servers.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const REFERENCE = 'from agentenv_protocol.a2a_agent.proxy import ProxyAgent; ProxyAgent(long_poll_seconds=25).serve()';
const folders = [];

function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-proxy-'));
  folders.push(folder);
  return folder;
}

async function startOn(command, args, env) {
  const [port] = await freePorts(1);
  const folder = newFolder();
  const server = await start(command, args, {
    cwd: folder,
    env: { HOME: folder, A2A_HOST: '127.0.0.1', A2A_PORT: `${port}`, OTEL_EXPORTER_OTLP_ENDPOINT: '', ...env(folder) },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/health`);
  return { ...server, url };
}

/** The built proxy; with a journal on disk, or with all in memory as the reference has it. */
export function startProxy({ hasJournal = false, args = [] } = {}) {
  return startOn(process.execPath, [...args, join(root, 'services/proxy/dist/main.js')], (folder) => ({
    REGISTRY_URL: '',
    PROXY_REGISTRY_URL: '',
    PROXY_LOG_LEVEL: 'warn',
    PROXY_DRAIN_DELAY_MS: '0',
    PROXY_MAX_ACTIONS_PER_TURN: '1000000',
    ...(hasJournal ? { PROXY_STATE_DIR: join(folder, 'state') } : {}),
  }));
}

/** The Python reference, in a folder that was set up before. */
export function startPeer(peerFolder) {
  const python = join(peerFolder, '.venv/bin/python');
  if (!existsSync(python)) throw new Error(`${peerFolder} has no .venv: prepare it as its README says`);
  return startOn(python, ['-c', REFERENCE], () => ({}));
}

/** An MCP server that both sides call, as a process of its own. @returns its URL */
export async function startEnvServer() {
  const { match } = await start(process.execPath, [join(root, 'tests/support/env-server.mjs')], { ready: /^http.*$/u });
  return match[0];
}

export function residentMib(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1_024;
}

export function removeFolders() {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
