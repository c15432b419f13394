import type { ServerResponse } from 'node:http';
import { drained } from '../streams/drained.js';
import { pullItems } from '../streams/pull-items.js';

export interface SseEvent {
  readonly event: string;
  readonly id?: string;
  /** JSON text, usually one line. */
  readonly data: string;
}

export interface SseOptions {
  /** Aborted when the service drains: the stream ends in order, so that the reader comes back elsewhere. */
  readonly signal: AbortSignal;
  /** A comment keeps proxies from cutting a silent stream. Default 15,000 ms. */
  readonly keepAliveMs?: number;
  /** A reader that takes nothing for this long is cut. Default 10,000 ms. */
  readonly slowReaderMs?: number;
  /** Told why a stream was cut: the source failed, or the reader was too slow (code `slow_reader`). */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Writes server-sent events until the source ends, the reader leaves or the signal aborts; the source is
 * pulled only as fast as the reader reads, and is always returned. Resolves when the stream is over, also
 * after a failure: with headers sent only cutting the connection tells the reader.
 */
export async function streamEvents(
  response: ServerResponse,
  source: AsyncIterable<SseEvent>,
  options: SseOptions,
): Promise<void> {
  const slowReaderMs = options.slowReaderMs ?? 10_000;
  const stop = new AbortController();
  const leave = (): void => {
    stop.abort();
  };
  response.once('close', leave);
  options.signal.addEventListener('abort', leave, { once: true });
  if (options.signal.aborted || response.destroyed) leave();
  const keepAlive = keepAliveTimer(response, options.keepAliveMs ?? 15_000, slowReaderMs);
  try {
    if (!response.headersSent) sendHead(response);
    await pullItems(source, stop.signal, async (item) => {
      if (!response.write(formatEvent(item))) await drained(response, stop.signal, slowReaderMs);
    });
    response.end();
    // A reader that takes nothing would hold the unsent rest, and the connection, for ever.
    if (!response.writableFinished && !response.destroyed) cutLater(response, slowReaderMs);
  } catch (error) {
    response.destroy();
    options.onFailure?.(error);
  } finally {
    clearInterval(keepAlive);
    response.off('close', leave);
    options.signal.removeEventListener('abort', leave);
  }
}

function sendHead(response: ServerResponse): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
}

/** Comments also find out that a reader of a silent stream takes nothing any more. */
function keepAliveTimer(response: ServerResponse, keepAliveMs: number, slowReaderMs: number): NodeJS.Timeout {
  let stuckSince: number | undefined;
  return setInterval(() => {
    if (response.writableLength === 0) stuckSince = undefined;
    else {
      stuckSince ??= performance.now();
      if (performance.now() - stuckSince >= slowReaderMs) response.destroy();
      return;
    }
    response.write(': keep-alive\n\n');
  }, keepAliveMs);
}

function cutLater(response: ServerResponse, afterMs: number): void {
  const timer = setTimeout(() => {
    response.destroy();
  }, afterMs);
  timer.unref();
  response.once('close', () => {
    clearTimeout(timer);
  });
}

function formatEvent({ event, id, data }: SseEvent): string {
  const idLine = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  const head = `event: ${oneLine(event)}\n${idLine}`;
  if (!BREAKS_A_LINE.test(data)) return `${head}data: ${data}\n\n`;
  const lines = escapeLineSeparators(data).split(/\r\n|\r|\n/);
  return `${head}${lines.map((line) => `data: ${line}\n`).join('')}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ');
}

const BREAKS_A_LINE = /[\r\n\u0085\u2028\u2029]/;

/** Some clients end a line at these characters, which JSON allows unescaped. */
function escapeLineSeparators(json: string): string {
  return json.replaceAll(
    /[\u2028\u2029\u0085]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
