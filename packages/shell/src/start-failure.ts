import { existsSync } from 'node:fs';
import { systemCode } from './system-code.js';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['E2BIG', 'argument list too long'],
  ['EACCES', 'permission denied'],
  ['EAGAIN', 'too many processes'],
  ['EMFILE', 'too many open files'],
  ['ENFILE', 'too many open files'],
  ['ENOMEM', 'out of memory'],
  ['ESRCH', 'the process that starts commands was ended'],
  ['ENOTDIR', 'the working folder is no folder'],
]);

/** Why a command could not be started, in words for who sent it. */
export function startFailureReason(error: unknown, cwd: string, what = 'the shell'): string {
  const code = systemCode(error);
  // The system says the same of a missing program and of a missing working folder.
  if (code === 'ENOENT') return `${existsSync(cwd) ? what : 'the working folder'} does not exist`;
  if (code !== undefined) return REASONS.get(code) ?? code;
  return 'its text is not valid';
}
