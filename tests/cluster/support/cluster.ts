import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcess, type RunningProcess } from '@parley/testkit';

const execute = promisify(execFile);

export const CHART = join(import.meta.dirname, '..', '..', '..', 'helm');
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface Ran {
  readonly code: number;
  /** Both streams. */
  readonly output: string;
}

/** A namespace of its own that lets only restricted pods in, and what is done in it. */
export class TestNamespace {
  readonly name = `parley-test-${randomBytes(3).toString('hex')}`;

  /** @throws when the cluster refuses. */
  async create(): Promise<void> {
    await kubectl('create', 'namespace', this.name);
    const labels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await kubectl('label', 'namespace', this.name, ...labels);
  }

  kubectl(...args: string[]): Promise<string> {
    return kubectl('--namespace', this.name, ...args);
  }

  /** Items of a list, as the cluster has them. */
  async list<T>(...args: string[]): Promise<readonly T[]> {
    return (JSON.parse(await this.kubectl('get', ...args, '--output', 'json')) as { items: T[] }).items;
  }

  helm(...args: string[]): Promise<string> {
    return helm('--namespace', this.name, ...args);
  }

  /** Runs to its end, whatever that is. */
  tryHelm(...args: string[]): Promise<Ran> {
    return ran(this.helm(...args));
  }

  /** From this machine to a port of a Service; `url` leads there. */
  async forward(
    target: string,
    port: number,
  ): Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }> {
    const running = await this.start('kubectl', [
      ...['--namespace', this.name, 'port-forward', target, `:${port}`, '--address', '127.0.0.1'],
    ]);
    const [, local = ''] = await running.waitForLine(/^Forwarding from 127\.0\.0\.1:(\d+)/u, 20_000);
    return { url: `http://127.0.0.1:${local}`, stop: () => running.stop() };
  }

  async apply(...resources: object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: resources };
    await this.#fed(JSON.stringify(list), 'apply', '--filename', '-');
  }

  /** Asks the cluster whether it would take these, with every field by its right name. @throws with what it says. */
  async dryRun(yaml: string): Promise<{ readonly output: string; readonly warnings: string }> {
    const { stdout, stderr } = await this.#fed(
      yaml,
      'apply',
      '--dry-run=server',
      '--validate=strict',
      '--filename',
      '-',
    );
    return { output: stdout, warnings: stderr };
  }

  #fed(input: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const running = execute('kubectl', ['--namespace', this.name, ...args], { timeout: 60_000 });
    running.child.stdin?.end(input);
    return running;
  }

  /** A line as somebody would type it. */
  shell(line: string): Promise<Ran> {
    return ran(execute('bash', ['-c', line], { timeout: 150_000 }).then(({ stdout }) => stdout));
  }

  /** A program of this machine that talks to the cluster. */
  start(command: string, args: readonly string[]): Promise<RunningProcess> {
    return startProcess({ command, args, env: { KUBECONFIG: process.env['KUBECONFIG'] } });
  }

  async remove(): Promise<void> {
    await kubectl('delete', 'namespace', this.name, '--wait', '--timeout', '90s', '--ignore-not-found');
  }
}

async function ran(work: Promise<string>): Promise<Ran> {
  try {
    return { code: 0, output: await work };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

export async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await execute('kubectl', args, { timeout: 240_000, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

export async function helm(...args: string[]): Promise<string> {
  const { stdout } = await execute('helm', args, { timeout: 300_000, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}
