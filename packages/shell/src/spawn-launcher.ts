import { constants } from 'node:os';
import type { LaunchedProcess, Launcher, LaunchRequest, ProcessExit } from './launcher.js';
import { spawnDetached } from './spawn-detached.js';

/**
 * Node's own way, which runs everywhere. It copies the page tables of this process each time, while nothing else runs
 * in it: milliseconds in one of 100 MB. Its pipes are sockets, so a command cannot open `/dev/stdout` by that name.
 */
export const spawnLauncher: Launcher = {
  async launch({ shell, shellName, text, cwd, env, merged }: LaunchRequest): Promise<LaunchedProcess> {
    const { child, pid, bornAt, pipes } = await spawnDetached({
      file: shell,
      args: merged ? ['-c', 'exec "$0" -c "$1" 2>&1', shellName, text] : ['-c', text],
      argv0: shellName,
      cwd,
      env,
      stdio: ['ignore', 'pipe', merged ? 'ignore' : 'pipe'],
    });
    const { stdout, stderr } = child;
    if (stdout === null) throw new Error('a process without the pipe that it was given');
    const exit = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)));
    });
    return { pid, bornAt, pipes, heir: undefined, stdout, stderr: stderr ?? undefined, exit };
  },
};

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  if (signal !== null) return { kind: 'signal', signal: constants.signals[signal] };
  return { kind: 'code', code: code ?? 0 };
}
