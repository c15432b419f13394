import type { FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ReadyToolError, shortened } from '../ready-tool-error.js';

/** A folder inside the root. What is done through it happens in this very folder, wherever its path leads by then. */
export interface HeldFolder {
  /** Relative to the root; empty for the root itself. */
  readonly path: string;
  /** Where the system reaches an entry of this folder. */
  at(name: string): string;
  /** A folder in this one. @throws if it is a link. */
  child(name: string): Promise<HeldFolder>;
  /** @throws ReadyToolError if the folder is no longer where it was. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** A regular file inside the root, open for reading. */
export interface HeldFile {
  readonly handle: FileHandle;
  /** Relative to the root, after following links. */
  readonly path: string;
}

/**
 * Opens what is inside a folder and nothing else. Links are followed as long as they stay inside. Pipes, devices and
 * sockets are refused without being opened. A file that has a second name (hard link) outside cannot be told apart.
 */
export interface ConfinedRoot {
  /** @throws ReadyToolError for what is outside or no regular file, and what the system throws. */
  openFile(path: string): Promise<HeldFile>;
  /** With `create`, missing folders are made. @throws as `openFile`. */
  openFolder(path: string, options?: { readonly create?: boolean }): Promise<HeldFolder>;
}

/**
 * The path relative to the root, which may have several names. @throws ReadyToolError if it leads outside by its text
 * alone.
 */
export function pathInside(roots: readonly string[], path: string): string {
  if (path.includes('\0')) throw new ReadyToolError('a path must not contain NUL characters');
  for (const root of roots) {
    const inside = relative(root, resolve(root, path));
    if (!isOutside(inside)) return inside;
  }
  throw outsideError(path);
}

/** Where a real path is in the root. @throws ReadyToolError if it is not. */
export function locationInside(root: string, realPath: string, shown: string): string {
  const inside = relative(root, realPath);
  if (isOutside(inside)) throw outsideError(shown);
  return inside;
}

function outsideError(path: string): ReadyToolError {
  return new ReadyToolError(`'${shortened(path)}' is outside of the root folder`);
}

export function notRegularError(path: string): ReadyToolError {
  return new ReadyToolError(`'${shortened(path)}' is not a regular file`);
}

export function folderError(path: string): ReadyToolError {
  return new ReadyToolError(`'${shortened(path)}' is a folder`);
}

export function noFolderError(path: string): ReadyToolError {
  return new ReadyToolError(`'${shortened(path)}' is not a folder`);
}

export function joinInside(folder: string, name: string): string {
  return folder === '' ? name : join(folder, name);
}

/** The folder that a path inside the root is in; empty for the root. */
export function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === '.' ? '' : parent;
}

function isOutside(inside: string): boolean {
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
}
