import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface FoundShell {
  /** `bash`, or `sh` where there is none: the name that the shell gets, and says in its errors. */
  readonly name: 'bash' | 'sh';
  readonly path: string;
}

const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The shell on a search path (`PATH`); absolute, so that not every command has to search again. */
export function findShell(searchPath = FALLBACK_PATH): FoundShell {
  const bash = findProgram('bash', searchPath);
  if (bash !== undefined) return { name: 'bash', path: bash };
  return { name: 'sh', path: findProgram('sh', searchPath) ?? '/bin/sh' };
}

export function findProgram(name: string, searchPath = FALLBACK_PATH): string | undefined {
  return searchPath
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
