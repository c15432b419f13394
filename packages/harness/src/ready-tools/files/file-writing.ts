import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemCode } from '@parley/shell';
import type { JsonObject } from '../../json.js';
import { ReadyToolError } from '../ready-tool-error.js';
import type { ToolArguments } from '../tool-arguments.js';
import {
  folderError,
  parentOf,
  pathInside,
  type ConfinedRoot,
  type HeldFile,
  type HeldFolder,
} from './confined-root.js';
import { editText } from './edit-text.js';
import { replaceFile } from './replace-file.js';
import { decodeUtf8, looksBinary } from './text-content.js';

export interface FileWritingOptions {
  /** Names of the root folder. */
  readonly roots: readonly string[];
  readonly confined: ConfinedRoot;
  readonly maxWriteBytes: number;
  readonly newId: () => string;
}

/** The tools that change files. */
export class FileWriting {
  constructor(private readonly options: FileWritingOptions) {}

  async write(args: ToolArguments, signal: AbortSignal): Promise<JsonObject> {
    const path = pathInside(this.options.roots, args.text('path'));
    const content = Buffer.from(args.text('content'));
    if (path === '') throw folderError('.');
    this.#checkSize(content.length);
    const found = await this.#openExisting(path);
    const old = await statsAndClose(found);
    const target = found?.path ?? path;
    await this.#replace(target, content, old, false, signal);
    return { path: target, bytes: content.length, created: old === undefined };
  }

  async edit(args: ToolArguments, signal: AbortSignal): Promise<JsonObject> {
    const path = pathInside(this.options.roots, args.text('path'));
    const edit = {
      oldText: args.text('old_text'),
      newText: args.text('new_text'),
      replaceAll: args.flag('replace_all'),
      maxLength: this.options.maxWriteBytes,
    };
    const file = await this.options.confined.openFile(path);
    const { text, stats } = await this.#readText(file).finally(() => file.handle.close());
    const edited = editText(text, edit);
    const content = Buffer.from(edited.text);
    this.#checkSize(content.length);
    await this.#replace(file.path, content, stats, true, signal);
    return { path: file.path, replacements: edited.replacements };
  }

  async #readText(file: HeldFile): Promise<{ text: string; stats: BigIntStats }> {
    const stats = await file.handle.stat({ bigint: true });
    this.#checkSize(Number(stats.size));
    const bytes = Buffer.alloc(Number(stats.size));
    const { bytesRead } = await file.handle.read(bytes, 0, bytes.length, 0);
    const content = bytes.subarray(0, bytesRead);
    const { text, valid } = decodeUtf8(content);
    // What cannot be read back exactly would be destroyed by writing it.
    if (looksBinary(content) || !valid) throw new ReadyToolError('the file is not valid UTF-8 text');
    return { text, stats };
  }

  /** Undefined if nothing is there. */
  async #openExisting(path: string): Promise<HeldFile | undefined> {
    try {
      return await this.options.confined.openFile(path);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #replace(
    path: string,
    content: Buffer,
    old: BigIntStats | undefined,
    onlyUnchanged: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    // Renaming over it would not ask.
    if (old !== undefined && (old.mode & 0o222n) === 0n) throw new ReadyToolError('the file is write-protected');
    const folder = await this.options.confined.openFolder(parentOf(path), { create: old === undefined });
    const name = basename(path);
    try {
      if (old === undefined && (await isLink(folder, name))) {
        throw new ReadyToolError('the path is a link that leads nowhere');
      }
      await replaceFile(folder, { name, content, old, onlyUnchanged, id: this.options.newId(), signal });
    } finally {
      await folder.close();
    }
  }

  #checkSize(bytes: number): void {
    const { maxWriteBytes } = this.options;
    if (bytes > maxWriteBytes) throw new ReadyToolError(`the file has more than ${maxWriteBytes} bytes`);
  }
}

async function statsAndClose(file: HeldFile | undefined): Promise<BigIntStats | undefined> {
  if (file === undefined) return undefined;
  try {
    return await file.handle.stat({ bigint: true });
  } finally {
    await file.handle.close();
  }
}

async function isLink(folder: HeldFolder, name: string): Promise<boolean> {
  try {
    return (await lstat(folder.at(name))).isSymbolicLink();
  } catch {
    return false;
  }
}
