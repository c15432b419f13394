/** What is said of a command whose end nobody can tell. */
export const LOST_REASON = 'it is not known how the command ended: the process that starts commands was ended';

/** The exit code of such a command, as shells give it for what cannot be run. */
export const LOST_EXIT_CODE = 126;
