import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAgentConfig, type AgentConfig } from '@parley/agent';
import { silentLogger, type RunnableService } from '@parley/service-kit';
import { readWorkConfig } from '@parley/skills';
import { createAgentApp, DEFAULTS as AGENT_B } from '../../services/agent-b/src/app.js';
import { createProxyApp, type ProxyApp } from '../../services/proxy/src/app.js';
import { readProxyConfig } from '../../services/proxy/src/config.js';
import { createMember, memberSettings } from '../../services/proxy/src/member/index.js';
import { startRegistry } from '../../services/registry/src/testing/start-registry.js';

export const PLACES = ['registry', 'agent', 'proxy'] as const;
export type Place = (typeof PLACES)[number];

/** What a service of a kind answers to a scrape, started in this process for that alone. */
export function scrape(place: Place): Promise<string> {
  return { registry: scrapeRegistry, agent: scrapeAgent, proxy: scrapeProxy }[place]();
}

async function scrapeRegistry(): Promise<string> {
  const registry = await startRegistry();
  try {
    return await metricsOf(registry.httpUrl);
  } finally {
    await registry.stop();
  }
}

function scrapeAgent(): Promise<string> {
  return scrapeService(createAgentApp(agentOnFreePorts(), readWorkConfig({}), silentLogger));
}

async function scrapeProxy(): Promise<string> {
  const workDir = mkdtempSync(join(tmpdir(), 'proxy-metrics-'));
  try {
    return await scrapeService(proxyOnFreePorts(workDir));
  } finally {
    rmSync(workDir, { recursive: true });
  }
}

async function scrapeService(service: RunnableService & { readonly httpPort: number }): Promise<string> {
  await service.start();
  try {
    return await metricsOf(`http://127.0.0.1:${String(service.httpPort)}`);
  } finally {
    for (const phase of service.shutdownPhases()) await phase.run();
  }
}

async function metricsOf(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** As `main.ts` makes it: on free ports, with a registry that is not there and the waits that are not configured. */
export function proxyOnFreePorts(workDir: string): ProxyApp {
  const config = readProxyConfig({
    PROXY_HOST: '127.0.0.1',
    PROXY_HTTP_PORT: '0',
    PROXY_GRPC_PORT: '0',
    PROXY_REGISTRY_URL: 'http://127.0.0.1:9',
    PROXY_WORK_DIR: workDir,
  });
  return createProxyApp(config, silentLogger, {
    extend: (parts) => createMember({ ...memberSettings(config), ...parts, logger: silentLogger }),
  });
}

/** With a registry that is not there. */
function agentOnFreePorts(): AgentConfig {
  return readAgentConfig(AGENT_B, {
    AGENT_HOST: '127.0.0.1',
    AGENT_HTTP_PORT: '0',
    AGENT_GRPC_PORT: '0',
    AGENT_REGISTRY_URL: 'http://127.0.0.1:9',
    AGENT_DRAIN_DELAY_MS: '0',
  });
}
