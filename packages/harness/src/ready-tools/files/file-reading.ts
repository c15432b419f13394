import type { JsonObject } from '../../json.js';
import { ReadyToolError } from '../ready-tool-error.js';
import type { ToolArguments } from '../tool-arguments.js';
import { pathInside, type ConfinedRoot, type HeldFolder } from './confined-root.js';
import { globMatcher } from './glob.js';
import { readLines, type LinesRead } from './read-lines.js';
import { FileSearch, searchPattern } from './search-files.js';
import { decodeUtf8 } from './text-content.js';
import { walkFolder, type WalkedEntry, type WalkOptions } from './walk-folder.js';

export interface FileReadingOptions {
  /** Names of the root folder. */
  readonly roots: readonly string[];
  readonly confined: ConfinedRoot;
  readonly maxReadBytes: number;
  readonly maxResults: number;
  readonly searchTimeoutMs: number;
  readonly exclude: ReadonlySet<string>;
}

const DEFAULT_LINES = 2_000;
const MAX_LINE = 1_000_000_000;
const DEFAULT_LIST_DEPTH = 2;
const MAX_DEPTH = 20;
const MAX_SEARCH_DEPTH = 100;

/** The tools that change nothing. */
export class FileReading {
  constructor(private readonly options: FileReadingOptions) {}

  async read(args: ToolArguments, signal: AbortSignal): Promise<JsonObject> {
    const path = pathInside(this.options.roots, args.text('path'));
    const offset = args.optionalInteger('offset', 1, MAX_LINE) ?? 1;
    const limit = args.optionalInteger('limit', 1, MAX_LINE) ?? DEFAULT_LINES;
    const file = await this.options.confined.openFile(path);
    try {
      const lines = await readLines(file.handle, { offset, limit, maxBytes: this.options.maxReadBytes }, signal);
      return readResult(file.path, offset, lines);
    } finally {
      await file.handle.close();
    }
  }

  async list(args: ToolArguments, signal: AbortSignal): Promise<JsonObject> {
    const path = pathInside(this.options.roots, args.optionalText('path') ?? '');
    const maxDepth = args.optionalInteger('depth', 1, MAX_DEPTH) ?? DEFAULT_LIST_DEPTH;
    const folder = await this.options.confined.openFolder(path);
    try {
      return await this.#listFolder(folder, maxDepth, signal);
    } finally {
      await folder.close();
    }
  }

  async search(args: ToolArguments, signal: AbortSignal): Promise<JsonObject> {
    const { roots, maxResults, searchTimeoutMs } = this.options;
    const path = pathInside(roots, args.optionalText('path') ?? '');
    const pattern = searchPattern(args.text('pattern'));
    const glob = args.optionalText('glob');
    const isWanted = glob === undefined ? () => true : globMatcher(glob);
    const wantedResults = args.optionalInteger('max_results', 1, Number.MAX_SAFE_INTEGER) ?? maxResults;
    const limits = { maxResults: Math.min(wantedResults, maxResults), timeoutMs: searchTimeoutMs, signal };
    const search = new FileSearch(pattern, limits);
    await this.#searchPath(path, search, isWanted, signal);
    const { matches, searchedFiles, incomplete } = search.result();
    const truncated = incomplete.length > 0;
    return { matches, searched_files: searchedFiles, truncated, ...(truncated && { note: incomplete.join('; ') }) };
  }

  async #listFolder(folder: HeldFolder, maxDepth: number, signal: AbortSignal): Promise<JsonObject> {
    const entries: string[] = [];
    let truncated = false;
    const options = this.#walkOptions(maxDepth, signal, () => (truncated = true));
    for await (const entry of walkFolder(folder, options)) {
      if (entries.length >= this.options.maxResults) {
        truncated = true;
        break;
      }
      entries.push(`${entry.path}${MARKS[entry.kind]}`);
    }
    return { path: folder.path === '' ? '.' : folder.path, entries, truncated };
  }

  async #searchPath(
    path: string,
    search: FileSearch,
    isWanted: (path: string) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const folder = await this.#folderOrNone(path);
    if (folder === undefined) {
      const { handle, path: real } = await this.options.confined.openFile(path);
      await search.addFile(handle, real).finally(() => handle.close());
      return;
    }
    try {
      const onIncomplete = () => search.markIncomplete('some folders could not be read to their end');
      for await (const entry of walkFolder(folder, this.#walkOptions(MAX_SEARCH_DEPTH, signal, onIncomplete))) {
        if (entry.kind === 'file' && isWanted(entry.path) && !(await search.addEntry(entry))) break;
      }
    } finally {
      await folder.close();
    }
  }

  /** Undefined if the path is no folder that may be opened. */
  async #folderOrNone(path: string): Promise<HeldFolder | undefined> {
    try {
      return await this.options.confined.openFolder(path);
    } catch (error) {
      if (error instanceof ReadyToolError) return undefined;
      throw error;
    }
  }

  #walkOptions(maxDepth: number, signal: AbortSignal, onIncomplete: () => void): WalkOptions {
    return { maxDepth, exclude: this.options.exclude, signal, onIncomplete };
  }
}

const MARKS: Readonly<Record<WalkedEntry['kind'], string>> = { file: '', folder: '/', link: '@', other: '|' };

function readResult(path: string, offset: number, lines: LinesRead): JsonObject {
  if (lines.binary) throw new ReadyToolError('the file is binary, not text');
  const { totalLines, lineCount } = lines;
  if (lineCount === 0 && (offset > 1 || totalLines !== 0)) {
    throw new ReadyToolError(`the file has ${totalLines === undefined ? 'too many' : String(totalLines)} lines`);
  }
  const { text, valid } = decodeUtf8(lines.content);
  const endLine = offset + lineCount - 1;
  return {
    path,
    text: text.replace(/^\uFEFF/u, ''),
    start_line: lineCount === 0 ? 0 : offset,
    end_line: lineCount === 0 ? 0 : endLine,
    ...(totalLines !== undefined && { total_lines: totalLines }),
    truncated: lines.cut || totalLines === undefined || endLine < totalLines,
    ...(!valid && { note: 'the file is not valid UTF-8; other bytes are shown as U+FFFD' }),
  };
}
