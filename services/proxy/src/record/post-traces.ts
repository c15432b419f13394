import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { TraceTarget } from './trace-target.js';

/**
 * What became of a batch. `not_taken`: the collector said so (429, 503) or was never reached, so that it may be sent
 * again. `lost`: nobody knows whether it was taken (a time-out, a connection that broke, a gateway's 502 or 504), or it
 * was refused for good: sending it again could send a span twice, or for ever.
 */
export type PostOutcome =
  | { readonly kind: 'taken'; readonly rejected: number }
  | {
      readonly kind: 'not_taken';
      readonly reason: string;
      readonly wasReached: boolean;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'lost'; readonly reason: string };

const MAX_ANSWER_BYTES = 64 * 1024;

/** One request on a connection of its own: an idle one that the collector closes could lose a batch. Never rejects. */
export function postTraces(target: TraceTarget, body: Buffer, signal: AbortSignal): Promise<PostOutcome> {
  return new Promise((resolve) => {
    let wasConnected = false;
    const failed = (error: unknown): void => {
      const reason = reasonOf(error);
      const isSure = !wasConnected && !signal.aborted;
      resolve(isSure ? { kind: 'not_taken', reason, wasReached: false } : { kind: 'lost', reason });
    };
    let request: ClientRequest;
    try {
      request = start(target, body, signal);
    } catch (error) {
      // A header that cannot be sent, say.
      resolve({ kind: 'lost', reason: reasonOf(error) });
      return;
    }
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        wasConnected = true;
      });
    });
    request.once('response', (response) => {
      readAnswer(response).then((text) => resolve(outcomeOf(response, text)), failed);
    });
    request.on('error', failed);
    request.end(body);
  });
}

function start({ url, headers }: TraceTarget, body: Buffer, signal: AbortSignal): ClientRequest {
  return (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: false,
    signal,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
  });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The status says enough; the rest is not worth waiting for.
    if (bytes > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function outcomeOf(response: IncomingMessage, text: string): PostOutcome {
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return { kind: 'taken', rejected: rejectedSpans(text) };
  const reason = `the collector answered ${String(status)}`;
  if (status !== 429 && status !== 503) return { kind: 'lost', reason };
  const seconds = Number(response.headers['retry-after']);
  return { kind: 'not_taken', reason, wasReached: true, ...(seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}) };
}

function rejectedSpans(text: string): number {
  try {
    const answer = JSON.parse(text) as { readonly partialSuccess?: { readonly rejectedSpans?: unknown } } | null;
    const count = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isFinite(count) ? count : 0;
  } catch {
    return 0;
  }
}

function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'the request failed';
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name);
}
