import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../domain/facts.js';

/** The caller left while its request was still arriving: nobody is there to be answered. */
export class CallerLeft extends Error {
  override readonly name = 'CallerLeft';
}

/**
 * Reads a request's whole body. What is too long is refused as soon as that is known, and not kept.
 *
 * @throws Refusal 413, or CallerLeft.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onLeft).off('close', onLeft);
      // Reading on without an error listener would end the process.
      request.on('error', () => undefined);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      finish();
      request.resume();
      reject(tooLarge(limitBytes));
    };
    const onEnd = (): void => {
      finish();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    };
    const onLeft = (): void => {
      finish();
      reject(new CallerLeft());
    };
    request.on('data', onData).on('end', onEnd).on('error', onLeft).on('close', onLeft);
  });
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal(413, `the request body is larger than ${String(limitBytes)} bytes`);
}
