import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { AppError } from '../errors/app-error.js';
import { operation, type CallContext } from '../operation.js';
import { HttpCall } from './call-context.js';
import { createMetrics } from '../metrics/metrics.js';
import { closeServers, fetchedProblem, problemOf, raw, RawConnection, route, startServer } from './http.test-helper.js';
import { mountOperations } from './operations-endpoints.js';

const SECRET = 'swordfish';
const empty = z.object({});
const ok = operation(empty, () => ({ ok: true }));
const never = operation(empty, () => new Promise<object>(() => undefined));

afterEach(closeServers);

describe('an operation over HTTP', () => {
  it('answers its output with the request id, the caller’s if it has one', async () => {
    const { url } = await startServer({ routes: [route('get', '/a', ok)] });
    const answer = await fetch(`${url}/a`, { headers: { 'X-Request-Id': 'mine-1' } });
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect((await fetch(`${url}/a`, { headers: { 'X-Request-Id': 'x y' } })).headers.get('x-request-id')).toMatch(
      /^[\da-f-]{36}$/,
    );
    expect(answer.headers.has('x-powered-by')).toBe(false);
  });

  it('gets decoded path parameters, the query and the context', async () => {
    let seen: CallContext | undefined;
    const see = operation(z.object({ id: z.string(), limit: z.string() }), (input, call) => {
      seen = call;
      return input;
    });
    const input: Parameters<typeof route>[3] = {
      input: ({ params, query }) => ({ ...params, limit: query.get('limit') }),
    };
    const { url } = await startServer({ routes: [route('get', '/agents/:id', see, input)] });
    const answer = await fetch(`${url}/agents/a%2Fb?limit=3`, {
      headers: { Authorization: 'bearer abc', 'X-Other': 'y' },
    });
    expect(await answer.json()).toEqual({ id: 'a/b', limit: '3' });
    expect(seen).toMatchObject({ transport: 'http', bearer: 'abc' });
    expect(seen?.header('x-other')).toBe('y');
    expect(seen?.header('constructor')).toBeUndefined();
  });

  it('may answer another status, headers and no body', async () => {
    const gone = route('delete', '/a', ok, { answer: () => ({ status: 204, headers: { 'X-Count': '1' } }) });
    const { url } = await startServer({ routes: [gone] });
    const answer = await fetch(`${url}/a`, { method: 'DELETE' });
    expect([answer.status, answer.headers.get('x-count'), await answer.text()]).toEqual([204, '1', '']);
  });

  it('answers HEAD like GET, without the body', async () => {
    const { url } = await startServer({ routes: [route('get', '/a', ok)] });
    const answer = await fetch(`${url}/a`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '11', '']);
  });

  it('is counted by route and status, refusals too', async () => {
    const fails = operation(z.object({ n: z.int() }), () => ({}));
    const { url, metrics } = await startServer({
      routes: [route('get', '/a/:id', ok), route('post', '/b', fails, { body: 'required' })],
    });
    await fetch(`${url}/a/1`);
    await fetch(`${url}/b`, { method: 'POST', body: '{' });
    await fetch(`${url}/b`);
    await fetch(`${url}/nowhere/1`);
    const text = await metrics.render();
    for (const labels of [
      'method="GET",route="/a/:id",status="200"',
      'method="POST",route="/b",status="415"',
      'method="GET",route="/b",status="405"',
      'method="GET",route="unmatched",status="404"',
    ]) {
      expect(text).toContain(`parley_http_request_seconds_count{service="test",${labels}} 1`);
    }
  });
});

describe('every failure is a problem', () => {
  it('input that the schema refuses: 400 with the paths', async () => {
    const typed = operation(z.strictObject({ names: z.array(z.string()) }), () => ({}));
    const { url } = await startServer({ routes: [route('post', '/a', typed, { body: 'required' })] });
    const answer = await fetch(`${url}/a`, {
      method: 'POST',
      body: '{"names":["x",1],"typo":2}',
      headers: { 'Content-Type': 'application/json' },
    });
    const problem = await fetchedProblem(answer);
    expect([problem.status, problem.errors?.map(({ path }) => path)]).toEqual([400, ['names[1]', 'typo']]);
  });

  it('an error of the operation: its status, code and Retry-After', async () => {
    const busy = operation(empty, () => {
      throw new AppError('unavailable', 'The store is away.', { code: 'store_unavailable', retryAfterSeconds: 2.2 });
    });
    const locked = operation(empty, async () => Promise.reject(new AppError('unauthenticated', 'Who are you?')));
    const { url, lines } = await startServer({ routes: [route('get', '/a', busy), route('get', '/b', locked)] });
    const answer = await fetch(`${url}/a`);
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(await fetchedProblem(answer)).toMatchObject({
      status: 503,
      code: 'store_unavailable',
      retry_after_seconds: 2.2,
    });
    expect((await fetch(`${url}/b`)).headers.get('www-authenticate')).toBe('Bearer');
    expect(lines[0]).toMatchObject({ level: 'warn', code: 'store_unavailable', path: '/a' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error(SECRET);
      },
    ],
    ['rejects', async () => Promise.reject(new TypeError(SECRET))],
    [
      'throws what is no error',
      () => {
        throw SECRET;
      },
    ],
    ['aborts while the caller waits', async () => Promise.reject(new DOMException(SECRET, 'AbortError'))],
    ['answers what is no JSON', () => ({ [SECRET]: 1n })],
  ] as const)('a bug, when the operation %s: 500 with a fixed sentence, the real one in the log', async (_, handle) => {
    const { url, lines } = await startServer({
      routes: [route('get', '/a', operation<object, object>(empty, handle))],
    });
    const answer = await fetch(`${url}/a`);
    const problem = await fetchedProblem(answer);
    expect(problem).toMatchObject({
      status: 500,
      code: 'internal',
      detail: 'The request could not be completed because of an internal error.',
    });
    expect(JSON.stringify([problem, ...answer.headers])).not.toContain(SECRET);
    expect(lines).toMatchObject([{ level: 'error', msg: 'request failed', request_id: problem.request_id }]);
  });

  it('a deadline: 504, whether the operation heeds its signal or not', async () => {
    const heeds = operation(empty, async (_, call) => sleep(60_000, {}, { signal: call.signal }));
    const { url } = await startServer({
      routes: [route('get', '/a', never), route('get', '/b', heeds)],
      deadlineMs: 30,
    });
    for (const path of ['/a', '/b']) {
      expect(await fetchedProblem(await fetch(url + path))).toMatchObject({ status: 504, code: 'deadline_exceeded' });
    }
  });

  it('an unknown path: 404; an unknown method: 405 with Allow', async () => {
    const { url } = await startServer({
      routes: [route('get', '/a', ok), route('put', '/a', ok), route('post', '/b', ok)],
    });
    expect(await fetchedProblem(await fetch(`${url}/nowhere`))).toMatchObject({ status: 404, code: 'no_such_route' });
    const refused = await fetch(`${url}/a`, { method: 'DELETE' });
    expect(refused.headers.get('allow')).toBe('GET, PUT, HEAD, OPTIONS');
    expect(await fetchedProblem(refused)).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect((await fetch(`${url}/b`, { method: 'HEAD' })).status).toBe(405);
    const options = await fetch(`${url}/b`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, 'POST, OPTIONS', '']);
  });

  it.each(['/agents/%zz', '/agents/%', '/agents/%c0%80'])(
    'a path that is not validly encoded: 400 (%s)',
    async (path) => {
      const { port } = await startServer({ routes: [route('get', '/agents/:id', ok)] });
      expect(problemOf(await raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)).status).toBe(400);
    },
  );

  it('a page of the service that fails: 500; after it sent its head, the connection is cut', async () => {
    const { url, lines } = await startServer({
      extend: (app) => {
        app.get('/page', () => {
          throw new Error(SECRET);
        });
        app.get('/half', async (_request, response) => {
          response.writeHead(200, { 'Content-Type': 'text/html' });
          await new Promise((resolve) => response.write('<html>', resolve));
          throw new Error(SECRET);
        });
      },
    });
    expect(await fetchedProblem(await fetch(`${url}/page`))).toMatchObject({ status: 500, code: 'internal' });
    const half = await fetch(`${url}/half`);
    await expect(half.text()).rejects.toThrow('terminated');
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(2);
  });
});

describe('a caller that leaves', () => {
  it('aborts the signal of the operation, and is no error in the log', async () => {
    let signal: AbortSignal | undefined;
    const waits = operation(empty, (_, call) => {
      signal = call.signal;
      return new Promise<object>(() => undefined);
    });
    const { port, lines } = await startServer({ routes: [route('get', '/a', waits)] });
    const connection = new RawConnection(port).send('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => signal);
    expect(signal?.aborted).toBe(false);
    connection.socket.resetAndDestroy();
    await waitFor(() => lines.length > 0);
    expect(signal?.reason).toMatchObject({ name: 'AbortError' });
    expect(lines).toMatchObject([{ level: 'debug', code: 'cancelled' }]);
  });

  it('is noticed by a signal that is asked for only then', async () => {
    const calls: HttpCall[] = [];
    const { port } = await startServer({
      extend: (app) => {
        app.get('/page', (request, response) => {
          calls.push(new HttpCall(request, response, 'r', 10_000));
        });
      },
    });
    const connection = new RawConnection(port).send('GET /page HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => calls.length > 0);
    connection.socket.resetAndDestroy();
    await waitFor(() => calls[0]?.signal.aborted);
  });

  it('does not abort anything when its answer is complete', async () => {
    let signal: AbortSignal | undefined;
    const see = operation(empty, async (_, call) => {
      signal = call.signal;
      return Promise.resolve({ ok: true });
    });
    const { port, server } = await startServer({ routes: [route('get', '/a', see)] });
    await raw(port, 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(
      async () =>
        new Promise((resolve) => {
          server.getConnections((_, count) => {
            resolve(count === 0);
          });
        }),
    );
    expect(signal?.aborted).toBe(false);
  });
});

describe('the endpoints for operations', () => {
  it('tell health, readiness with Retry-After, metrics and the API, and know their methods', async () => {
    let ready = false;
    const server = await startServer({
      extend: (app) => {
        mountOperations(app, {
          metrics: createMetrics({ service: 'test', processMetrics: false }),
          readiness: () => ({ ready, checks: { store: ready ? 'ok' : 'away' } }),
          openapi: () => ({ openapi: '3.1.0' }),
        });
      },
    });
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' });
    const notYet = await fetch(`${server.url}/readyz`);
    expect([notYet.status, notYet.headers.get('retry-after'), await notYet.json()]).toEqual([
      503,
      '1',
      { status: 'not_ready', checks: { store: 'away' } },
    ]);
    ready = true;
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const metrics = await fetch(`${server.url}/metrics`);
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await (await fetch(`${server.url}/openapi.json`)).json()).toEqual({ openapi: '3.1.0' });
    expect(await fetchedProblem(await fetch(`${server.url}/healthz`, { method: 'POST' }))).toMatchObject({
      status: 405,
    });
  });
});
