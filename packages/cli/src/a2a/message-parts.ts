import { type FileHandle, open } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { TaskPart } from '@parley/agent';
import { UsageError } from '../usage-error.js';
import type { MessageSettings } from './a2a-settings.js';

/** All files together; what an agent takes is less as a rule, and it says so. */
const MAX_FILES_BYTES = 64 * 1024 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/**
 * What a message holds: the text, then the files, then the data.
 *
 * @throws UsageError for a file that cannot be read, and for files that are too large together.
 */
export async function messageParts(
  text: string,
  { files, data }: Pick<MessageSettings, 'files' | 'data'>,
): Promise<TaskPart[]> {
  const parts: TaskPart[] = text === '' ? [] : [{ kind: 'text', text }];
  let left = MAX_FILES_BYTES;
  for (const path of files) {
    const bytes = await readBounded(path, left);
    left -= bytes.byteLength;
    parts.push({ kind: 'bytes', bytes, name: basename(path), mediaType: mediaTypeOf(path, bytes) });
  }
  return [...parts, ...data.map((one): TaskPart => ({ kind: 'data', data: one }))];
}

/** By the name; otherwise text if it is some. */
export function mediaTypeOf(path: string, bytes: Uint8Array): string {
  const known = MEDIA_TYPES[extname(path).toLowerCase()];
  if (known !== undefined) return known;
  return isText(bytes) ? 'text/plain' : 'application/octet-stream';
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** A device or a pipe has no size, so what was read is counted. */
async function readBounded(path: string, maxBytes: number): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    if ((await file.stat()).isDirectory()) throw new UsageError(`${path} is a folder`);
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      size += piece.byteLength;
      if (size > maxBytes)
        throw new UsageError(`the files are larger than ${MAX_FILES_BYTES / 1024 / 1024} MiB together`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, size);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    await file?.close();
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
  return typeof code === 'string' ? code : 'reading failed';
}
