import { startFailureReason } from './start-failure.js';
import { systemCode } from './system-code.js';

/**
 * A program could not be started. Neither the message nor anything else in it has an argument or a variable of the
 * environment: what the system's own errors have of them is left out, hence there is no `cause`.
 */
export class ProgramStartError extends Error {
  override readonly name = 'ProgramStartError';

  constructor(
    /** The program, as far as it is no line for a shell. */
    readonly command: string,
    /** Of the system, such as ENOENT, EACCES, E2BIG; EINVAL for a command, argument or variable that cannot be one. */
    readonly code: string,
    /** In words. */
    readonly reason: string,
  ) {
    super(`the program ${command} could not be started: ${reason}`);
  }

  static from(error: unknown, command: string, cwd: string): ProgramStartError {
    const code = systemCode(error) ?? 'EINVAL';
    const name = programName(command);
    if (code === 'EINVAL') {
      return new ProgramStartError(name, code, 'its name, an argument or a variable of its environment is not valid');
    }
    const reason = startFailureReason(error, cwd, 'the program, or what it says it runs by,');
    return new ProgramStartError(name, code, name === command ? reason : `${reason}. ${LINE_HINT}`);
  }
}

const LINE_HINT = 'It is no line for a shell: arguments are given apart from the command';

/** Of a line for a shell only the first word: arguments may follow, and secrets in them. */
function programName(command: string): string {
  const first = /^\S+(?=\s)/u.exec(command)?.[0];
  return first === undefined ? command : `${first} …`;
}
