import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { resultOf, type ResultData } from '../tool-call.test-helper.js';
import { FileTools, type FileToolsOptions } from './file-tools.js';

/** A folder for file tools, new for each test, with a folder around it that is outside. */
export class FileSandbox {
  base = '';
  root = '';

  constructor() {
    beforeEach(() => {
      this.base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-files-')));
      this.root = join(this.base, 'root');
      mkdirSync(this.root);
    });
    afterEach(() => rmSync(this.base, { recursive: true, force: true }));
  }

  put = (path: string, content: string | Buffer = ''): string => {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  };

  text = (path: string): string => readFileSync(join(this.root, path), 'utf8');

  tools = (options: Partial<FileToolsOptions> = {}): FileTools => new FileTools({ root: this.root, ...options });

  /** Calls a tool with arguments as a model may write them, right or wrong. */
  use = (
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: Partial<FileToolsOptions> = {},
  ): Promise<ResultData> => resultOf(this.tools(options), name, args as never);
}
