import { randomUUID } from 'node:crypto';
import { MARKER_NAME } from './process-family.js';
import { ProgramStartError } from './program-start-error.js';
import { spawnDetached, type DetachedProcess } from './spawn-detached.js';
import { ProgramProcess, type StartedProgram } from './started-program.js';

export interface StartProgramOptions {
  /** A program: a path, or a name that is looked for on the `PATH` of `env`. Never a line for a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborted before the start, nothing is started. It does not end what runs. */
  readonly signal?: AbortSignal | undefined;
  /** See `ProcessFamilyOptions`. Default false. */
  readonly claimsOrphans?: boolean;
}

/**
 * Starts a program in a session of its own, with pipes as its input, output and errors. It, and everything that comes
 * from it, is killed when this process exits.
 *
 * @throws ProgramStartError if it cannot be started.
 * @throws the reason of the signal if that was aborted before.
 */
export async function startProgram(options: StartProgramOptions): Promise<StartedProgram> {
  options.signal?.throwIfAborted();
  const id = randomUUID();
  return new ProgramProcess(await launch(options, id), id, options.claimsOrphans ?? false);
}

async function launch({ command, args = [], cwd, env }: StartProgramOptions, id: string): Promise<DetachedProcess> {
  try {
    const marked = { ...env, [MARKER_NAME]: id };
    return await spawnDetached({ file: command, args, cwd, env: marked, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    throw ProgramStartError.from(error, command, cwd);
  }
}
