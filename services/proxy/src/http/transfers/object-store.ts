import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { Grant, ReadObject, WriteObject } from './grants.js';
import { retrying } from './retrying.js';
import { TransferFailure } from './transfer-failure.js';

const CONNECT_MS = 30_000;
const IDLE_MS = 60_000;

export interface Uploaded {
  readonly size_bytes: number;
  readonly sha256: string;
}

/** Moves objects over grants. Redirects are not followed: a grant is for one address. */
export interface ObjectStore {
  /** Writes a new file. @throws TransferFailure */
  download(object: ReadObject, file: string, signal: AbortSignal): Promise<void>;
  /** @throws TransferFailure */
  upload(object: WriteObject, bytes: Buffer, signal: AbortSignal): Promise<Uploaded>;
  close(): Promise<void>;
}

export function createObjectStore(dispatcher: Dispatcher = defaultDispatcher()): ObjectStore {
  return {
    async download(object, file, signal) {
      const { size, digest } = await retrying(object.grant.expiresAt, signal, () =>
        downloadOnce(object, file, signal, dispatcher),
      );
      const isRight = (object.sizeBytes ?? size) === size && (object.sha256 ?? digest) === digest;
      if (!isRight) throw new TransferFailure('integrity_mismatch');
    },
    async upload(object, bytes, signal) {
      if (bytes.length > object.maxBytes) throw new TransferFailure('transfer_too_large');
      await retrying(object.grant.expiresAt, signal, () => uploadOnce(object, bytes, signal, dispatcher));
      return { size_bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
    close: () => dispatcher.destroy(),
  };
}

function defaultDispatcher(): Dispatcher {
  return new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS });
}

async function downloadOnce(
  object: ReadObject,
  file: string,
  signal: AbortSignal,
  dispatcher: Dispatcher,
): Promise<{ size: number; digest: string }> {
  const { grant, maxBytes } = object;
  const headers = { ...lowerCased(grant), 'accept-encoding': 'identity' };
  const { statusCode, body } = await request(grant.url, { method: 'GET', headers, signal, dispatcher });
  const hash = createHash('sha256');
  let size = 0;
  try {
    checkStatus(statusCode);
    await using handle = await open(file, 'w', 0o644);
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new TransferFailure('transfer_too_large');
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
  } finally {
    // Left early, the rest would be waited for.
    body.on('error', () => undefined).destroy();
  }
  return { size, digest: hash.digest('hex') };
}

async function uploadOnce(
  object: WriteObject,
  bytes: Buffer,
  signal: AbortSignal,
  dispatcher: Dispatcher,
): Promise<void> {
  const headers = { 'content-type': object.mediaType, ...lowerCased(object.grant) };
  const { statusCode, body } = await request(object.grant.url, {
    method: 'PUT',
    headers,
    body: bytes,
    signal,
    dispatcher,
  });
  const answer = await headOf(body);
  checkStatus(statusCode, answer.includes('<Code>RequestTimeout</Code>'));
}

/** By lower-case name, so that ours do not come beside theirs; the length is that of what is sent. */
function lowerCased(grant: Grant): Record<string, string> {
  const entries = Object.entries(grant.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => name !== 'content-length'));
}

const HEAD_BYTES = 1_024;

async function headOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  let head = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    head += chunk.toString('latin1');
    if (head.length >= HEAD_BYTES) break;
  }
  return head.slice(0, HEAD_BYTES);
}

/** `isStalled`: some stores answer an upload that stalled with 400. */
function checkStatus(status: number, isStalled = false): void {
  if (status >= 200 && status < 300) return;
  const mayHeal = status === 408 || status === 429 || status >= 500 || (status === 400 && isStalled);
  throw new TransferFailure(mayHeal ? 'transfer_unavailable' : 'transfer_rejected');
}
