import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '@parley/service-kit';
import type { Fact } from '../domain/facts.js';
import { compactFacts } from './compact-facts.js';
import type { FactLog, Stream } from './fact-log.js';
import { writeAll, type FileLayer } from './file-layer.js';
import type { FolderLock } from './folder-lock.js';
import { FolderSync } from './folder-sync.js';
import { codeOf } from './error-code.js';
import { firstFactAt, JournalDamagedError, readFacts } from './read-facts.js';
import { StreamFile } from './stream-file.js';
import { fileNameOf, streamOfFileName } from './stream-names.js';

export interface DiskFactLogOptions {
  readonly dir: string;
  readonly logger: Logger;
  readonly files: FileLayer;
  readonly lock: FolderLock;
  readonly maxOpenFiles: number;
  readonly maxWaitingBytes: number;
  readonly compactAtBytes: number;
}

const PROXY_STREAM = 'proxy';

/** Facts in files: `proxy.jsonl`, and `turns/<task>.jsonl` for each task. Made by `openFactLog`. */
export class DiskFactLog implements FactLog {
  readonly #options: DiskFactLogOptions;
  readonly #turnsDir: string;
  readonly #proxyPath: string;
  readonly #rootSync: FolderSync;
  readonly #turnsSync: FolderSync;
  /** The least recently used first. */
  readonly #open = new Map<Stream, StreamFile>();
  #compactAtBytes: number;
  #isClosed = false;

  constructor(options: DiskFactLogOptions) {
    this.#options = options;
    this.#turnsDir = join(options.dir, 'turns');
    this.#proxyPath = join(options.dir, 'proxy.jsonl');
    mkdirSync(this.#turnsDir, { recursive: true, mode: 0o700 });
    rmSync(`${this.#proxyPath}.new`, { force: true });
    this.#rootSync = new FolderSync(options.dir, options.files);
    this.#turnsSync = new FolderSync(this.#turnsDir, options.files);
    this.#compactAtBytes = options.compactAtBytes;
  }

  /** For a folder that may have just been made. */
  sync(): Promise<void> {
    return this.#rootSync.sync();
  }

  async append(stream: Stream, fact: Fact): Promise<void> {
    if (this.#isClosed) throw new Error('the journal is closed');
    const line = Buffer.from(`${JSON.stringify(fact)}\n`);
    const file = this.#fileOf(stream);
    const written = file.append(line);
    // Not before: a file that nothing was appended to yet looks unused, and must not be opened twice.
    this.#closeUnused();
    await written;
    if (stream === PROXY_STREAM) this.#compactWhenDue(file);
  }

  async *load(): AsyncGenerator<{ readonly stream: Stream; readonly facts: readonly Fact[] }> {
    yield { stream: PROXY_STREAM, facts: await this.#loadProxy() };
    for (const stream of await this.#turnStreams()) {
      const facts = await this.#loadTurn(stream);
      if (facts.length > 0) yield { stream, facts };
    }
  }

  async remove(stream: Stream): Promise<void> {
    const file = this.#open.get(stream);
    this.#open.delete(stream);
    await file?.close();
    try {
      await this.#options.files.unlink(this.#pathOf(stream));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    await this.#folderOf(stream).sync();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map((file) => file.close()));
    this.#open.clear();
    this.#options.lock.release();
  }

  #fileOf(stream: Stream): StreamFile {
    const { files, maxWaitingBytes } = this.#options;
    const file =
      this.#open.get(stream) ??
      new StreamFile({ path: this.#pathOf(stream), files, folder: this.#folderOf(stream), maxWaitingBytes });
    this.#open.delete(stream);
    this.#open.set(stream, file);
    return file;
  }

  /** Only ones at rest: that they are open again later costs little. */
  #closeUnused(): void {
    for (const [stream, file] of this.#open) {
      if (this.#open.size <= this.#options.maxOpenFiles) return;
      if (!file.isIdle) continue;
      this.#open.delete(stream);
      void file.close();
    }
  }

  #pathOf(stream: Stream): string {
    return stream === PROXY_STREAM ? this.#proxyPath : join(this.#turnsDir, fileNameOf(stream));
  }

  #folderOf(stream: Stream): FolderSync {
    return stream === PROXY_STREAM ? this.#rootSync : this.#turnsSync;
  }

  /** Without them there is no claim and no server: better not to start than to start without. */
  async #loadProxy(): Promise<readonly Fact[]> {
    try {
      return await this.#read(PROXY_STREAM);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** A damaged one costs its turn, not the service: it is moved aside. */
  async #loadTurn(stream: Stream): Promise<readonly Fact[]> {
    try {
      const facts = await this.#read(stream);
      // Made, and nothing was ever written.
      if (facts.length === 0) await this.remove(stream);
      return facts;
    } catch (error) {
      if (!(error instanceof JournalDamagedError)) throw error;
      const aside = `${error.path}.damaged`;
      await this.#options.files.rename(error.path, aside);
      await this.#turnsSync.sync();
      this.#options.logger.error('the journal of a turn is damaged: the turn is lost, its file was moved aside', {
        stream,
        line: error.line,
        file: aside,
      });
      return [];
    }
  }

  async #read(stream: Stream): Promise<readonly Fact[]> {
    const { facts, tornBytes } = await readFacts(this.#pathOf(stream), this.#options.files);
    if (tornBytes > 0) {
      // Opening it to write cuts it off.
      this.#options.logger.warn('the last line of a journal was cut off by a crash: it is left out', {
        stream,
        tornBytes,
      });
    }
    return facts;
  }

  /** In the order in which the tasks came. */
  async #turnStreams(): Promise<readonly Stream[]> {
    const found: { readonly stream: Stream; readonly at: number }[] = [];
    for (const name of readdirSync(this.#turnsDir).sort()) {
      const stream = streamOfFileName(name);
      if (stream === undefined) continue;
      found.push({ stream, at: await firstFactAt(join(this.#turnsDir, name), this.#options.files) });
    }
    return found.sort((left, right) => left.at - right.at).map(({ stream }) => stream);
  }

  #compactWhenDue(file: StreamFile): void {
    if (file.length < this.#compactAtBytes) return;
    // Not again for each fact that comes before it is done.
    this.#compactAtBytes = Number.POSITIVE_INFINITY;
    file.runAlone(() => this.#compact());
  }

  async #compact(): Promise<void> {
    const { compactAtBytes, logger } = this.#options;
    let bytes = compactAtBytes;
    try {
      bytes = await this.#rewrite();
    } catch (error) {
      logger.warn('the journal could not be made smaller', { error });
    }
    this.#compactAtBytes = Math.max(compactAtBytes, bytes * 2);
  }

  /** @returns Its new size. */
  async #rewrite(): Promise<number> {
    const { files } = this.#options;
    const { facts } = await readFacts(this.#proxyPath, files);
    const bytes = Buffer.from(
      compactFacts(facts)
        .map((fact) => `${JSON.stringify(fact)}\n`)
        .join(''),
    );
    const draft = `${this.#proxyPath}.new`;
    const file = await files.open(draft, 'w', 0o600);
    try {
      await writeAll(file, bytes, 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await files.rename(draft, this.#proxyPath);
    await this.#rootSync.sync();
    return bytes.length;
  }
}
