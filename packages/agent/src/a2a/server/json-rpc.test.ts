import {
  closeA2aServers,
  eventsOf,
  legacySaid,
  post,
  rpc,
  said,
  startA2a,
  V1,
  type Answer,
  type Json,
} from './server.test-helper.js';

afterEach(closeA2aServers);

function errorOf({ json }: Answer): { code: number; message: string; data: Json[] } {
  return json?.['error'] as never;
}

describe('the envelope of JSON-RPC', () => {
  it.each([
    ['no JSON', '{"jsonrpc":', -32700, null],
    ['an empty body', '', -32700, null],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'GetTask' }], -32600, null],
    ['an empty batch', [], -32600, null],
    ['a number', '7', -32600, null],
    ['a text', '"GetTask"', -32600, null],
    ['null', 'null', -32600, null],
    ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'GetTask' }, -32600, 1],
    ['no version of JSON-RPC', { id: 1, method: 'GetTask' }, -32600, 1],
    ['no method', { jsonrpc: '2.0', id: 'a' }, -32600, 'a'],
    ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 5 }, -32600, 1],
    ['an object for an id', { jsonrpc: '2.0', id: {}, method: 'GetTask', params: {} }, -32600, null],
    ['a list for an id', { jsonrpc: '2.0', id: [1], method: 'GetTask', params: {} }, -32600, null],
    ['a fraction for an id', { jsonrpc: '2.0', id: 1.5, method: 'GetTask', params: {} }, -32600, null],
    ['an unknown method without params', { jsonrpc: '2.0', id: 1, method: 'Nope' }, -32601, 1],
    ['an unknown method with params', { jsonrpc: '2.0', id: 1, method: 'Nope', params: {} }, -32601, 1],
    ['a method of a prototype', { jsonrpc: '2.0', id: 1, method: 'constructor', params: {} }, -32601, 1],
    ['a method of 0.3', { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }, -32601, 1],
    ['no params', { jsonrpc: '2.0', id: 1, method: 'GetTask' }, -32602, 1],
    ['a list of params', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: ['a'] }, -32602, 1],
  ])('refuses %s', async (_what, body, code, id) => {
    const { url } = await startA2a();
    const answer = await post(`${url}/a2a`, body);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
    expect(errorOf(answer).data[0]).toMatchObject({ domain: 'a2a-protocol.org' });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it('says by GET that it wants POST', async () => {
    const { url } = await startA2a();
    const response = await fetch(`${url}/a2a`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
  });

  it('refuses a body that is no JSON by its type', async () => {
    const { url } = await startA2a();
    const answer = await post(`${url}/a2a`, 'a=b', { ...V1, 'Content-Type': 'application/x-www-form-urlencoded' });
    expect([answer.status, errorOf(answer).code]).toEqual([200, -32005]);
  });

  it('takes a body of a megabyte, and refuses one above its limit as JSON-RPC', async () => {
    const { url } = await startA2a({ maxBodyBytes: 2_000_000 });
    const body = (length: number) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: said('x'.repeat(length)) },
    });
    expect((await post(`${url}/a2a`, body(1_000_000))).json).toHaveProperty('result.task');
    const large = await post(`${url}/a2a`, body(2_000_000));
    expect(large.status).toBe(413);
    expect(large.json).toMatchObject({ id: null, error: { code: -32600, data: [{ reason: 'PAYLOAD_TOO_LARGE' }] } });
  });

  it('answers a request whose id is null or a text with that id', async () => {
    const { url } = await startA2a();
    for (const id of [null, 'x', 0]) {
      const answer = await post(`${url}/a2a`, { jsonrpc: '2.0', id, method: 'ListTasks', params: {} });
      expect(answer.json).toMatchObject({ id, result: { tasks: [], totalSize: 0 } });
    }
  });
});

describe('a notification', () => {
  it('is accepted without a body, and done', async () => {
    const server = await startA2a();
    const params = { message: said('hello') };
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const answer = await post(`${server.url}/a2a`, { jsonrpc: '2.0', method, params });
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
    let total: unknown = 0;
    while (total !== 2 || server.executor.finished.length < 2) {
      const list = await rpc(server, 'ListTasks', {});
      total = (list.json?.['result'] as Json)['totalSize'];
    }
    expect(total).toBe(2);
  });

  it('that cannot be done is not answered either', async () => {
    const server = await startA2a();
    for (const [method, params] of [
      ['Nope', {}],
      ['SendMessage', {}],
      ['GetTask', { id: 'unknown' }],
    ]) {
      const answer = await post(`${server.url}/a2a`, { jsonrpc: '2.0', method, params });
      expect([answer.status < 300, answer.text]).toEqual([true, '']);
    }
  });
});

describe('messages over JSON-RPC', () => {
  it.each<[string, Json, string]>([
    ['no message id', said('a', { messageId: undefined }), 'message.messageId'],
    ['a number for a message id', said('a', { messageId: 5 }), 'message.messageId'],
    ['an empty message id', said('a', { messageId: '' }), 'message.messageId'],
    ['no role', said('a', { role: undefined }), 'message.role'],
    ['the role of 0.3', said('a', { role: 'user' }), 'message.role'],
    ['no parts', said('a', { parts: [] }), 'message.parts'],
    ['parts that are no list', said('a', { parts: { text: 'a' } }), 'message.parts'],
    ['a part without content', said('a', { parts: [{ text: 'a' }, {}] }), 'message.parts[1]'],
    ['a part with two contents', said('a', { parts: [{ text: 'a', url: 'b' }] }), 'message.parts[0]'],
    ['a part whose text is a number', said('a', { parts: [{ text: 1 }] }), 'message.parts[0]'],
    ['a task id that is no text', said('a', { taskId: 5 }), 'message.taskId'],
    ['a list for metadata', said('a', { metadata: [] }), 'message.metadata'],
  ])('refuses %s, and says where', async (_what, message, field) => {
    const server = await startA2a();
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const answer = await rpc(server, method, { message });
      expect(errorOf(answer)).toMatchObject({
        code: -32602,
        data: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }],
      });
      expect(errorOf(answer).message).toContain(field);
    }
  });

  it.each<[string, Json, string]>([
    ['no message id', legacySaid('a', { messageId: undefined }), 'message.messageId'],
    ['the role of 1.0', legacySaid('a', { role: 'ROLE_USER' }), 'message.role'],
    ['no parts', legacySaid('a', { parts: [] }), 'message.parts'],
    ['a text part without text', legacySaid('a', { parts: [{ kind: 'text' }] }), 'message.parts[0]'],
    ['a file part without a file', legacySaid('a', { parts: [{ kind: 'file' }] }), 'message.parts[0]'],
    ['an unknown kind of part', legacySaid('a', { parts: [{ kind: 'image' }] }), 'message.parts[0]'],
  ])('refuses %s in 0.3, and says where', async (_what, message, field) => {
    const server = await startA2a();
    const answer = await rpc(server, 'message/send', { message }, {});
    expect(errorOf(answer)).toMatchObject({ code: -32602, data: [{}, { fieldViolations: [{ field }] }] });
  });

  it('refuses a history length below zero and pages that are none', async () => {
    const server = await startA2a();
    for (const [method, params] of [
      ['GetTask', { id: 'a', historyLength: -1 }],
      ['ListTasks', { pageSize: 101 }],
      ['ListTasks', { pageSize: 0 }],
      ['GetTask', {}],
      ['SendMessage', { message: said('a'), configuration: { historyLength: -1 } }],
    ] as const) {
      expect(errorOf(await rpc(server, method, params)).code).toBe(-32602);
    }
  });

  it('refuses members that would change a prototype, and nesting without end', async () => {
    const { url } = await startA2a();
    const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
    for (const metadata of ['{"__proto__":{"a":1}}', deep]) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"metadata":${metadata}}}`;
      expect(errorOf(await post(`${url}/a2a`, body)).code).toBe(-32602);
    }
  });
});

describe('a conversation over JSON-RPC', () => {
  it('sends, gets, lists and ends in 1.0', async () => {
    const server = await startA2a();
    const sent = await rpc(server, 'SendMessage', { message: said('hello') });
    expect(sent.json).toMatchObject({
      id: 7,
      result: { task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'hello' }] }] } },
    });
    const { id } = (sent.json as { result: { task: { id: string } } }).result.task;
    expect((await rpc(server, 'GetTask', { id })).json).toHaveProperty('result.id', id);
    expect(errorOf(await rpc(server, 'CancelTask', { id })).code).toBe(-32002);
    const unknown = await rpc(server, 'GetTask', { id: 'unknown' });
    expect(errorOf(unknown)).toMatchObject({ code: -32001, data: [{ reason: 'TASK_NOT_FOUND' }] });
  });

  it('speaks 0.3 when no version is said', async () => {
    const server = await startA2a();
    const sent = await rpc(
      server,
      'message/send',
      { message: legacySaid('hi'), configuration: { blocking: true } },
      {},
    );
    expect(sent.json).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } });
    expect(errorOf(await rpc(server, 'tasks/get', { id: 'unknown' }, {})).code).toBe(-32001);
    expect(errorOf(await rpc(server, 'SendMessage', { message: said('a') }, {})).code).toBe(-32601);
  });

  it('streams, with headers that keep proxies from holding events back', async () => {
    const server = await startA2a();
    const answer = await rpc(server, 'SendStreamingMessage', { message: said('hello') });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    const events = eventsOf(answer);
    expect(events.every((event) => event['id'] === 7 && event['jsonrpc'] === '2.0')).toBe(true);
    expect(events.at(-1)).toHaveProperty('result.statusUpdate.status.state', 'TASK_STATE_COMPLETED');
  });

  it('answers what fails before the first item in order, and not as a stream', async () => {
    const server = await startA2a();
    for (const [method, headers] of [
      ['SubscribeToTask', V1],
      ['tasks/resubscribe', {}],
    ] as const) {
      const answer = await rpc(server, method, { id: 'unknown' }, headers);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(errorOf(answer).code).toBe(-32001);
    }
  });
});
