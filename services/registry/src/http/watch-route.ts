import {
  AppError,
  fromHttpLibrary,
  HttpCall,
  logFailure,
  readQuery,
  sendProblem,
  streamEvents,
  validate,
  type Logger,
  type SseEvent,
} from '@parley/service-kit';
import type { Express, Request, Response } from 'express';
import type { WatchItem, WatchOperation } from '../api/watch.js';

export interface WatchRouteDeps {
  readonly watch: WatchOperation;
  readonly logger: Logger;
  /** Aborted when the service drains. */
  readonly closing: AbortSignal;
  readonly keepAliveMs?: number;
}

/** `GET /watch`: errors that can be known before the first event are problems, later ones cut the stream. */
export function mountWatch(app: Express, deps: WatchRouteDeps): void {
  app.get('/watch', async (request: Request, response: Response) => {
    const requestId = response.locals['requestId'] as string;
    const call = new HttpCall(request, response, requestId, 2_147_483_647);
    try {
      if (deps.closing.aborted)
        throw new AppError('unavailable', 'The service is shutting down.', { code: 'shutting_down' });
      const signal = AbortSignal.any([call.signal, deps.closing]);
      const input = validate(deps.watch.input, watchInputOf(request));
      const items = await deps.watch.handle(input, { requestId, signal, transport: 'http', header: call.header });
      await streamEvents(response, events(items), {
        signal,
        ...(deps.keepAliveMs === undefined ? {} : { keepAliveMs: deps.keepAliveMs }),
      });
    } catch (thrown) {
      const error = fromHttpLibrary(thrown);
      logFailure(deps.logger, request, error, requestId);
      sendProblem(response, error, requestId);
    }
  });
}

function watchInputOf(request: Request): unknown {
  const queryAt = request.url.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : request.url.slice(queryAt + 1));
  const input = readQuery(query, { agent_ids: 'list', after_revision: 'number' });
  const last = request.headers['last-event-id'];
  if (typeof last !== 'string' || last === '') return input;
  if (!/^\d{1,16}$/.test(last)) {
    throw new AppError('invalid_request', 'Last-Event-ID: not a revision', {
      errors: [{ path: 'Last-Event-ID', message: 'not a revision' }],
    });
  }
  return { ...input, after_revision: Number(last) };
}

async function* events(items: AsyncIterable<WatchItem>): AsyncGenerator<SseEvent> {
  for await (const { type, revision, json, resumable } of items) {
    yield { event: type, data: json, ...(resumable ? { id: String(revision) } : {}) };
  }
}
