import type { ServerResponse } from 'node:http';
import { endAnswer } from '@parley/service-kit';

/** Compact JSON, not escaped. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  send(response, status, 'application/json', JSON.stringify(value));
}

/** A bare sentence. */
export function sendText(response: ServerResponse, status: number, sentence: string): void {
  send(response, status, 'text/plain; charset=utf-8', sentence);
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  if (response.headersSent || response.destroyed) {
    // An answer that is out already was complete: cutting would take it from the reader.
    if (!response.writableEnded) response.destroy();
    return;
  }
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  endAnswer(response, body);
}
