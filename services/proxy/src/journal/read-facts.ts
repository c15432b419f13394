import { parseExact } from '@parley/proxy-protocol';
import type { Fact } from '../domain/facts.js';
import type { FileLayer } from './file-layer.js';
import { readLines } from './whole-lines.js';

/** A line in a journal that is none of ours, with whole lines after it or not. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError';

  constructor(
    readonly path: string,
    readonly line: number,
  ) {
    super(`line ${String(line)} of the journal ${path} is damaged: mend the file or move it away, then start again`);
  }
}

export interface ReadFacts {
  readonly facts: readonly Fact[];
  /** Bytes after the last whole line: written, and cut off by a crash before anybody was told. */
  readonly tornBytes: number;
}

/** @throws JournalDamagedError for a whole line that holds no fact. */
export async function readFacts(path: string, files: FileLayer): Promise<ReadFacts> {
  const facts: Fact[] = [];
  let tornBytes = 0;
  const file = await files.open(path, 'r');
  try {
    for await (const { bytes, isWhole } of readLines(file)) {
      if (isWhole) facts.push(parseFact(bytes) ?? damaged(path, facts.length + 1));
      else tornBytes = bytes.length;
    }
  } finally {
    await file.close();
  }
  return { facts, tornBytes };
}

/** When the first fact of a file happened; Infinity if there is none. For the order in which files are read. */
export async function firstFactAt(path: string, files: FileLayer): Promise<number> {
  const file = await files.open(path, 'r');
  try {
    for await (const { bytes, isWhole } of readLines(file)) {
      return (isWhole ? parseFact(bytes)?.at : undefined) ?? Number.POSITIVE_INFINITY;
    }
    return Number.POSITIVE_INFINITY;
  } finally {
    await file.close();
  }
}

function parseFact(bytes: Buffer): Fact | undefined {
  try {
    const value = parseExact(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isFact(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Lines are our own: that one is whole is all that can be wrong with it. */
function isFact(value: unknown): value is Fact {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, at } = value as { readonly kind?: unknown; readonly at?: unknown };
  return typeof kind === 'string' && typeof at === 'number';
}

function damaged(path: string, line: number): never {
  throw new JournalDamagedError(path, line);
}
