import { join } from 'node:path';
import { eventually, freePort, startProcess, type RunningProcess } from '@parley/testkit';

const root = join(import.meta.dirname, '..', '..', '..');

/** Two cores that do other things as well: a start takes a second or two. */
export const START_MS = 20_000;

export interface Service extends RunningProcess {
  readonly url: string;
  readonly httpPort: number;
  readonly grpcPort: number;
}

export interface StartOptions {
  /** Default: free ones, asked for at each start. */
  readonly httpPort?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Waits until `/readyz` answers 200, not only until it listens. Default true. */
  readonly ready?: boolean;
}

type Program = 'registry' | 'agent-a' | 'agent-b';

/** The built service as it is run in production, on free ports of the loopback address. */
async function start(program: Program, prefix: string, options: StartOptions): Promise<Service> {
  const args = ['--import', '../../packages/service-kit/dist/telemetry/register.js', 'dist/main.js'];
  return startServing(args, join(root, 'services', program), prefix, options);
}

async function startServing(args: string[], cwd: string, prefix: string, options: StartOptions): Promise<Service> {
  const running = await startProcess({
    command: process.execPath,
    args,
    cwd,
    env: {
      [`${prefix}_HOST`]: '127.0.0.1',
      [`${prefix}_HTTP_PORT`]: String(options.httpPort ?? 0),
      [`${prefix}_GRPC_PORT`]: '0',
      [`${prefix}_LOG_FORMAT`]: 'text',
      [`${prefix}_DRAIN_DELAY_MS`]: '0',
      ...options.env,
    },
  });
  const [, http, grpc] = await running.waitForLine(/listens on http (\d+) and grpc (\d+)/u, START_MS);
  const url = `http://127.0.0.1:${String(http)}`;
  const service = withProperties(running, { url, httpPort: Number(http), grpcPort: Number(grpc) });
  if (options.ready !== false) await untilReady(service);
  return service;
}

/** Its getters go on looking at the process. */
function withProperties<T extends object, P extends object>(running: T, properties: P): T & P {
  return Object.assign(Object.create(running) as T, properties);
}

export async function untilReady({ url }: { readonly url: string }, timeoutMs = START_MS): Promise<void> {
  await eventually(
    async () => {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) });
      if (!response.ok) throw new Error(`answered ${String(response.status)}: ${await response.text()}`);
      await response.body?.cancel();
    },
    { timeoutMs, what: `${url} to be ready` },
  );
}

export function startRegistry(options: StartOptions & { readonly redisUrl?: string } = {}): Promise<Service> {
  const { redisUrl, env, ...rest } = options;
  return start('registry', 'REGISTRY', {
    ...rest,
    env: { ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }), ...env },
  });
}

export interface StartAgentOptions extends StartOptions {
  /** One, or several separated by commas. */
  readonly registryUrl: string;
  readonly ttlSeconds?: number;
}

function agentOptions({ registryUrl, ttlSeconds, env, ...rest }: StartAgentOptions): StartOptions {
  const own = {
    AGENT_REGISTRY_URL: registryUrl,
    ...(ttlSeconds === undefined ? {} : { AGENT_TTL_SECONDS: String(ttlSeconds) }),
  };
  return { ...rest, env: { ...own, ...env } };
}

/** translate and summarize, as agent_A. */
export function startAgentA(options: StartAgentOptions): Promise<Service> {
  return start('agent-a', 'AGENT', agentOptions(options));
}

/** translate and code_review, as agent_B. */
export function startAgentB(options: StartAgentOptions): Promise<Service> {
  return start('agent-b', 'AGENT', agentOptions(options));
}

/** An agent whose only skill, `wait`, takes as long as it is told. */
export function startWaitingAgent(options: StartAgentOptions): Promise<Service> {
  return startServing([join(import.meta.dirname, 'waiting-agent.mjs')], root, 'AGENT', agentOptions(options));
}

/** An agent that does code_review as a stage tells it: see stage.ts. */
export function startScriptedAgent(options: StartAgentOptions): Promise<Service> {
  return startServing([join(import.meta.dirname, 'scripted-agent.mjs')], root, 'AGENT', agentOptions(options));
}

/** Ports that stay the same over restarts. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
