import type { ServerResponse } from 'node:http';

/** Aborts when the caller goes before its answer is out. */
export function callerSignal(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) left.abort();
  });
  if (response.destroyed) left.abort();
  return left.signal;
}
