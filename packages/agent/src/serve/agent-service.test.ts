import { runPhases, silentLogger } from '@parley/service-kit';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { FakeRegistry } from '../../test-support/fake-registry.js';
import type { Skill } from '../skill.js';
import { readAgentConfig } from './agent-config.js';
import { createAgentService, type AgentServiceHandle, type AgentServiceOptions } from './agent-service.js';

const DEFAULTS = { agentId: 'agent_T', name: 'Agent T', httpPort: 0, grpcPort: 0 };

let registry: FakeRegistry;
const services: AgentServiceHandle[] = [];

beforeEach(async () => {
  registry = await new FakeRegistry().start();
});
afterEach(async () => {
  for (const service of services.splice(0)) await runPhases(service.shutdownPhases(), silentLogger);
  await registry.stop();
});

function echo(prepare?: () => Promise<void>): Skill {
  return {
    capability: 'echo',
    detail: {},
    input: z.unknown(),
    run: () => Promise.resolve({}),
    ...(prepare === undefined ? {} : { prepare }),
  };
}

async function start(skill: Skill, options: Partial<AgentServiceOptions> = {}): Promise<AgentServiceHandle> {
  const env = { AGENT_HOST: '127.0.0.1', AGENT_REGISTRY_URL: registry.url, AGENT_DRAIN_DELAY_MS: '0' };
  const config = readAgentConfig(DEFAULTS, env);
  const service = createAgentService({ config, logger: silentLogger, skills: [skill], ...options });
  services.push(service);
  await service.start();
  return service;
}

const readiness = async ({ httpPort }: AgentServiceHandle): Promise<number> =>
  (await fetch(`http://127.0.0.1:${String(httpPort)}/readyz`)).status;

describe('an agent service', () => {
  it('registers only when its skills are prepared, and is not ready before', async () => {
    let prepared: (() => void) | undefined;
    const service = await start(
      echo(
        () =>
          new Promise((resolve) => {
            prepared = resolve;
          }),
      ),
    );
    await waitFor(() => prepared !== undefined);
    expect(await readiness(service)).toBe(503);
    expect(registry.agents.size).toBe(0);
    prepared?.();
    await waitFor(async () => (await readiness(service)) === 200);
    expect([...registry.agents.keys()]).toEqual(['agent_T']);
  });

  it('registers also when a skill cannot be prepared', async () => {
    const service = await start(echo(() => Promise.reject(new Error('no such file'))));
    await waitFor(async () => (await readiness(service)) === 200);
    expect([...registry.agents.keys()]).toEqual(['agent_T']);
  });

  it('tells its bounds on an extended card', async () => {
    const execute = () => Promise.resolve({ state: 'completed' as const });
    const { httpPort } = await start(echo(), { tasks: () => ({ execute }) });
    const response = await fetch(`http://127.0.0.1:${String(httpPort)}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }),
    });
    const { result } = (await response.json()) as { result: { description: string } };
    expect(result.description).toContain(
      'Tasks are taken with and without an agreement. One turn of a task may take 600 s; 64 tasks are worked on at a time.',
    );
  });

  it('leaves the registry when it stops', async () => {
    const service = await start(echo());
    await waitFor(async () => (await readiness(service)) === 200);
    services.pop();
    const results = await runPhases(service.shutdownPhases(), silentLogger);
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'done'));
    expect(registry.agents.size).toBe(0);
  });
});
