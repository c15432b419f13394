import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
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
  return { child, pid, bornAt, pipes: bornAt === undefined ? [] : pipesOf(child, pid) };
}

/** Node's pipes are pairs of sockets: what the process sees is the other end of what is read and written here. */
export function pipesOf({ stdio }: ChildProcess, pid: number): string[] {
  return [0, 1, 2].flatMap((descriptor) => {
    const seen = descriptorTarget(pid, descriptor);
    if (seen?.startsWith('socket:') === true) return [seen];
    // It has ended already, leaving others behind, or has put something else in its place.
    return otherEndOf(stdio[descriptor]) ?? [];
  });
}

/** Nearly always the system numbers the two ends of a pair one after the other, ours first. */
function otherEndOf(stream: unknown): string | undefined {
  const descriptor = (stream as { _handle?: { fd?: unknown } } | null | undefined)?._handle?.fd;
  if (typeof descriptor !== 'number' || descriptor < 0) return undefined;
  return `socket:[${fstatSync(descriptor).ino + 1}]`;
}
