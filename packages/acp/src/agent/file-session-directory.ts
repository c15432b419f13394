import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type HarnessLogger, messageOf, quietLogger } from '@parley/harness';
import { systemCode } from '@parley/shell';
import type { SessionDirectory, SessionFacts } from './session-directory.js';

const factsSchema = z.object({ sessionId: z.string(), cwd: z.string(), title: z.string(), updatedAt: z.number() });
const FILE_NAME = /^[A-Za-z0-9._-]{1,64}\.json$/u;

/**
 * A small file for each session, in a folder that several processes may use. Session ids must be names of files, as
 * the server makes them.
 */
export class FileSessionDirectory implements SessionDirectory {
  readonly #root: string;
  readonly #logger: HarnessLogger;
  /** By file name; read again when the file has changed. */
  readonly #known = new Map<string, { readonly version: string; readonly facts: SessionFacts }>();

  constructor(root: string, options: { readonly logger?: HarnessLogger } = {}) {
    this.#root = root;
    this.#logger = options.logger ?? quietLogger;
  }

  async remember(facts: SessionFacts): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(facts.sessionId);
    // Never half a file for whoever reads meanwhile; two writers have two files.
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      await writeFile(draft, JSON.stringify(facts), { mode: 0o600 });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async find(sessionId: string): Promise<SessionFacts | undefined> {
    return this.#read(`${sessionId}.json`);
  }

  async list(): Promise<readonly SessionFacts[]> {
    const names = await readdir(this.#root).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const listed: SessionFacts[] = [];
    // Also passes over what is not named like one of them.
    for (const name of names) {
      const facts = await this.#read(name);
      if (facts !== undefined) listed.push(facts);
    }
    return listed;
  }

  async forget(sessionId: string): Promise<void> {
    this.#known.delete(`${sessionId}.json`);
    await rm(this.#pathOf(sessionId), { force: true });
  }

  async #read(name: string): Promise<SessionFacts | undefined> {
    if (!FILE_NAME.test(name)) return undefined;
    const path = join(this.#root, name);
    try {
      const { mtimeMs, ino } = await stat(path);
      const version = `${mtimeMs}-${ino}`;
      const known = this.#known.get(name);
      if (known?.version === version) return known.facts;
      const facts = factsSchema.parse(JSON.parse(await readFile(path, 'utf8')));
      this.#known.set(name, { version, facts });
      return facts;
    } catch (error) {
      if (!isMissing(error)) {
        this.#logger.warn('facts of a session cannot be read', { file: name, error: messageOf(error) });
      }
      return undefined;
    }
  }

  #pathOf(sessionId: string): string {
    const name = `${sessionId}.json`;
    if (!FILE_NAME.test(name)) throw new RangeError('the session id is no name of a file');
    return join(this.#root, name);
  }
}

function isMissing(error: unknown): boolean {
  return systemCode(error) === 'ENOENT';
}
