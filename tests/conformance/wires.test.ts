import { randomUUID } from 'node:crypto';
import { GrpcVoice } from './support/grpc-voice.js';
import { ask, askRest, askRpc, envelope, type RawAnswer } from './support/raw.js';
import type { Json } from './support/seen.js';
import { serverEvents } from './support/server-events.js';
import { startTestAgent, type TestAgent } from './support/test-agent.js';

const MEBIBYTE = 1024 * 1024;
const EXTENSION_ORIGIN = 'https://page.test';

let agent: TestAgent;

beforeAll(async () => {
  agent = await startTestAgent(['--keep-alive-ms', '100']);
}, 30_000);

afterAll(() => agent.stop());

const message = (changes: object = {}): Json => ({
  messageId: `tck-complete-task-${randomUUID()}`,
  role: 'ROLE_USER',
  parts: [{ text: 'hello' }],
  ...changes,
});

const withoutId = (): Json => {
  const { messageId: _, ...rest } = message();
  return rest;
};

const codeOf = ({ body }: RawAnswer): unknown => body?.error?.code;

const infoOf = ({ body }: RawAnswer): Json =>
  (body.error.data ?? body.error.details).find(({ reason }: Json) => reason !== undefined);

const fieldsOf = ({ body }: RawAnswer): string[] =>
  (body.error.data ?? body.error.details).flatMap(({ fieldViolations = [] }: Json) =>
    fieldViolations.map(({ field }: Json) => field),
  );

describe('the card', () => {
  it.each(['agent-card.json', 'agent.json'])('is at /.well-known/%s for every version', async (name) => {
    for (const headers of [{ 'a2a-version': '1.0' }, { 'a2a-version': '0.3' }, {}]) {
      const { status, body } = await ask(`${agent.url}/.well-known/${name}`, { headers });
      expect([status, body.name]).toEqual([200, 'Conformance agent']);
    }
  });

  it('declares each binding in each version, and the extended card, whoever asks', async () => {
    const response = await fetch(`${agent.url}/.well-known/agent-card.json`);
    const card: Json = await response.json();
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: true, extendedAgentCard: true });
    const declared = card.supportedInterfaces.map((one: Json) => `${one.protocolBinding} ${one.protocolVersion}`);
    const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];
    expect(declared.sort()).toEqual(bindings.flatMap((one) => [`${one} 0.3`, `${one} 1.0`]).sort());
    expect(card).toMatchObject({ protocolVersion: expect.stringMatching(/^0\.3/), url: `${agent.url}/a2a` });
  });

  it('names the configured address, whatever the request was sent to', async () => {
    const { port } = new URL(agent.url);
    const { body } = await ask(`http://localhost:${port}/.well-known/agent-card.json`);
    expect(body.supportedInterfaces[0].url).toBe(`${agent.url}/a2a`);
  });

  it('is not sent again to who has it', async () => {
    const url = `${agent.url}/.well-known/agent-card.json`;
    const { headers } = await ask(url);
    const tag = headers.get('etag') ?? '';
    expect(tag).toMatch(/^(W\/)?".+"$/);
    expect(headers.get('cache-control')).toMatch(/max-age=\d+/);
    const since = headers.get('last-modified') ?? '';
    expect(Number.isNaN(Date.parse(since))).toBe(false);
    for (const known of [tag, `"other", ${tag}`, '*']) {
      expect((await ask(url, { headers: { 'if-none-match': known } })).status).toBe(304);
    }
    expect((await ask(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});

describe('JSON-RPC', () => {
  it('tells a body that is no JSON from one that is no request', async () => {
    const broken = await askRpc(agent, '{"jsonrpc": "2.0", "id": 1, "method"');
    expect(broken.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
    for (const body of [5, 'null', [], [envelope('GetTask', { id: 'x' })], '"text"', {}]) {
      const answer = await askRpc(agent, body);
      expect([codeOf(answer), answer.body.id]).toEqual([-32_600, null]);
    }
  });

  it.each([
    ['another version of JSON-RPC', { jsonrpc: '1.0' }],
    ['an object as its id', { id: {} }],
    ['a list as its id', { id: [1] }],
    ['a number as its method', { method: 5 }],
  ])('refuses a request with %s', async (_, changes) => {
    expect(codeOf(await askRpc(agent, envelope('GetTask', { id: 'x' }, changes)))).toBe(-32_600);
  });

  it('refuses methods that it does not know, and those of another version', async () => {
    const asked = [envelope('NoSuchMethod'), envelope('NoSuchMethod', {}), envelope('message/send', { message: {} })];
    for (const body of asked) expect(codeOf(await askRpc(agent, body))).toBe(-32_601);
    expect(codeOf(await askRpc(agent, envelope('SendMessage', {}), { 'a2a-version': '0.3' }))).toBe(-32_601);
  });

  it.each([7, 0, 'text', ''])('answers with the id of the request: %j', async (id) => {
    const { body } = await askRpc(agent, envelope('GetTask', { id: randomUUID() }, { id }));
    expect(body).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32_001 } });
  });

  it('answers a notification with nothing', async () => {
    const { id: _, ...notification } = envelope('GetTask', { id: 'x' });
    const answer = await askRpc(agent, notification);
    expect([[202, 204].includes(answer.status), answer.text]).toEqual([true, '']);
  });

  it.each([
    ['no parameters', undefined],
    ['no message', {}],
    ['a text as its message', { message: 'x' }],
    ['a list as its parameters', [1]],
  ])('refuses to send %s', async (_, params) => {
    expect(codeOf(await askRpc(agent, envelope('SendMessage', params)))).toBe(-32_602);
  });

  it('streams answers to the request, one to an event', async () => {
    const response = await fetch(`${agent.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(
        envelope('SendStreamingMessage', { message: message({ messageId: `tck-stream-003-${randomUUID()}` }) }),
      ),
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events: Json[] = [];
    for await (const event of serverEvents(response)) events.push(event);
    expect(events.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual(Array(4).fill(['2.0', 'request-1']));
  });
});

describe('a message that is not complete', () => {
  const bad: readonly (readonly [string, () => Json, string])[] = [
    ['without parts', () => message({ parts: [] }), 'message.parts'],
    ['with a part without content', () => message({ parts: [{ text: 'a' }, {}] }), 'message.parts[1]'],
    ['with a part of two kinds', () => message({ parts: [{ text: 'a', url: 'b' }] }), 'message.parts[0]'],
    ['without an id', withoutId, 'message.messageId'],
    ['of a role of 0.3', () => message({ role: 'user' }), 'message.role'],
  ];

  it.each(bad)('%s is refused over JSON-RPC with the path of the field', async (_, make, field) => {
    const answer = await askRpc(agent, envelope('SendMessage', { message: make() }));
    expect(codeOf(answer)).toBe(-32_602);
    expect(infoOf(answer)).toMatchObject({ reason: 'INVALID_PARAMS', domain: 'a2a-protocol.org' });
    expect(fieldsOf(answer)).toEqual([field]);
  });

  it.each(bad)('%s is refused over HTTP+JSON with the path of the field', async (_, make, field) => {
    const answer = await askRest(agent, '/message:send', { body: { message: make() } });
    expect([answer.status, codeOf(answer)]).toEqual([400, 400]);
    expect(fieldsOf(answer)).toEqual([field]);
  });
});

describe('HTTP+JSON', () => {
  it('takes and gives its own content type and plain JSON', async () => {
    for (const type of ['application/a2a+json', 'application/json', 'application/json; charset=utf-8']) {
      const answer = await askRest(agent, '/message:send', {
        body: { message: message() },
        headers: { 'content-type': type },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/json/);
    }
  });

  it('answers errors in their own form', async () => {
    const answer = await askRest(agent, `/tasks/${randomUUID()}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
    expect(infoOf(answer)).toMatchObject({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' });
  });

  it.each([
    ['POST', '/message:send', '{"message":'],
    ['POST', '/message:send', '{}'],
    ['GET', '/tasks?pageSize=0', undefined],
    ['GET', '/tasks?pageSize=abc', undefined],
    ['GET', '/tasks?status=SLEEPING', undefined],
    ['GET', `/tasks/${randomUUID()}?historyLength=-1`, undefined],
  ])('refuses %s %s %s', async (method, path, body) => {
    const answer = await askRest(agent, path, { method, body });
    expect([answer.status, codeOf(answer)]).toEqual([400, 400]);
  });

  it('answers JSON where there is nothing', async () => {
    for (const path of ['/nothing/here', '/message:sing', '/tasks/a/b']) {
      const answer = await askRest(agent, path);
      expect([answer.status, answer.body?.error?.code]).toEqual([404, 404]);
    }
  });

  it.each(['GET', 'POST'])('lets %s subscribe', async (method) => {
    const sent = {
      message: message({ messageId: `bb-silent-${randomUUID()}` }),
      configuration: { returnImmediately: true },
    };
    const { body } = await askRest(agent, '/message:send', { body: sent });
    const { id } = body.task;
    const hangUp = new AbortController();
    const response = await fetch(`${agent.url}/a2a/v1/tasks/${id}:subscribe`, {
      method,
      headers: { 'a2a-version': '1.0' },
      signal: hangUp.signal,
    });
    const { value: first } = await serverEvents(response).next();
    expect([response.status, first.task?.id]).toEqual([200, id]);
    hangUp.abort();
    expect((await askRest(agent, `/tasks/${id}:cancel`, { body: {} })).status).toBe(200);
  });

  it('answers the end of a push configuration with an empty object', async () => {
    const { body } = await askRest(agent, '/message:send', {
      body: { message: message({ messageId: `tck-input-required-${randomUUID()}` }) },
    });
    const path = `/tasks/${body.task.id}/pushNotificationConfigs`;
    await askRest(agent, path, { body: { id: 'one', url: 'http://127.0.0.1:9/hook' } });
    const answer = await askRest(agent, `${path}/one`, { method: 'DELETE' });
    expect([answer.status, answer.body]).toEqual([200, {}]);
  });
});

describe('versions', () => {
  const send = { message: message() };
  const fresh = () => ({ message: message() });

  it.each(['99.0', '2.0', 'abc', '0.2'])('refuses %s by name on every binding', async (version) => {
    const headers = { 'a2a-version': version };
    const rpc = await askRpc(agent, envelope('SendMessage', send), headers);
    expect([codeOf(rpc), infoOf(rpc).reason]).toEqual([-32_009, 'VERSION_NOT_SUPPORTED']);
    const rest = await askRest(agent, '/message:send', { body: send, headers });
    expect([rest.status, infoOf(rest).reason]).toEqual([400, 'VERSION_NOT_SUPPORTED']);
    const voice = new GrpcVoice(agent, '1.0', version);
    try {
      await expect(voice.send({ scenario: 'tck-complete-task' })).rejects.toMatchObject({
        code: 'FAILED_PRECONDITION',
        reason: 'VERSION_NOT_SUPPORTED',
      });
    } finally {
      voice.close();
    }
  });

  it('does not look at the number of the patch', async () => {
    const headers = { 'a2a-version': '1.0.7' };
    expect((await askRpc(agent, envelope('SendMessage', fresh()), headers)).body.result).toBeDefined();
    expect((await askRest(agent, '/message:send', { body: fresh(), headers })).status).toBe(200);
    const voice = new GrpcVoice(agent, '1.0', '1.0.7');
    try {
      expect(await voice.send({ scenario: 'tck-complete-task' })).toMatchObject({ state: 'completed' });
    } finally {
      voice.close();
    }
  });

  it('may stand in the query', async () => {
    const post = (path: string, body: unknown) =>
      fetch(`${agent.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then((response) => response.json() as Promise<Json>);
    expect((await post('/a2a?A2A-Version=1.0', envelope('SendMessage', fresh()))).result).toBeDefined();
    expect((await post('/a2a/v1/message:send?A2A-Version=1.0', fresh())).task).toBeDefined();
    expect((await post('/a2a?A2A-Version=99.0', envelope('SendMessage', fresh()))).error.code).toBe(-32_009);
    expect((await post('/a2a/v1/message:send?A2A-Version=99.0', fresh())).error.code).toBe(400);
  });

  it('means 0.3 when there is none', async () => {
    const response = await fetch(`${agent.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(envelope('tasks/get', { id: randomUUID() })),
    });
    expect(await response.json()).toMatchObject({ error: { code: -32_001 } });
  });
});

describe('an agent without 0.3', () => {
  let only10: TestAgent;

  beforeAll(async () => {
    only10 = await startTestAgent(['--no-compat']);
  }, 30_000);

  afterAll(() => only10.stop());

  it('declares only 1.0 and refuses what names no version', async () => {
    const { body } = await ask(`${only10.url}/.well-known/agent-card.json`);
    expect(new Set(body.supportedInterfaces.map((one: Json) => one.protocolVersion))).toEqual(new Set(['1.0']));
    const response = await fetch(`${only10.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(envelope('SendMessage', { message: message() })),
    });
    expect(await response.json()).toMatchObject({ error: { code: -32_009 } });
  });
});

describe('pages of other origins', () => {
  it.each(['/.well-known/agent-card.json', '/a2a', '/a2a/v1/message:send'])('may ask %s', async (path) => {
    const asked = 'content-type,authorization,a2a-version,a2a-extensions';
    const answer = await ask(`${agent.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: EXTENSION_ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
    expect([200, 204]).toContain(answer.status);
    expect(answer.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/page\.test)$/);
    const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, */);
    expect(allowed).toEqual(expect.arrayContaining(asked.split(',')));
  });

  it('see the extensions that are active, also with an error', async () => {
    const answer = await askRest(agent, '/tasks/none', { headers: { origin: EXTENSION_ORIGIN } });
    expect(answer.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/page\.test)$/);
    expect(answer.headers.get('access-control-expose-headers')?.toLowerCase()).toContain('a2a-extensions');
  });
});

describe('bodies', () => {
  it('of some mebibytes are taken, and longer ones refused in the form of the binding', async () => {
    const text = 'x'.repeat(4 * MEBIBYTE);
    const taken = await askRpc(agent, envelope('SendMessage', { message: message({ parts: [{ text }] }) }));
    expect(taken.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const long = { message: message({ parts: [{ text: 'x'.repeat(9 * MEBIBYTE) }] }) };
    const rpc = await askRpc(agent, envelope('SendMessage', long));
    expect([rpc.status, rpc.body.jsonrpc, typeof codeOf(rpc)]).toEqual([413, '2.0', 'number']);
    const rest = await askRest(agent, '/message:send', { body: long });
    expect([rest.status, codeOf(rest)]).toEqual([413, 413]);
  });

  it('of another kind are refused', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect(codeOf(await askRpc(agent, 'hello', headers))).toBe(-32_005);
    expect((await askRest(agent, '/message:send', { body: 'hello', headers })).status).toBe(400);
  });
});

describe('an event stream', () => {
  const stream = (messageId: string, text: string) =>
    fetch(`${agent.url}/a2a/v1/message:stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: message({ messageId, parts: [{ text }] }) }),
    });

  it('says that it is alive, and not as an event', async () => {
    const response = await stream(`bb-silent-${randomUUID()}`, 'hello');
    const comments = Promise.withResolvers<string>();
    const events = serverEvents(response, (comment) => {
      comments.resolve(comment);
    });
    const first = (await events.next()).value;
    const second = (await events.next()).value;
    expect([first.task.status.state, second.statusUpdate.status.state]).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
    ]);
    const third = events.next();
    await comments.promise;
    await askRest(agent, `/tasks/${first.task.id}:cancel`, { body: {} });
    expect((await third).value.statusUpdate.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('has nothing in it that some readers take for the end of a line', async () => {
    const raw = await (await stream(`bb-echo-${randomUUID()}`, 'a\u2028b\u2029c\u0085d')).text();
    expect(raw).toContain('"a\\u2028b\\u2029c\\u0085d"');
    expect(/[\u2028\u2029\u0085]/.exec(raw)).toBeNull();
  });
});
