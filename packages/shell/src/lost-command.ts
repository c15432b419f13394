/** What is said of a command whose end nobody can tell. */
export const LOST_REASON = 'it is not known how the command ended: the process that starts commands was ended';

/** The same as a line of its errors. */
export const LOST_LINE = `error: ${LOST_REASON}\n`;

/** The process that starts commands was ended before it told whether this one, which it was given, had begun. */
export class LostCommandError extends Error {
  override readonly name = 'LostCommandError';

  constructor() {
    super(LOST_REASON);
  }
}

/** The exit code of such a command, as shells give it for what cannot be run. */
export const LOST_EXIT_CODE = 126;
