import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode } from './error-code.js';
import { isUnprintable, readFrontMatter } from './front-matter.js';
import type { LoadedSkill } from './skill.js';
import { BrokenSkillError } from './skill-errors.js';

const MAIN_FILE = 'SKILL.md';
const TEMPLATE_FILE = 'template.md';
const SAMPLE_FILE = join('examples', 'sample.md');

/**
 * The skill in one folder; null if the folder holds no SKILL.md.
 *
 * @param root real path of the skills folder: files that a link takes out of it are refused
 * @throws BrokenSkillError or the error of the file system
 */
export async function loadSkill(root: string, folder: string, maxBytes: number): Promise<LoadedSkill | null> {
  const path = join(root, folder);
  const main = await readText(root, path, MAIN_FILE, maxBytes);
  if (main === null) return null;
  if (isUnprintable(main.path)) throw new BrokenSkillError('its path has control characters');
  const { name, description } = readFrontMatter(main.text);
  const template = await readText(root, path, TEMPLATE_FILE, maxBytes);
  const sample = await readText(root, path, SAMPLE_FILE, maxBytes);
  return {
    name: name ?? folder,
    description,
    location: main.path,
    instructions: main.text.trim(),
    template: template?.text.trim() ?? null,
    sample: sample?.text.trim() ?? null,
  };
}

async function readText(
  root: string,
  folder: string,
  file: string,
  maxBytes: number,
): Promise<{ readonly path: string; readonly text: string } | null> {
  const path = await realPathOf(join(folder, file));
  if (path === null) return null;
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw new BrokenSkillError(`its ${file} is a link to outside of the skills folder`);
  }
  // Non-blocking: opening a named pipe would otherwise wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { path, text: decode(await readBounded(handle, file, maxBytes), file) };
  } finally {
    await handle.close();
  }
}

async function realPathOf(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function readBounded(handle: FileHandle, file: string, maxBytes: number): Promise<Buffer> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new BrokenSkillError(`its ${file} is no file`);
  if (stat.size > maxBytes) throw new BrokenSkillError(`its ${file} has more than ${maxBytes} bytes`);
  const buffer = Buffer.alloc(stat.size);
  // A file that grows in the meantime is read up to the size that was checked.
  const { bytesRead } = await handle.read(buffer, 0, stat.size, 0);
  return buffer.subarray(0, bytesRead);
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new BrokenSkillError(`its ${file} is not UTF-8`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
