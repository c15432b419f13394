import { request } from 'node:http';
import {
  message,
  type RpcAnswer,
  startClaimedProxy,
  startProxy,
  stopProxies,
  type TestProxy,
} from '../proxy.test-helper.js';

afterEach(stopProxies);

const STATUS_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

async function error(proxy: TestProxy, method: string, params?: object): Promise<readonly [number, string]> {
  const { error: told } = await proxy.rpc(method, params);
  return [told?.code ?? 0, told?.message ?? ''];
}

describe('calls that cannot be taken', () => {
  it.each([
    ['{oops', -32_700, undefined],
    ['', -32_700, undefined],
    ['[]', -32_600, undefined],
    ['[{"jsonrpc":"2.0","id":1,"method":"tasks/get"}]', -32_600, undefined],
    ['"x"', -32_600, undefined],
    ['{"jsonrpc":"1.0","id":1,"method":"tasks/get","params":{}}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"tasks/get"}', -32_600, undefined],
    ['{"jsonrpc":"2.0","id":1.5,"method":"tasks/get"}', -32_600, undefined],
    ['{"jsonrpc":"2.0","id":1}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":[]}', -32_600, 1],
    ['{"jsonrpc":"2.0","id":"a","method":"nope","params":{}}', -32_601, 'a'],
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{}}}', -32_601, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"toString","params":{}}', -32_601, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', -32_602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":5}}', -32_602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', -32_602, 1],
    ['{"jsonrpc":"2.0","id":null,"method":"tasks/get","params":{"id":"x"}}', -32_602, undefined],
    ['{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"x"}}', -32_602, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}', -32_001, 1],
  ])('%s', async (body, code, id) => {
    const proxy = await startProxy();
    const answer = await proxy.post('/a2a', body);
    const { error: told, ...rest } = answer.json as RpcAnswer;
    expect([answer.status, told?.code, rest]).toEqual([200, code, { ...(id !== undefined && { id }), jsonrpc: '2.0' }]);
  });

  it('keep an id that no double can hold', async () => {
    const proxy = await startProxy();
    const { text } = await proxy.post(
      '/a2a',
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tasks/get","params":{"id":"x"}}',
    );
    expect(text).toBe('{"error":{"code":-32001,"message":"Task not found"},"id":12345678901234567890,"jsonrpc":"2.0"}');
  });

  it('are told with the sentences that clients know', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    await proxy.end(task, 'done');
    const open = await proxy.open('y', 'own');
    expect(await error(proxy, 'tasks/cancel', { id: 'nope' })).toEqual([-32_001, 'Task not found']);
    expect(await error(proxy, 'tasks/cancel', { id: task })).toEqual([
      -32_002,
      'Task cannot be canceled - current state: TaskState.completed',
    ]);
    expect(await error(proxy, 'message/send', message('x', { taskId: 'nope' }))).toEqual([
      -32_001,
      'Task nope was specified but does not exist',
    ]);
    expect(await error(proxy, 'message/send', message('x', { taskId: task }))).toEqual([
      -32_602,
      `Task ${task} is in terminal state: completed`,
    ]);
    expect(await error(proxy, 'message/send', message('x', { taskId: open, contextId: 'other' }))).toEqual([
      -32_602,
      'bad context id',
    ]);
    // Not swallowed: the turn it was meant for could not see it.
    expect((await error(proxy, 'message/send', message('x', { taskId: open })))[0]).toBe(-32_004);
    expect(await error(proxy, 'message/send', message('x', { parts: [] }))).toEqual([
      -32_602,
      'Message parts cannot be empty',
    ]);
    expect(await error(proxy, 'message/send', message(''))).toEqual([-32_602, 'TextPart content cannot be empty']);
    expect(await error(proxy, 'message/stream', message('x'))).toEqual([
      -32_603,
      'Streaming is not supported by the agent',
    ]);
    for (const method of ['set', 'get', 'list', 'delete']) {
      expect(await error(proxy, `tasks/pushNotificationConfig/${method}`, { id: task })).toEqual([
        -32_603,
        'Push notifications are not supported by the agent',
      ]);
    }
    expect(await error(proxy, 'agent/getAuthenticatedExtendedCard')).toEqual([
      -32_603,
      'Authenticated card not supported',
    ]);
  });

  it.each([
    [{ messageId: undefined }, ['params', 'message', 'messageId']],
    [{ messageId: 5 }, ['params', 'message', 'messageId']],
    [{ role: 'system' }, ['params', 'message', 'role']],
    [{ kind: 'task' }, ['params', 'message', 'kind']],
    [{ contextId: 5 }, ['params', 'message', 'contextId']],
    [{ metadata: [] }, ['params', 'message', 'metadata']],
    [{ extensions: 'x' }, ['params', 'message', 'extensions']],
    [{ parts: 'x' }, ['params', 'message', 'parts']],
    [{ parts: ['x'] }, ['params', 'message', 'parts', 0]],
    [{ parts: [{ kind: 'txt' }] }, ['params', 'message', 'parts', 0, 'kind']],
    [{ parts: [{ kind: 'text' }] }, ['params', 'message', 'parts', 0, 'text']],
    [{ parts: [{ kind: 'data', data: 5 }] }, ['params', 'message', 'parts', 0, 'data']],
    [{ parts: [{ kind: 'file', file: {} }] }, ['params', 'message', 'parts', 0, 'file', 'bytes']],
  ])('a message with %j names the place', async (more, loc) => {
    const proxy = await startProxy();
    const { error: told } = await proxy.rpc('message/send', message('x', more));
    expect(told).toMatchObject({ code: -32_602, message: 'Invalid parameters', data: [{ loc }] });
  });
});

describe('message/send', () => {
  it('answers at once where it is not blocking, with what A2A knows of the message', async () => {
    const proxy = await startProxy();
    const params = message('x', {
      contextId: 'ctx',
      messageId: 'm7',
      metadata: { z: null, c: 1 },
      extensions: ['e'],
      referenceTaskIds: null,
      foo: 1,
      parts: [{ kind: 'text', text: 'hey', metadata: { b: null } }, { text: 'two' }],
    });
    const { text } = await proxy.post('/a2a', { jsonrpc: '2.0', id: '1', method: 'message/send', params });
    const { result } = JSON.parse(text) as { result: { id: string; status: { state: string } } };
    expect(result.id).toMatch(UUID);
    expect(['submitted', 'working']).toContain(result.status.state);
    const status = JSON.stringify(result.status);
    expect(text).toBe(
      `{"id":"1","jsonrpc":"2.0","result":{"contextId":"ctx","history":[{"contextId":"ctx","extensions":["e"],"kind":"message","messageId":"m7","metadata":{"z":null,"c":1},"parts":[{"kind":"text","metadata":{"b":null},"text":"hey"},{"kind":"text","text":"two"}],"role":"user","taskId":"${result.id}"}],"id":"${result.id}","kind":"task","status":${status}}}`,
    );
  });

  it('makes a context where none is given', async () => {
    const proxy = await startProxy();
    for (const contextId of [undefined, null, '']) {
      const { result } = await proxy.rpc('message/send', message('x', { contextId }));
      expect(result?.['contextId']).toMatch(UUID);
    }
  });

  it.each([true, undefined])('waits for the end where blocking is %j', async (blocking) => {
    const proxy = await startClaimedProxy();
    const sending = proxy.rpc('message/send', message('wait', { contextId: 'c' }, { blocking }));
    const { turns } = (await proxy.op('next')).json as { turns: { task_id: string }[] };
    const task = turns[0]?.task_id ?? '';
    await proxy.op('reply', { task_id: task, parts: [{ text: 'here' }, { text: '' }] });
    const { result } = await sending;
    expect(result).toMatchObject({
      id: task,
      status: {
        message: {
          contextId: 'c',
          kind: 'message',
          messageId: expect.stringMatching(UUID) as string,
          parts: [
            { kind: 'text', text: 'here' },
            { kind: 'text', text: '' },
            { data: { usage: { tool_call_count: 0 } }, kind: 'data' },
          ],
          role: 'agent',
          taskId: task,
        },
        state: 'completed',
        timestamp: expect.stringMatching(STATUS_TIME) as string,
      },
    });
  });

  it('takes a message that comes again for the one it is', async () => {
    const proxy = await startProxy();
    const params = message('once', { contextId: 'c' });
    const [one, two] = [await proxy.rpc('message/send', params), await proxy.rpc('message/send', params)];
    expect(two.result?.['id']).toBe(one.result?.['id']);
  });

  it('fails what has a part that is not text, unseen by the driver', async () => {
    const proxy = await startClaimedProxy();
    const parts = [
      { kind: 'data', data: { x: 1 } },
      { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain' } },
      { kind: 'file', file: { uri: 'https://x/y' } },
    ];
    for (const part of parts) {
      const given = { parts: [{ kind: 'text', text: 'see' }, part] };
      const { result } = await proxy.rpc('message/send', message('x', given, { blocking: true }));
      expect(result).toMatchObject({
        history: [{ parts: [{ text: 'see' }, part] }],
        status: {
          state: 'failed',
          message: {
            parts: [
              { kind: 'text', text: 'the proxy passes on text parts only' },
              {
                data: {
                  error_type: 'agent_error',
                  error_code: 'proxy.unsupported_part',
                  error_message: 'the proxy passes on text parts only',
                },
                kind: 'data',
              },
            ],
          },
        },
      });
    }
    expect((await proxy.op('next', { after: 0 })).json).toEqual({ version: 0, turns: [] });
  });

  it('goes on with the trace of the request', async () => {
    const proxy = await startClaimedProxy();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: message('x') };
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const { json } = await proxy.ask('/a2a', { method: 'POST', body, headers });
    const task = (json as RpcAnswer).result?.['id'] as string;
    await proxy.op('next', { after: 0 });
    await proxy.end(task, 'done');
    const { trajectory } = (await proxy.post('/ext/trajectory', { task_id: task })).json as { trajectory: object[] };
    expect(trajectory).toMatchObject([{ name: 'turn', trace_id: traceId }]);
  });
});

describe('tasks', () => {
  it('are shown with as much of their history as is asked for', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('keep me');
    const historyOf = async (historyLength?: unknown): Promise<unknown> =>
      (await proxy.rpc('tasks/get', { id: task, historyLength })).result?.['history'];
    for (const length of [undefined, null, 0, 1, 5]) {
      expect(await historyOf(length)).toMatchObject([
        { parts: [{ kind: 'text', text: 'keep me' }], role: 'user', taskId: task },
      ]);
    }
    expect((await error(proxy, 'tasks/get', { id: task, historyLength: 'x' }))[0]).toBe(-32_602);
  });

  it('fail with the error of the driver', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    const sending = proxy.rpc('tasks/get', { id: task });
    await sending;
    await proxy.op('reply', { task_id: task, error: 'gave up' });
    for (;;) {
      const { result } = await proxy.rpc('tasks/get', { id: task });
      if ((result?.['status'] as { state: string }).state === 'working') continue;
      expect(result?.['status']).toMatchObject({
        state: 'failed',
        message: {
          parts: [
            { kind: 'text', text: 'gave up' },
            {
              data: { error_type: 'agent_error', error_code: 'proxy.driver_error', error_message: 'gave up' },
              kind: 'data',
            },
          ],
        },
      });
      return;
    }
  });

  it('that are cancelled have no message, and what ran in them has ended', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x', 'c');
    const queued = (await proxy.rpc('message/send', message('y', { contextId: 'c' }))).result?.['id'];
    const action = { kind: 'bash', command: 'echo go; sleep 300' };
    const acting = proxy.op('act', { task_id: task, action_id: 'a', action });
    while ((await proxy.op('result', { action_id: 'a', after: 0 })).status !== 200) continue;
    expect((await proxy.rpc('tasks/cancel', { id: queued })).result?.['status']).toEqual({
      state: 'canceled',
      timestamp: expect.stringMatching(STATUS_TIME) as string,
    });
    expect((await proxy.rpc('tasks/cancel', { id: task })).result).toMatchObject({
      id: task,
      status: { state: 'canceled' },
    });
    const acted = await acting;
    expect([acted.status, acted.text]).toEqual([404, "action 'a' was stopped: its turn is over"]);
    const { trajectory } = (await proxy.post('/ext/trajectory', { task_id: task })).json as { trajectory: object[] };
    expect(trajectory).toMatchObject([{ name: 'bash', status: { status_code: 'ERROR' } }, { name: 'turn' }]);
    expect((await proxy.op('next')).json).toMatchObject({ turns: [] });
  });
});

describe('tasks/resubscribe', () => {
  const subscribe = (proxy: TestProxy, id: string): Promise<{ first: Promise<string>; type: string | undefined }> =>
    new Promise((resolve, reject) => {
      const sent = request(`${proxy.url}/a2a`, { method: 'POST', agent: false }, (response) => {
        let text = '';
        const first = new Promise<string>((done) => {
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => {
            done(text);
          });
        });
        resolve({ first, type: response.headers['content-type'] });
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tasks/resubscribe', params: { id } }));
    });

  it('streams the end of a task', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x', 'c7');
    const { first, type } = await subscribe(proxy, task);
    expect(type).toBe('text/event-stream; charset=utf-8');
    await proxy.op('reply', { task_id: task, parts: [{ text: 'x' }] });
    const text = await first;
    expect(text).toMatch(/^data: \{.*\}\r\n\r\n$/);
    expect(JSON.parse(text.slice(6))).toMatchObject({
      id: 9,
      jsonrpc: '2.0',
      result: { contextId: 'c7', final: true, kind: 'status-update', status: { state: 'completed' }, taskId: task },
    });
  });

  it('tells as an event that there is nothing to wait for', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    await proxy.end(task, 'x');
    const ended = await (await subscribe(proxy, task)).first;
    expect(ended).toBe(
      `data: {"error":{"code":-32602,"message":"Task ${task} is in terminal state: completed"},"id":9,"jsonrpc":"2.0"}\r\n\r\n`,
    );
    const unknown = await (await subscribe(proxy, 'nope')).first;
    expect(unknown).toBe('data: {"error":{"code":-32001,"message":"Task not found"},"id":9,"jsonrpc":"2.0"}\r\n\r\n');
  });

  it('ends without an event when the proxy stops', async () => {
    const proxy = await startClaimedProxy();
    const { first } = await subscribe(proxy, await proxy.open('x'));
    await proxy.stop();
    expect(await first).toBe('');
  });
});
