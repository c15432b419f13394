import { join } from 'node:path';
import { freePort, startProcess, type RunningProcess } from '@parley/testkit';
import { checkReadme } from '../../scripts/lib/readme-check.mjs';

const root = join(import.meta.dirname, '..', '..');

/** Everything in memory, as `make serve` starts it, on ports of its own. */
async function start(name: string, env: Readonly<Record<string, string>>, readyWhen: string): Promise<RunningProcess> {
  return startProcess({
    command: process.execPath,
    args: ['dist/main.js'],
    cwd: join(root, 'services', name),
    env,
    readyWhen,
  });
}

async function startAgent(name: string, registry: string): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  await start(
    name,
    {
      AGENT_HOST: '127.0.0.1',
      AGENT_HTTP_PORT: String(port),
      AGENT_GRPC_PORT: '0',
      AGENT_REGISTRY_URL: registry,
    },
    `${url}/readyz`,
  );
  return url;
}

async function startProxy(registry: string): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  await start(
    'proxy',
    {
      PROXY_HOST: '127.0.0.1',
      PROXY_HTTP_PORT: String(port),
      PROXY_GRPC_PORT: '0',
      PROXY_AGENT_ID: 'proxy',
      PROXY_REGISTRY_URL: registry,
    },
    `${url}/readyz`,
  );
  return url;
}

describe('README.md', () => {
  it('prints curl examples that work, with what they really answer', async () => {
    const port = await freePort();
    const registry = `http://127.0.0.1:${String(port)}`;
    await start(
      'registry',
      { REGISTRY_HOST: '127.0.0.1', REGISTRY_HTTP_PORT: String(port), REGISTRY_GRPC_PORT: '0' },
      `${registry}/readyz`,
    );
    const agentA = await startAgent('agent-a', registry);
    const agentB = await startAgent('agent-b', registry);
    const proxy = await startProxy(registry);
    const { checked } = await checkReadme({ registry, agentA, agentB, proxy });
    expect(checked).toBeGreaterThan(10);
  }, 60_000);
});
