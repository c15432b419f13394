import { systemCode } from '@parley/shell';

/** What went wrong, in words for the model: relative paths only, nothing of the machine behind them. */
export class ReadyToolError extends Error {
  override readonly name = 'ReadyToolError';
}

const TEXTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EISDIR', 'is a folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['ELOOP', 'is a link, or has too many links on its way'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['ENOSPC', 'no space left on the device'],
  ['EDQUOT', 'no space left under the quota'],
  ['EROFS', 'the file system is read-only'],
  ['EMFILE', 'too many open files'],
  ['ENFILE', 'too many open files'],
  ['ENOTEMPTY', 'is a folder that is not empty'],
  ['EBUSY', 'is in use'],
  ['ETXTBSY', 'is being executed'],
]);

/** Words for a failure with `path`; undefined for what is no failure of the operating system or of the caller. */
export function failureText(error: unknown, path: string): string | undefined {
  if (error instanceof ReadyToolError) return error.message;
  const code = systemCode(error);
  if (code === undefined) return undefined;
  return `'${shortened(path)}': ${TEXTS.get(code) ?? `failed (${code})`}`;
}

/** A path as it may be shown. */
export function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
