import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { LaunchedProcess, Launcher, LaunchRequest, ProcessExit } from './launcher.js';
import { descriptorTarget, processEntry } from './process-table.js';

/**
 * Node's own way, which runs everywhere. It copies the page tables of this process each time, while nothing else runs
 * in it: milliseconds in one of 100 MB. Its pipes are sockets, so a command cannot open `/dev/stdout` by that name.
 */
export const spawnLauncher: Launcher = {
  async launch({ shell, shellName, text, cwd, env, merged }: LaunchRequest): Promise<LaunchedProcess> {
    const child = spawn(shell, merged ? ['-c', 'exec "$0" -c "$1" 2>&1', shellName, text] : ['-c', text], {
      argv0: shellName,
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', merged ? 'ignore' : 'pipe'],
    });
    const { pid, stdout, stderr } = child;
    if (pid === undefined || stdout === null) {
      stdout?.destroy();
      stderr?.destroy();
      const [error] = (await once(child, 'error')) as unknown[];
      throw error;
    }
    child.on('error', () => undefined);
    const exit = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)));
    });
    // Its exit is not noticed before this turn of the event loop ends: until then it has its entry in /proc.
    const bornAt = process.platform === 'linux' ? processEntry(pid)?.startedAt : undefined;
    const pipes = bornAt === undefined ? [] : socketsOf(pid);
    return { pid, bornAt, pipes, heir: undefined, stdout, stderr: stderr ?? undefined, exit };
  },
};

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  if (signal !== null) return { kind: 'signal', signal: constants.signals[signal] };
  return { kind: 'code', code: code ?? 0 };
}

function socketsOf(pid: number): string[] {
  return [descriptorTarget(pid, 1), descriptorTarget(pid, 2)]
    .filter((target) => target?.startsWith('socket:') === true)
    .map(String);
}
