import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  fromHttpLibrary,
  HttpCall,
  logFailure,
  requestIdOf,
  sendProblem,
  validate,
  type FastRoute,
  type Logger,
  type Metrics,
} from '@parley/service-kit';
import { pageEncoding, pageText, staleHeaders } from '../api/present.js';
import type { RegistryOperations } from '../api/operations.js';
import { DISCOVER_FIELD_NAMES, discoverQuery } from './routes.js';

/**
 * `GET /discover` without express in between, which would cost as much as the discovery itself.
 * The same query reading, schema, operation, errors and headers as the mounted route.
 */
export function fastDiscover(discover: RegistryOperations['discover'], logger: Logger, metrics: Metrics): FastRoute {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== 'GET') return false;
    const started = performance.now();
    const requestId = requestIdOf(request);
    let status = 200;
    try {
      const url = request.url ?? '';
      const queryAt = url.indexOf('?');
      const query = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt + 1));
      const input = validate(discover.input, discoverQuery(query), DISCOVER_FIELD_NAMES);
      const page = discover.handle(input, new HttpCall(request, response, requestId, 20_000));
      if (page instanceof Promise) throw new Error('a discovery is answered from memory');
      const text = pageText(page);
      const encoding = pageEncoding(page);
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': encoding === 'latin1' ? text.length : Buffer.byteLength(text),
        'X-Request-Id': requestId,
        ...staleHeaders(page.staleSinceMs),
      });
      response.end(text, encoding);
    } catch (thrown) {
      const error = fromHttpLibrary(thrown);
      status = error.status;
      logFailure(logger, request, error, requestId);
      sendProblem(response, error, requestId);
    } finally {
      metrics.httpRequest('GET', '/discover', status, (performance.now() - started) / 1_000);
    }
    return true;
  };
}
