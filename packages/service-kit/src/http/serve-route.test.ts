import { z } from 'zod';
import { AppError } from '../errors/app-error.js';
import { operation, type CallContext } from '../operation.js';
import { closeServers, fetchedProblem, route, startServer, type TestServer } from './http.test-helper.js';
import type { HttpRoute } from './routes.js';

const SECRET = 'swordfish';
const query: Partial<HttpRoute> = { input: ({ query: given }) => Object.fromEntries(given) };

afterEach(closeServers);

// The same suite over both ways to a handler: they must not differ in anything but cost.
describe.each([
  ['fast', { ...query, fast: true as const }],
  ['ordinary', query],
])('%s route', (_, way) => {
  const serve = (input: z.ZodType, handle: (given: unknown, call: CallContext) => object): Promise<TestServer> =>
    startServer({ routes: [route('get', '/a', operation(input, handle), way)], deadlineMs: 100 });

  it('answers with the request id of the caller and is counted', async () => {
    const { url, metrics } = await serve(z.object({ x: z.string() }), (given, call) => ({ given, id: call.requestId }));
    const answer = await fetch(`${url}/a?x=1`, { headers: { 'X-Request-Id': 'mine' } });
    expect(await answer.json()).toEqual({ given: { x: '1' }, id: 'mine' });
    expect(answer.headers.get('x-request-id')).toBe('mine');
    const labels = '{service="test",method="GET",route="/a",status="200"}';
    expect(await metrics.render()).toContain(`parley_http_request_seconds_count${labels} 1`);
  });

  it('refuses wrong input by path', async () => {
    const { url } = await serve(z.strictObject({ x: z.string() }), () => ({}));
    const problem = await fetchedProblem(await fetch(`${url}/a?y=1`));
    expect([problem.status, problem.errors?.map(({ path }) => path)]).toEqual([400, ['x', 'y']]);
  });

  it.each([
    [new AppError('not_found', 'There is no such agent.', { code: 'agent_unknown' }), 404, 'agent_unknown'],
    [new Error(SECRET), 500, 'internal'],
  ])('that throws answers a problem: %#', async (error, status, code) => {
    const { url, metrics, lines } = await serve(z.unknown(), () => {
      throw error;
    });
    const problem = await fetchedProblem(await fetch(`${url}/a`));
    expect(problem).toMatchObject({ status, code });
    expect(JSON.stringify(problem)).not.toContain(SECRET);
    expect(lines).toMatchObject([{ request_id: problem.request_id, path: '/a' }]);
    expect(await metrics.render()).toContain(`route="/a",status="${String(status)}"`);
  });

  it('has a deadline', async () => {
    const { url } = await serve(z.unknown(), () => new Promise(() => undefined));
    expect(await fetchedProblem(await fetch(`${url}/a`))).toMatchObject({ status: 504 });
  });

  it('knows HEAD, OPTIONS, and which methods it does not', async () => {
    const { url } = await serve(z.unknown(), () => ({}));
    const head = await fetch(`${url}/a`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${url}/a`, { method: 'OPTIONS' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await fetchedProblem(await fetch(`${url}/a`, { method: 'DELETE' }))).toMatchObject({ status: 405 });
  });
});

describe('an answer', () => {
  const answering = (answer: NonNullable<HttpRoute['answer']>): Promise<TestServer> =>
    startServer({
      routes: [
        route(
          'get',
          '/a',
          operation(z.unknown(), () => ({})),
          { answer },
        ),
      ],
    });

  it.each([
    [{ status: 200, body: { text: 'é' } }, '{"text":"é"}'],
    [{ status: 202, body: '{"ready":"é"}' }, '{"ready":"é"}'],
    [{ status: 200, body: '{"ascii":1}', encoding: 'latin1' as const }, '{"ascii":1}'],
    [{ status: 204 }, ''],
  ])('%j arrives whole', async (answer, text) => {
    const { url } = await answering(() => answer);
    const received = await fetch(`${url}/a`);
    expect([received.status, await received.text()]).toEqual([answer.status, text]);
  });

  it('that cannot be sent is a failure, and leaves nothing of itself behind', async () => {
    const { url } = await answering(() => ({ status: 201, body: {}, headers: { Location: 'a\nb' } }));
    const received = await fetch(`${url}/a`);
    expect(received.headers.get('location')).toBeNull();
    expect(await fetchedProblem(received)).toMatchObject({ status: 500 });
  });

  it('names fields in errors as the request does', async () => {
    const strict = operation(z.strictObject({ required_capabilities: z.array(z.string()) }), () => ({}));
    const more = { fieldNames: { required_capabilities: 'capabilities' }, input: () => ({}) };
    const { url } = await startServer({ routes: [route('get', '/a', strict, more)] });
    expect((await fetchedProblem(await fetch(`${url}/a`))).errors?.[0]?.path).toBe('capabilities');
  });
});
