import type { IncomingHttpHeaders } from 'node:http';
import { AppError, fromProblem } from '@parley/service-kit';
import type { z } from 'zod';
import { invalidAnswer } from './peer-errors.js';

/** @throws AppError `peer_invalid_answer` when there are more bytes; errors of the stream pass unchanged. */
export async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    // Leaving the loop destroys the stream, and the connection with it.
    if (size > maxBytes) throw invalidAnswer(`it is larger than ${String(maxBytes)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch (cause) {
    throw invalidAnswer('it is not JSON', cause);
  }
}

export function checkShape<T>(schema: z.ZodType<T>, value: unknown): T {
  let result: z.ZodSafeParseResult<T>;
  try {
    result = schema.safeParse(value);
  } catch (cause) {
    // Thousands of nested brackets fit into a small answer and exhaust the stack of a recursive schema.
    throw invalidAnswer('it cannot be checked', cause);
  }
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? 'its shape' : issue.path.map(String).join('.').slice(0, 200);
  throw invalidAnswer(`${where} is wrong`, result.error);
}

/** The error that an answer outside 200-299 stands for. */
export function errorOfAnswer(status: number, headers: IncomingHttpHeaders, bytes: Uint8Array): AppError {
  if (status < 400) return invalidAnswer(`status ${String(status)} (redirects are not followed)`);
  let body: unknown;
  try {
    body = parseJson(bytes);
  } catch {
    body = undefined;
  }
  const error = fromProblem(status, body);
  const seconds = retryAfter(headers['retry-after']);
  return seconds === undefined || saysWhen(body) ? error : withRetryAfter(error, seconds);
}

function saysWhen(body: unknown): boolean {
  const { retry_after_seconds: seconds } = (body ?? {}) as { retry_after_seconds?: unknown };
  return typeof seconds === 'number';
}

function retryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/u.test(header) ? Number(header) : undefined;
}

function withRetryAfter(error: AppError, retryAfterSeconds: number): AppError {
  return new AppError(error.reason, error.message, { code: error.code, errors: error.errors, retryAfterSeconds });
}
