import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { joinInside, type HeldFolder } from './confined-root.js';

/** Entries of one folder that are looked at; what comes after them is left out. */
const MAX_FOLDER_ENTRIES = 10_000;

export interface WalkedEntry {
  readonly name: string;
  /** Relative to the root. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Held only until the walk goes on. */
  readonly folder: HeldFolder;
}

export interface WalkOptions {
  /** 1: the folder's own entries. */
  readonly maxDepth: number;
  /** Names of folders that are not entered. */
  readonly exclude: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Hears that entries were left out. */
  readonly onIncomplete: () => void;
}

/**
 * Everything below a folder, in order of name, folders before what they hold. Links are told, never followed; folders
 * that cannot be read are passed over.
 */
export async function* walkFolder(folder: HeldFolder, options: WalkOptions, depth = 1): AsyncGenerator<WalkedEntry> {
  for (const entry of await entriesOf(folder, options)) {
    options.signal.throwIfAborted();
    const kind = kindOf(entry);
    yield { name: entry.name, path: joinInside(folder.path, entry.name), kind, folder };
    if (kind !== 'folder' || depth >= options.maxDepth || options.exclude.has(entry.name)) continue;
    // Gone, forbidden, or replaced by a link since it was listed.
    const child = await folder.child(entry.name).catch(() => undefined);
    if (child === undefined) continue;
    try {
      yield* walkFolder(child, options, depth + 1);
    } finally {
      await child.close();
    }
  }
}

async function entriesOf(folder: HeldFolder, options: WalkOptions): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(folder.at('.'), { bufferSize: 256 })) {
      if (entries.length >= MAX_FOLDER_ENTRIES) {
        options.onIncomplete();
        break;
      }
      entries.push(entry);
    }
  } catch {
    options.onIncomplete();
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(entry: Dirent): WalkedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
