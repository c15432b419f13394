import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WaitStrategy } from 'testcontainers';
import { onTestsEnd } from './children.js';
import { checkServiceNames, parseComposeConfig, portVariables, type ComposeService } from './compose-config.js';
import { freePort } from './free-port.js';

const execute = promisify(execFile);

export interface ComposeStackOptions {
  /** The folder of `docker-compose.yml`. */
  readonly directory: string;
  /** Files below that folder, later ones over earlier ones. Default `['docker-compose.yml']`. */
  readonly files?: readonly string[];
  /** Only these and what they depend on. Default: all that belong to no profile. */
  readonly services?: readonly string[];
  /** Variables for the compose files. A port variable given here is used as it is. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another condition for "started" than the service's health check, by service name. */
  readonly waits?: Readonly<Record<string, WaitStrategy>>;
  /** Builds the images first. Default true. */
  readonly build?: boolean;
  /** For each service, after the images are there. Default 120,000 ms. */
  readonly startupTimeoutMs?: number;
}

export interface ComposeStack {
  /** Differs for every stack, so that one that runs under the file's own name is left alone. */
  readonly projectName: string;
  /** The port of 127.0.0.1 that leads to a port of a service; the same after a restart. */
  port(service: string, containerPort: number): number;
  /** `http://127.0.0.1:PORT` for {@link ComposeStack.port}. */
  url(service: string, containerPort: number): string;
  /** Both output streams of a service so far. */
  logs(service: string): Promise<string>;
  /** Runs a command in a running service. */
  exec(service: string, command: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }>;
  /** Sends a signal, SIGKILL by default, to a service's first process. */
  kill(service: string, signal?: NodeJS.Signals): Promise<void>;
  /** Any other `docker compose` command on this stack; gives its standard output. */
  compose(...args: readonly string[]): Promise<string>;
  /** Ends everything and removes containers, networks and volumes. Also done at the end of the test file. */
  down(): Promise<void>;
}

/** The version of the Docker engine that answers, or undefined when none does within `timeoutMs` (default 10,000). */
export async function dockerEngineVersion(timeoutMs = 10_000): Promise<string | undefined> {
  try {
    const { stdout } = await execute('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: timeoutMs });
    return stdout.trim() === '' ? undefined : stdout.trim();
  } catch {
    return undefined;
  }
}

/**
 * Starts a compose file under a project name and on host ports of its own, and waits until every service is
 * healthy (one without a health check: until it has printed something).
 * @throws Error for a service name that the files do not have, and for a stack that does not start; the
 *   services' last lines are in the message and nothing is left running.
 */
export async function composeStack(options: ComposeStackOptions): Promise<ComposeStack> {
  const { directory, files = ['docker-compose.yml'], startupTimeoutMs = 120_000 } = options;
  const projectName = `parley-test-${randomBytes(4).toString('hex')}`;
  const env: Record<string, string> = { ...options.env };
  const run = async (args: readonly string[]): Promise<string> => {
    const named = ['compose', '-p', projectName, ...files.flatMap((file) => ['-f', file]), ...args];
    const { stdout } = await execute('docker', named, {
      cwd: directory,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 120_000,
    });
    return stdout;
  };

  for (const file of files) {
    const text = await readFile(join(directory, file), 'utf8');
    for (const name of portVariables(text)) env[name] ??= String(await freePort());
  }
  const services = parseComposeConfig(await run(['config', '--format', 'json']));
  checkServiceNames(services, [...(options.services ?? []), ...Object.keys(options.waits ?? {})]);

  const down = async () => {
    forget();
    await run(['down', '--volumes', '--remove-orphans', '--timeout', '5']);
  };
  const forget = onTestsEnd(down);
  try {
    await up(directory, files, projectName, env, services, startupTimeoutMs, options);
  } catch (cause) {
    const logs = await run(['logs', '--no-color', '--tail', '30']).catch(() => '');
    await down().catch(() => undefined);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the stack did not start: ${reason}\n${logs}`, { cause });
  }

  const port = (service: string, containerPort: number): number => {
    checkServiceNames(services, [service]);
    const published = services.get(service)?.ports.get(containerPort);
    if (published === undefined) throw new Error(`port ${String(containerPort)} of ${service} is not published`);
    return published;
  };
  return {
    projectName,
    port,
    url: (service, containerPort) => `http://127.0.0.1:${String(port(service, containerPort))}`,
    logs: async (service) => {
      checkServiceNames(services, [service]);
      return run(['logs', '--no-color', '--no-log-prefix', service]);
    },
    exec: async (service, command) => {
      checkServiceNames(services, [service]);
      try {
        return { exitCode: 0, output: await run(['exec', '-T', service, ...command]) };
      } catch (error) {
        const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
        if (typeof code !== 'number') throw error;
        return { exitCode: code, output: stdout + stderr };
      }
    },
    kill: async (service, signal = 'SIGKILL') => {
      checkServiceNames(services, [service]);
      await run(['kill', '--signal', signal, service]);
    },
    compose: (...args) => run(args),
    down,
  };
}

async function up(
  directory: string,
  files: readonly string[],
  projectName: string,
  env: Readonly<Record<string, string>>,
  services: ReadonlyMap<string, ComposeService>,
  startupTimeoutMs: number,
  options: ComposeStackOptions,
): Promise<void> {
  // Loaded here: only tests that need containers pay for it.
  const { DockerComposeEnvironment, Wait } = await import('testcontainers');
  let environment = new DockerComposeEnvironment(directory, [...files])
    .withProjectName(projectName)
    .withEnvironment({ ...env })
    .withStartupTimeout(startupTimeoutMs);
  if (options.build !== false) environment = environment.withBuild();
  for (const [name, service] of services) {
    const wait = options.waits?.[name] ?? (service.hasHealthCheck ? Wait.forHealthCheck() : Wait.forLogMessage(/./u));
    environment = environment.withWaitStrategy(`${name}-1`, wait);
  }
  await environment.up(options.services === undefined ? undefined : [...options.services]);
}
