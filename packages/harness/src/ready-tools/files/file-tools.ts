import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '../../json.js';
import type { ToolDefinition } from '../../tools/tool-definition.js';
import type { ToolCallContext, ToolHandler } from '../../tools/tool-handler.js';
import { StepOutcome } from '../../tools/step-outcome.js';
import { failureText } from '../ready-tool-error.js';
import { integerOption, ToolArguments } from '../tool-arguments.js';
import type { ConfinedRoot } from './confined-root.js';
import { DescriptorRoot, descriptorsWork } from './descriptor-root.js';
import { EDIT_FILE, LIST_FILES, READ_FILE, SEARCH_FILES, WRITE_FILE } from './file-tool-definitions.js';
import { FileReading } from './file-reading.js';
import { FileWriting } from './file-writing.js';
import { RealPathRoot } from './real-path-root.js';

export interface FileToolsOptions {
  /** The folder that the tools see; nothing outside of it is read or written. */
  readonly root: string;
  /** How much one read gives back. Default 262,144. */
  readonly maxReadBytes?: number;
  /** The largest file that is written or edited. Default 2,097,152. */
  readonly maxWriteBytes?: number;
  /** Entries of a list and matches of a search. Default 500. */
  readonly maxResults?: number;
  /** Leaves the tools that write out. Default false. */
  readonly readOnly?: boolean;
  /** Names of folders that lists and searches do not enter. Default `node_modules`, `.git`. */
  readonly exclude?: readonly string[];
  /** How long one search may take, in milliseconds. Default 20,000. */
  readonly searchTimeoutMs?: number;
  /** Part of temporary names, unique each time. */
  readonly newId?: () => string;
}

export const DEFAULT_EXCLUDED_FOLDERS: readonly string[] = ['node_modules', '.git'];

interface FileToolParts {
  readonly reading: FileReading;
  readonly writing: FileWriting;
}

/**
 * Tools for the files of one folder: `read_file`, `list_files`, `search_files`, `write_file`, `edit_file`. Results are
 * objects with `status`; a failure is `{status: "error", tool, error}`. Paths in results are relative to the root.
 *
 * Links are followed while they stay inside. On Linux with /proc this holds even while others swap folders for links;
 * elsewhere only against links that are there before. It never holds against hard links and bind mounts.
 */
export class FileTools implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #options: FileToolsOptions;
  readonly #maxReadBytes: number;
  readonly #maxWriteBytes: number;
  readonly #maxResults: number;
  readonly #searchTimeoutMs: number;
  #parts: Promise<FileToolParts> | undefined;

  /** @throws RangeError for a limit that is not valid. */
  constructor(options: FileToolsOptions) {
    this.#options = options;
    this.#maxReadBytes = integerOption(options.maxReadBytes, 262_144, 'maxReadBytes', 4);
    this.#maxWriteBytes = integerOption(options.maxWriteBytes, 2_097_152, 'maxWriteBytes');
    this.#maxResults = integerOption(options.maxResults, 500, 'maxResults');
    this.#searchTimeoutMs = integerOption(options.searchTimeoutMs, 20_000, 'searchTimeoutMs');
    const reading = [READ_FILE, LIST_FILES, SEARCH_FILES];
    this.tools = options.readOnly === true ? reading : [...reading, WRITE_FILE, EDIT_FILE];
  }

  /** @throws what the system throws if the root is no folder. */
  async start(): Promise<void> {
    await this.#ready();
  }

  async call(context: ToolCallContext): Promise<StepOutcome> {
    const args = new ToolArguments(context.arguments);
    try {
      return new StepOutcome({ status: 'ok', ...(await this.#run(context, args)) });
    } catch (error) {
      context.signal.throwIfAborted();
      const text = failureText(error, args.pathForErrors());
      if (text === undefined) throw error;
      return new StepOutcome({ status: 'error', tool: context.tool.name, error: text }, { error: text });
    }
  }

  async #run({ tool, signal }: ToolCallContext, args: ToolArguments): Promise<JsonObject> {
    const { reading, writing } = await this.#ready();
    switch (this.tools.find(({ name }) => name === tool.name)?.name) {
      case READ_FILE.name:
        return reading.read(args, signal);
      case LIST_FILES.name:
        return reading.list(args, signal);
      case SEARCH_FILES.name:
        return reading.search(args, signal);
      case WRITE_FILE.name:
        return writing.write(args, signal);
      case EDIT_FILE.name:
        return writing.edit(args, signal);
      default:
        throw new TypeError(`no file tool is called ${tool.name}`);
    }
  }

  #ready(): Promise<FileToolParts> {
    // A failure is not kept: the folder may be there the next time.
    this.#parts ??= this.#open().catch((error: unknown) => {
      this.#parts = undefined;
      throw error;
    });
    return this.#parts;
  }

  async #open(): Promise<FileToolParts> {
    const root = await realpath(this.#options.root);
    const roots = [root, resolve(this.#options.root)];
    const confined: ConfinedRoot = (await descriptorsWork(root)) ? new DescriptorRoot(root) : new RealPathRoot(root);
    const folder = await confined.openFolder('');
    await folder.close();
    const reading = new FileReading({
      roots,
      confined,
      maxReadBytes: this.#maxReadBytes,
      maxResults: this.#maxResults,
      searchTimeoutMs: this.#searchTimeoutMs,
      exclude: new Set(this.#options.exclude ?? DEFAULT_EXCLUDED_FOLDERS),
    });
    const newId = this.#options.newId ?? randomUUID;
    return { reading, writing: new FileWriting({ roots, confined, maxWriteBytes: this.#maxWriteBytes, newId }) };
  }
}
