import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { HarnessError } from '../errors.js';
import type { HarnessLogger } from '../logger.js';
import { recordFromJson } from './record-codec.js';
import type { SessionListing } from './session-storage.js';
import { storageError, systemCode } from './storage-error.js';

const JOURNAL_NAME = /^[0-9a-f]{64}\.jsonl$/;
const CHUNK_BYTES = 16_384;

/** The sessions of a folder, by the first record of each file. */
export async function listJournals(root: string, logger: HarnessLogger): Promise<readonly SessionListing[]> {
  const listings: SessionListing[] = [];
  for (const name of await journalNames(root)) {
    try {
      const listing = await readListing(join(root, name));
      if (listing !== null) listings.push(listing);
    } catch (error) {
      // A parser's text would quote what it read.
      const reason = error instanceof HarnessError ? error.message : 'the first line cannot be read';
      logger.warn('a session was left out of the list', { file: name, reason });
    }
  }
  return listings;
}

async function journalNames(root: string): Promise<readonly string[]> {
  try {
    return (await readdir(root)).filter((name) => JOURNAL_NAME.test(name));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw storageError('the folder of sessions cannot be read', error);
  }
}

async function readListing(path: string): Promise<SessionListing | null> {
  const handle = await open(path, 'r');
  try {
    const line = await firstLine(handle);
    if (line.trim() === '') return null;
    const { sessionId, agentId } = recordFromJson(JSON.parse(line));
    return { sessionId, agentId, modifiedMs: (await handle.stat()).mtimeMs };
  } finally {
    await handle.close();
  }
}

/** The first line that is not blank; empty if there is none. */
async function firstLine(handle: FileHandle): Promise<string> {
  const chunks: Buffer[] = [];
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    const chunk = buffer.subarray(0, bytesRead);
    chunks.push(chunk);
    position += bytesRead;
    if (bytesRead > 0 && !chunk.includes('\n')) continue;
    const text = Buffer.concat(chunks).toString('utf8');
    const line = text
      .split('\n')
      .find((part, index, parts) => part.trim() !== '' && (index < parts.length - 1 || bytesRead === 0));
    if (line !== undefined || bytesRead === 0) return line ?? '';
  }
}
