import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** A shell command to be started in a session of its own, with `/dev/null` as its input. */
export interface LaunchRequest {
  /** Path of a shell that takes `-c`. */
  readonly shell: string;
  /** The name that the shell gets as `$0`. */
  readonly shellName: string;
  readonly text: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether errors go to the same pipe as the output. */
  readonly merged: boolean;
}

export type ProcessExit =
  | { readonly kind: 'code'; readonly code: number }
  /** Number of the signal that ended it. */
  | { readonly kind: 'signal'; readonly signal: number }
  /** Nobody can tell any more how it ends, or whether it has. */
  | { readonly kind: 'lost' };

export interface LaunchedProcess {
  /** Also the number of its group and its session. */
  readonly pid: number;
  /** Clock tick of its start; undefined where there is no /proc. */
  readonly bornAt: number | undefined;
  /** Its output pipes, as /proc names them where somebody holds one. */
  readonly pipes: readonly string[];
  /** Pid of the process that its orphans come to, if that is nobody's but ours. */
  readonly heir: number | undefined;
  readonly stdout: Socket | Readable;
  /** Undefined if it is merged. */
  readonly stderr: Socket | Readable | undefined;
  readonly exit: Promise<ProcessExit>;
}

/** A way to start processes. */
export interface Launcher {
  /** @throws what the system throws if it cannot be started: an error with `code` and `syscall`. */
  launch(request: LaunchRequest): Promise<LaunchedProcess>;
}
