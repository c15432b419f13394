import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { systemCode } from '@parley/shell';
import { WorkingFolderError } from './child-errors.js';

/**
 * To be asked before a program is started: the system tells a missing working folder like a missing program.
 *
 * @throws WorkingFolderError
 */
export async function checkWorkingFolder(path: string): Promise<void> {
  if (!isAbsolute(path)) throw new WorkingFolderError(path, 'not_absolute');
  const found = await stat(path).catch((error: unknown) => {
    throw new WorkingFolderError(path, faultOf(error));
  });
  if (!found.isDirectory()) throw new WorkingFolderError(path, 'not_a_folder');
  // Asked by what is done: questions for a permission are answered for another user where a program runs as one.
  await stat(`${path}/.`).catch(() => {
    throw new WorkingFolderError(path, 'not_enterable');
  });
}

function faultOf(error: unknown): 'missing' | 'not_a_folder' | 'not_enterable' {
  const code = systemCode(error);
  if (code === 'ENOTDIR') return 'not_a_folder';
  return code === 'EACCES' ? 'not_enterable' : 'missing';
}
