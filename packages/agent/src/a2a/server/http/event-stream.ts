import type { Response } from 'express';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  // Asks nginx and its kin to pass events on as they come.
  'X-Accel-Buffering': 'no',
} as const;

/** Some readers take these for ends of lines, and would cut an event there. JSON may have them only inside of texts. */
export function escapeLineEnds(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A comment now and then: a connection that is silent for a minute is cut by what lies between. */
export function keepAlive(response: Response, intervalMs: number): void {
  // A reader that left before the first event is not told of again.
  if (response.closed || response.destroyed) return;
  const timer = setInterval(() => {
    if (!response.writableNeedDrain && !response.writableEnded) response.write(': keep-alive\n\n');
  }, intervalMs);
  const stop = (): void => {
    clearInterval(timer);
    response.off('finish', stop).off('close', stop);
  };
  response.once('finish', stop).once('close', stop);
}

/**
 * Writes items as server-sent events. The first one has to be there already: what fails before it is an ordinary
 * answer. A later failure is an event of the type `error`.
 */
export async function sendEvents<T>(
  response: Response,
  first: IteratorResult<T>,
  rest: AsyncIterator<T>,
  form: {
    readonly event: (item: T) => object;
    readonly error: (thrown: unknown) => object;
    readonly keepAliveMs: number;
  },
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  response.status(200).flushHeaders();
  keepAlive(response, form.keepAliveMs);
  try {
    for (let item = first; item.done !== true; item = await rest.next()) {
      response.write(`data: ${escapeLineEnds(JSON.stringify(form.event(item.value)))}\n\n`);
    }
  } catch (thrown) {
    tellError(response, form.error(thrown));
  }
  response.end();
}

/** An event of the type `error`. A reader that takes nothing cannot be told: it would only hold the rest. */
export function tellError(response: Response, body: object): void {
  if (response.writableNeedDrain) response.destroy();
  else if (!response.destroyed) response.write(`event: error\ndata: ${escapeLineEnds(JSON.stringify(body))}\n\n`);
}
