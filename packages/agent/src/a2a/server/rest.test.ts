import { buildExtendedAgentCard } from './card/build-agent-card.js';
import {
  ask,
  cardOptions,
  closeA2aServers,
  eventsOf,
  legacySaid,
  post,
  said,
  startA2a,
  V1,
  type Answer,
  type Json,
  type TestA2a,
} from './server.test-helper.js';

afterEach(closeA2aServers);

interface RestError {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details: Json[];
}

function errorOf({ json }: Answer): RestError {
  return json?.['error'] as RestError;
}

const rest = ({ url }: TestA2a, path: string): string => `${url}/a2a/v1${path}`;
const get = (server: TestA2a, path: string, headers: Record<string, string> = V1): Promise<Answer> =>
  ask(rest(server, path), { headers });

async function newTask(server: TestA2a, text = 'hello'): Promise<string> {
  const configuration = { returnImmediately: text.startsWith('wait') };
  const sent = await post(rest(server, '/message:send'), { message: said(text), configuration });
  return (sent.json as { task: { id: string } }).task.id;
}

describe('HTTP+JSON 1.0', () => {
  it('sends a message, and gets, lists and refuses to cancel the task', async () => {
    const server = await startA2a();
    const sent = await post(rest(server, '/message:send'), { message: said('hello') });
    expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'application/a2a+json']);
    expect(sent.json).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const { id } = (sent.json as { task: { id: string } }).task;
    expect((await get(server, `/tasks/${id}`)).json).toMatchObject({ id, history: [{ messageId: 'm-1' }] });
    expect((await get(server, `/tasks/${id}?historyLength=0`)).json).not.toHaveProperty('history');
    const listed = await get(server, '/tasks?includeArtifacts=true&status=TASK_STATE_COMPLETED');
    expect(listed.json).toMatchObject({
      tasks: [{ id, artifacts: [{ name: 'echo' }] }],
      nextPageToken: '',
      totalSize: 1,
    });
    expect((await get(server, '/tasks?contextId=other')).json).toMatchObject({ tasks: [], totalSize: 0 });
    const cancelled = await post(rest(server, `/tasks/${id}:cancel`), {});
    expect([cancelled.status, errorOf(cancelled)]).toMatchObject([
      400,
      { code: 400, status: 'FAILED_PRECONDITION', details: [{ reason: 'TASK_NOT_CANCELABLE' }] },
    ]);
  });

  it('answers a message with a message', async () => {
    const server = await startA2a();
    const sent = await post(rest(server, '/message:send'), { message: said('message only') });
    expect(sent.json).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'message only' }] } });
  });

  it('takes requests below a tenant', async () => {
    const server = await startA2a();
    const sent = await post(rest(server, '/acme/message:send'), { message: said('hello') });
    expect(sent.json).toHaveProperty('task.id');
  });

  it('keeps push configurations, and deletes one with an empty object', async () => {
    const server = await startA2a();
    const id = await newTask(server);
    const path = rest(server, `/tasks/${id}/pushNotificationConfigs`);
    const made = await post(path, { id: 'c:1', url: 'https://example.test/hook' });
    expect([made.status, made.json]).toMatchObject([201, { id: 'c:1', taskId: id }]);
    expect((await get(server, `/tasks/${id}/pushNotificationConfigs/c:1`)).json).toHaveProperty('id', 'c:1');
    expect((await ask(path, { headers: V1 })).json).toMatchObject({ configs: [{ id: 'c:1' }] });
    const deleted = await ask(`${path}/c%3A1`, { method: 'DELETE', headers: V1 });
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
    expect((await ask(path, { headers: V1 })).json).not.toHaveProperty('configs.0');
  });

  it('gives the extended card, or refuses it where there is none', async () => {
    const extended = buildExtendedAgentCard(cardOptions);
    if (extended === undefined) throw new Error('there is one');
    const server = await startA2a({ handler: { getAuthenticatedExtendedAgentCard: () => Promise.resolve(extended) } });
    expect((await get(server, '/extendedAgentCard')).json).toHaveProperty('description', 'Does more.');
    const without = await startA2a({ card: { extendedCard: undefined as never } });
    const refused = await get(without, '/extendedAgentCard');
    expect([refused.status, errorOf(refused).status]).toEqual([400, 'FAILED_PRECONDITION']);
  });

  it.each(['GET', 'POST'])('lets somebody follow a task by %s', async (method) => {
    const server = await startA2a();
    const id = await newTask(server, 'wait for it');
    const response = await fetch(rest(server, `/tasks/${id}:subscribe`), { method, headers: V1 });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    server.executor.gates.get(id)?.();
    expect(await response.text()).toContain('TASK_STATE_COMPLETED');
  });

  it('tells an id with a colon from a verb', async () => {
    const asked: string[] = [];
    const server = await startA2a({
      handler: {
        getTask: ({ id }) => {
          asked.push(`get ${id}`);
          return Promise.reject(new Error('enough'));
        },
        cancelTask: ({ id }) => {
          asked.push(`cancel ${id}`);
          return Promise.reject(new Error('enough'));
        },
      },
    });
    await get(server, '/tasks/urn:task:7');
    await get(server, '/tasks/a%3Asubscribe');
    await get(server, '/tasks/x:subscribe:y');
    await post(rest(server, '/tasks/urn:task:7:cancel'), {});
    expect(asked).toEqual(['get urn:task:7', 'get a:subscribe', 'get x:subscribe:y', 'cancel urn:task:7']);
  });

  it('streams, and answers what fails before the first item in order', async () => {
    const server = await startA2a();
    const streamed = await post(rest(server, '/message:stream'), { message: said('hello') });
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(eventsOf(streamed).at(-1)).toHaveProperty('statusUpdate.status.state', 'TASK_STATE_COMPLETED');
    for (const failing of [await get(server, '/tasks/unknown:subscribe'), await get(server, '/tasks/unknown')]) {
      expect([failing.status, errorOf(failing)]).toMatchObject([
        404,
        { code: 404, status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] },
      ]);
    }
  });

  it.each(['/nothing/here', '/tasks/a/other', '/', '/tasks/a/pushNotificationConfigs/b/c', '/tasks/%zz'])(
    'says in its own form that nothing is at %s',
    async (path) => {
      const server = await startA2a();
      const answer = await get(server, path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/a2a+json']);
      expect(errorOf(answer).details[0]).toMatchObject({ reason: 'METHOD_NOT_FOUND' });
    },
  );

  it.each([
    ['DELETE', '/tasks/a', 'GET, OPTIONS'],
    ['GET', '/message:send', 'POST, OPTIONS'],
    ['PUT', '/tasks/a:subscribe', 'GET, POST, OPTIONS'],
    ['POST', '/tasks/a/pushNotificationConfigs/b', 'GET, DELETE, OPTIONS'],
  ])('refuses %s %s, and says what is allowed', async (method, path, allow) => {
    const server = await startA2a();
    const answer = await ask(rest(server, path), { method, headers: V1 });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(errorOf(answer)).toMatchObject({ code: 405, details: [{ reason: 'METHOD_NOT_ALLOWED' }] });
  });

  it.each<[string, unknown, string]>([
    ['no message', {}, 'message'],
    ['no body', '', 'message'],
    ['a list', [1], 'body'],
    ['an empty list of parts', { message: said('a', { parts: [] }) }, 'message.parts'],
    ['a wrong role', { message: said('a', { role: 'user' }) }, 'message.role'],
    ['no message id', { message: said('a', { messageId: '' }) }, 'message.messageId'],
  ])('refuses %s, and says where', async (_what, body, field) => {
    const server = await startA2a();
    for (const path of ['/message:send', '/message:stream']) {
      const answer = await post(rest(server, path), body);
      expect([answer.status, errorOf(answer)]).toMatchObject([
        400,
        { status: 'INVALID_ARGUMENT', details: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }] },
      ]);
    }
  });

  it('refuses broken JSON, other media types, and what is too long', async () => {
    const server = await startA2a({ maxBodyBytes: 1_000 });
    const path = rest(server, '/message:send');
    const broken = await post(path, '{"message":');
    expect([broken.status, errorOf(broken).details[0]]).toMatchObject([400, { reason: 'PARSE_ERROR' }]);
    const form = await post(path, 'a=b', { ...V1, 'Content-Type': 'text/plain' });
    expect(errorOf(form).details[0]).toMatchObject({ reason: 'CONTENT_TYPE_NOT_SUPPORTED' });
    const long = await post(path, { message: said('x'.repeat(2_000)) });
    expect([long.status, errorOf(long).details[0]]).toMatchObject([413, { reason: 'PAYLOAD_TOO_LARGE' }]);
  });

  it.each(['historyLength=-1', 'historyLength=x'])('refuses a task by %s', async (query) => {
    const server = await startA2a();
    expect((await get(server, `/tasks/a?${query}`)).status).toBe(400);
  });

  it.each(['pageSize=0', 'pageSize=101', 'pageSize=x', 'status=NOPE', 'statusTimestampAfter=soon'])(
    'refuses a list by %s',
    async (query) => {
      const server = await startA2a();
      const answer = await get(server, `/tasks?${query}`);
      expect([answer.status, errorOf(answer).status]).toEqual([400, 'INVALID_ARGUMENT']);
    },
  );

  it('counts its calls by operation and not by path', async () => {
    const server = await startA2a();
    await get(server, '/tasks/secret-id');
    await get(server, '/secret/path/x');
    await new Promise(setImmediate);
    const text = await server.metrics.render();
    expect(text).toContain('/a2a/v1 getTask');
    expect(text).toContain('/a2a/v1 unmatched');
    expect(text).not.toContain('secret');
  });
});

describe('HTTP+JSON 0.3', () => {
  const message = { ...legacySaid('hello'), role: 'ROLE_USER', parts: undefined, content: [{ text: 'hello' }] };

  it('sends, gets, and keeps the length of a history', async () => {
    const server = await startA2a();
    const body = { message, configuration: { blocking: true } };
    const sent = await post(rest(server, '/v1/message:send'), body, {});
    expect([sent.status, sent.headers.get('content-type')]).toEqual([201, 'application/json']);
    expect(sent.json).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const { id } = (sent.json as { task: { id: string } }).task;
    expect((await get(server, `/v1/tasks/${id}`, {})).json).toMatchObject({ history: [{ messageId: 'm-1' }] });
    const short = await get(server, `/v1/tasks/${id}?historyLength=0`, {});
    expect(short.json?.['history'] ?? []).toEqual([]);
  });

  it('streams', async () => {
    const server = await startA2a();
    const streamed = await post(rest(server, '/v1/message:stream'), { message }, {});
    expect(streamed.headers.get('content-type')).toBe('text/event-stream');
    expect(streamed.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(eventsOf(streamed).at(-1)).toHaveProperty('statusUpdate.status.state', 'TASK_STATE_COMPLETED');
  });

  it('deletes a push configuration with an empty object', async () => {
    const server = await startA2a();
    const id = await newTask(server);
    const path = rest(server, `/v1/tasks/${id}/pushNotificationConfigs`);
    const config = {
      name: `tasks/${id}/pushNotificationConfigs/c1`,
      pushNotificationConfig: { id: 'c1', url: 'https://example.test/hook' },
    };
    const made = await post(path, { parent: `tasks/${id}`, configId: 'c1', config }, {});
    const direct = made.status === 201 ? made : await post(path, config, {});
    expect(direct.status).toBe(201);
    const deleted = await ask(`${path}/c1`, { method: 'DELETE' });
    expect([deleted.status, deleted.json]).toEqual([200, {}]);
  });

  it('tells failures in the form of 0.3', async () => {
    const server = await startA2a({ maxBodyBytes: 1_000 });
    const failures = [
      [await get(server, '/v1/tasks/unknown', {}), 404, -32001],
      [await get(server, '/v1/tasks/unknown:subscribe', {}), 404, -32001],
      [await get(server, '/v1/nothing', {}), 404, -32601],
      [await ask(rest(server, '/v1/tasks/a'), { method: 'DELETE' }), 405, -32600],
      [await post(rest(server, '/v1/message:send'), '{', {}), 400, -32700],
      [await post(rest(server, '/v1/message:send'), {}, {}), 400, -32602],
      [await post(rest(server, '/v1/message:send'), { message: { ...message, content: [] } }, {}), 400, -32602],
      [await post(rest(server, '/v1/message:send'), { message: { ...message, content: 5 } }, {}), 400, -32602],
      [
        await post(rest(server, '/v1/message:send'), { message: { ...message, x: 'x'.repeat(2_000) } }, {}),
        413,
        -32600,
      ],
    ] as const;
    for (const [answer, status, code] of failures) {
      expect([answer.status, answer.json]).toMatchObject([status, { code }]);
      expect(answer.headers.get('content-type')).toBe('application/json');
    }
  });
});
