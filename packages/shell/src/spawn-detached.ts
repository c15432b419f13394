import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { descriptorTarget, processEntry } from './process-table.js';

export interface DetachedRequest {
  readonly file: string;
  readonly args: readonly string[];
  /** What it finds as its own name. Default `file`. */
  readonly argv0?: string | undefined;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

export interface DetachedProcess {
  readonly child: ChildProcess;
  /** Also the number of its group and its session. */
  readonly pid: number;
  /** Clock tick of its start; undefined where there is no /proc. */
  readonly bornAt: number | undefined;
  /** Those of its pipes that nobody else has yet, as /proc names them where somebody holds one. */
  readonly pipes: readonly string[];
}

/**
 * Starts a process in a session of its own by Node's own way.
 *
 * @throws what the system or Node throws if it cannot be started.
 */
export async function spawnDetached(request: DetachedRequest): Promise<DetachedProcess> {
  const { file, args, argv0, cwd, env, stdio } = request;
  const named = argv0 === undefined ? {} : { argv0 };
  const child = spawn(file, args, { ...named, cwd, env, detached: true, stdio });
  const { pid } = child;
  if (pid === undefined) {
    const error = once(child, 'error');
    // Not there at all when there are no descriptors left. A pipe without a process may fail on its own.
    for (const stream of [child.stdin, child.stdout, child.stderr] as const) {
      stream?.on('error', () => undefined);
      stream?.destroy();
    }
    throw ((await error) as unknown[])[0];
  }
  child.on('error', () => undefined);
  // Its exit is not noticed before this turn of the event loop ends: until then it has its entry in /proc.
  const bornAt = process.platform === 'linux' ? processEntry(pid)?.startedAt : undefined;
  return { child, pid, bornAt, pipes: bornAt === undefined ? [] : socketsOf(pid) };
}

/** Node's pipes are sockets. */
function socketsOf(pid: number): string[] {
  return [0, 1, 2]
    .map((descriptor) => descriptorTarget(pid, descriptor))
    .filter((target) => target?.startsWith('socket:') === true)
    .map(String);
}
