import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../errors/app-error.js';
import { parsePlainJson } from '../errors/plain-json.js';

const MEDIA_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const UTF8_NAMES = new Set(['', 'utf-8', 'utf8', 'us-ascii']);

/** Whether the request announces a body, an empty one included. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || announcedLength(request) > 0;
}

/** 0 when nothing is announced. */
export function announcedLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/**
 * Reads a JSON body of at most `limitBytes` (after decompression); undefined when there is none or it is empty.
 * Stops reading as soon as it is known to be refused. Without a content type it is taken for JSON: the only
 * thing it could be.
 *
 * @throws AppError `payload_too_large`, `unsupported_media_type`, `invalid_request`, or `cancelled` when the caller left.
 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  if (!announcesBody(request)) return undefined;
  checkMediaType(request.headers['content-type']);
  const decoder = decoderFor(request.headers['content-encoding']);
  if (announcedLength(request) > limitBytes) throw tooLarge(limitBytes);
  const bytes = await readAll(request, decoder, limitBytes);
  if (!isUtf8(bytes)) throw wrongBody('The body is not valid UTF-8.');
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text === '') return undefined;
  try {
    return parsePlainJson(text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw wrongBody('The body is not valid JSON.', error);
  }
}

function checkMediaType(type: string | undefined): void {
  if (type === undefined) return;
  if (!MEDIA_TYPE.test(type)) {
    throw new AppError('unsupported_media_type', 'The body must be JSON, sent as Content-Type: application/json.');
  }
  if (!UTF8_NAMES.has((CHARSET.exec(type)?.[1] ?? '').toLowerCase())) {
    throw new AppError('unsupported_media_type', 'The body must be UTF-8.');
  }
}

function decoderFor(encoding: string | undefined): Transform | undefined {
  switch (encoding?.toLowerCase()) {
    case undefined:
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new AppError('unsupported_media_type', 'The content encoding must be gzip, deflate, br or none.');
  }
}

function readAll(request: IncomingMessage, decoder: Transform | undefined, limitBytes: number): Promise<Buffer> {
  const source: Readable = decoder === undefined ? request : request.pipe(decoder);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > limitBytes) fail(tooLarge(limitBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      finish();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const onDecodeError = (error: Error): void => {
      fail(wrongBody('The body is not validly compressed.', error));
    };
    const onLeft = (): void => {
      if (!request.complete) fail(new AppError('cancelled', 'The caller went away.'));
    };
    const fail = (error: AppError): void => {
      finish();
      reject(error);
    };
    const finish = (): void => {
      source.off('data', onData).off('end', onEnd);
      request.off('error', onLeft).off('close', onLeft);
      // Reading without an error listener would end the process; one that is over may still report.
      request.on('error', () => undefined);
      if (decoder !== undefined) {
        request.unpipe(decoder);
        decoder.off('error', onDecodeError).on('error', () => undefined);
        decoder.destroy();
      }
      // The rest, if any, is dropped: unread, it would block the next request on this connection.
      request.resume();
    };
    source.on('data', onData).on('end', onEnd);
    request.on('error', onLeft).on('close', onLeft);
    decoder?.on('error', onDecodeError);
  });
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${String(limitBytes)} bytes.`);
}

function wrongBody(message: string, cause?: unknown): AppError {
  return new AppError('invalid_request', message, { errors: [{ path: '', message }], cause });
}
