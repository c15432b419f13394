import type { A2aBinding, A2aUpdate } from '@parley/agent';
import { stopProxies, type TestProxy } from '../../proxy.test-helper.js';
import { closeConnections, connect, startMember } from '../member.test-helper.js';

const V1 = { 'A2A-Version': '1.0' };
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const hello = [{ kind: 'text', text: 'hello' }] as const;

afterEach(async () => {
  await closeConnections();
  await stopProxies();
});

async function startClaimed(): Promise<TestProxy> {
  const proxy = await startMember();
  await proxy.op('claim');
  return proxy;
}

/** The turn that is open, as soon as there is one. */
async function openTurn(proxy: TestProxy): Promise<{ task_id: string; parts: unknown }> {
  for (let after = 0; ;) {
    const { version, turns } = (await proxy.op('next', { after })).json as {
      version: number;
      turns: { task_id: string; parts: unknown }[];
    };
    const [turn] = turns;
    if (turn !== undefined) return turn;
    after = version;
  }
}

const reply = (proxy: TestProxy, taskId: string, end: object): Promise<unknown> =>
  proxy.op('reply', { task_id: taskId, ...end });

describe.each<A2aBinding>(['JSONRPC', 'HTTP+JSON'])('A2A 1.0 over %s', (binding) => {
  it('waits for the driver and gives its answer as message and artifact', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    expect([client.binding, client.protocolVersion]).toEqual([binding, '1.0']);
    const sending = client.send(hello, { contextId: 'c-1' });
    const turn = await openTurn(proxy);
    expect(turn.parts).toEqual([{ kind: 'text', text: 'hello' }]);
    await reply(proxy, turn.task_id, { parts: [{ text: 'one' }, { text: 'two' }] });
    const texts = [
      { kind: 'text', text: 'one' },
      { kind: 'text', text: 'two' },
    ];
    expect(await sending).toMatchObject({
      kind: 'task',
      task: {
        taskId: turn.task_id,
        contextId: 'c-1',
        state: 'completed',
        artifacts: [{ artifactId: 'answer', parts: texts }],
        message: { role: 'agent', parts: [...texts, { kind: 'data', data: { usage: { tool_call_count: 0 } } }] },
        history: [{ role: 'user', parts: hello }],
      },
    });
  });

  it('streams a task from its beginning to its end', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const updates: A2aUpdate[] = [];
    for await (const update of client.stream(hello)) {
      updates.push(update);
      if (update.kind === 'status' && update.state === 'working') {
        await reply(proxy, (await openTurn(proxy)).task_id, { parts: [{ text: 'done' }] });
      }
    }
    expect(updates).toMatchObject([
      { kind: 'task', task: { state: 'submitted' } },
      { kind: 'status', state: 'working' },
      { kind: 'artifact', artifact: { name: 'answer', parts: [{ text: 'done' }] } },
      { kind: 'status', state: 'completed', message: { parts: [{ text: 'done' }, {}] } },
    ]);
  });

  it('cancels: the turn is over for its driver, and the stream says so', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const states: string[] = [];
    for await (const update of client.stream(hello)) {
      if (update.kind === 'task') states.push(update.task.state);
      if (update.kind !== 'status') continue;
      states.push(update.state);
      if (update.state !== 'working') continue;
      const { task_id: taskId } = await openTurn(proxy);
      expect((await client.cancelTask(taskId)).state).toBe('canceled');
      expect((await proxy.op('tools', { task_id: taskId })).status).toBe(404);
      await expect(client.cancelTask(taskId)).rejects.toMatchObject({ code: 'task_not_cancelable' });
    }
    expect(states).toEqual(['submitted', 'working', 'canceled']);
  });

  it('tells a driver’s error and a part that is no text as failures', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const sending = client.send(hello);
    await reply(proxy, (await openTurn(proxy)).task_id, { error: 'out of ideas' });
    expect(await sending).toMatchObject({
      task: { state: 'failed', artifacts: [], message: { parts: [{ text: 'out of ideas' }, { kind: 'data' }] } },
    });
    expect(await client.send([...hello, { kind: 'data', data: { a: 1 } }])).toMatchObject({
      task: {
        state: 'failed',
        message: { parts: [{}, { data: { error_code: 'proxy.unsupported_part' } }] },
        history: [{ parts: [{ kind: 'text' }, { kind: 'data', data: { a: 1 } }] }],
      },
    });
    expect((await proxy.op('next', { after: 0 })).json).toMatchObject({ turns: [] });
  });

  it('answers at once when it is asked to, and follows the task later', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const sent = await client.send(hello, { returnImmediately: true });
    if (sent.kind !== 'task') throw new Error('no task');
    const { taskId } = sent.task;
    expect((await client.getTask(taskId)).state).toBe('working');
    const seen: string[] = [];
    for await (const update of client.subscribe(taskId)) {
      seen.push(update.kind);
      if (update.kind === 'task') await reply(proxy, taskId, { parts: [{ text: 'x' }] });
    }
    expect(seen).toEqual(['task', 'artifact', 'status']);
    const listed = await client.listTasks({ state: 'completed', includeArtifacts: true });
    expect(listed).toMatchObject({ totalSize: 1, tasks: [{ taskId, artifacts: [{ name: 'answer' }] }] });
    await expect(client.getTask('none')).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it('is working when its turn opens, which may be after another one of its context', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const first = await proxy.open('first', 'c-1');
    const seen: string[] = [];
    for await (const update of client.stream(hello, { contextId: 'c-1' })) {
      seen.push(update.kind === 'status' ? update.state : update.kind);
      if (update.kind === 'task') {
        expect((await client.getTask(first)).state).toBe('working');
        await reply(proxy, first, { parts: [{ text: 'x' }] });
      }
      if (update.kind === 'status' && update.state === 'working') {
        const turn = await openTurn(proxy);
        expect(turn.parts).toEqual(hello);
        await reply(proxy, turn.task_id, { parts: [{ text: 'y' }] });
      }
    }
    expect(seen).toEqual(['task', 'working', 'artifact', 'completed']);
  });

  it('cancels what has not opened: it never becomes a turn', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const first = await proxy.open('first', 'c-1');
    const seen: string[] = [];
    for await (const update of client.stream(hello, { contextId: 'c-1' })) {
      seen.push(update.kind === 'status' ? update.state : update.kind);
      if (update.kind === 'task') await client.cancelTask(update.task.taskId);
    }
    expect(seen).toEqual(['task', 'canceled']);
    expect((await proxy.op('next')).json).toMatchObject({ turns: [{ task_id: first }] });
  });

  it('tells a sender that waits when the proxy stops, and holds nothing up', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const sending = client.send(hello);
    sending.catch(() => undefined);
    await openTurn(proxy);
    const startedAt = performance.now();
    expect(new Set(await proxy.stop())).toEqual(new Set(['done']));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await expect(sending).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('leaves a task alone whose sender hangs up', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const leaving = new AbortController();
    const sending = client.send(hello, { signal: leaving.signal });
    const { task_id: taskId } = await openTurn(proxy);
    leaving.abort();
    await expect(sending).rejects.toMatchObject({ reason: 'cancelled' });
    expect((await client.getTask(taskId)).state).toBe('working');
    await reply(proxy, taskId, { parts: [{ text: 'x' }] });
    expect((await client.getTask(taskId)).state).toBe('completed');
  });

  it('makes one task of a message that comes twice', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const ask = { returnImmediately: true, messageId: 'm-1', contextId: 'c-1' };
    const [first, again] = [await client.send(hello, ask), await client.send(hello, ask)];
    if (first.kind !== 'task' || again.kind !== 'task') throw new Error('no task');
    expect(again.task.taskId).toBe(first.task.taskId);
    await expect(client.send(hello, { taskId: first.task.taskId })).rejects.toMatchObject({
      code: 'unsupported_operation',
    });
  });

  it('hangs the turn below the trace of its sender', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, binding);
    const headers = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` };
    const sending = client.send(hello, { headers });
    const { task_id: taskId } = await openTurn(proxy);
    await reply(proxy, taskId, { parts: [{ text: 'x' }] });
    await sending;
    const { trajectory } = (await proxy.post('/ext/trajectory', { task_id: taskId })).json as {
      trajectory: { trace_id?: string }[];
    };
    expect(trajectory.map((event) => event.trace_id)).toEqual([TRACE_ID]);
  });
});

describe('the two dialects', () => {
  it('show the same tasks by the same ids', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, 'JSONRPC');
    const old = await proxy.open('from 0.3', 'c-1');
    expect(await client.getTask(old)).toMatchObject({ state: 'working', history: [{ parts: [{ text: 'from 0.3' }] }] });
    const sent = await client.send([{ kind: 'text', text: 'from 1.0' }], { returnImmediately: true, contextId: 'c-2' });
    if (sent.kind !== 'task') throw new Error('no task');
    expect((await proxy.rpc('tasks/get', { id: sent.task.taskId })).result).toMatchObject({
      kind: 'task',
      contextId: 'c-2',
      history: [{ kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'from 1.0' }] }],
    });
    expect((await client.listTasks({ pageSize: 1 })).totalSize).toBe(2);
  });

  it('keep what a message holds, whichever of them it came by', async () => {
    const proxy = await startMember();
    const sent = { data: { n: 1 }, kind: 'data', metadata: { a: 1 } };
    const file = { file: { bytes: 'aGk=', mimeType: 'a/b', name: 'n' }, kind: 'file' };
    const send = (parts: object[]): Promise<{ result?: object }> =>
      proxy.rpc('message/send', { message: { messageId: 'm-1', role: 'user', parts } });
    const { id } = (await send([sent, file])).result as { id: string };
    const current = async (taskId: string): Promise<unknown> =>
      (await proxy.ask(`/a2a/v1/tasks/${taskId}`, { headers: V1 })).json;
    expect(await current(id)).toMatchObject({
      history: [
        {
          parts: [
            { data: { n: 1 }, metadata: { a: 1 } },
            { raw: 'aGk=', filename: 'n', mediaType: 'a/b' },
          ],
        },
      ],
    });
    const parts = [
      { data: [1, 2] },
      { data: { n: 1 }, metadata: { a: 1 } },
      { raw: 'aGk=', mediaType: 'a/b', filename: 'n' },
      { url: 'http://a.example/b' },
      { text: 'hi' },
    ];
    const body = { message: { messageId: 'm-2', role: 'ROLE_USER', parts } };
    const answer = await proxy.ask('/a2a/v1/message:send', { method: 'POST', headers: V1, body });
    const { task } = answer.json as { task: { id: string; history: { parts: unknown[] }[] } };
    expect(task.history[0]?.parts).toMatchObject(parts);
    expect((await proxy.rpc('tasks/get', { id: task.id })).result).toMatchObject({
      history: [
        {
          parts: [
            { kind: 'data', data: { value: [1, 2] } },
            sent,
            file,
            { kind: 'file', file: { uri: 'http://a.example/b' } },
            { kind: 'text', text: 'hi' },
          ],
        },
      ],
    });
  });

  it('show numbers that a double cannot hold as they were written', async () => {
    const proxy = await startMember();
    const number = '123456789012345678901';
    const body = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user",
      "parts":[{"kind":"data","data":{"n":${number}}}]}}}`;
    const { id } = ((await proxy.post('/a2a', body)).json as { result: { id: string } }).result;
    const { text } = await proxy.ask(`/a2a/v1/tasks/${id}`, { headers: V1 });
    expect(text).toContain(`{"n":${number}}`);
  });

  it('pages through tasks, the last changed first', async () => {
    const proxy = await startClaimed();
    const client = await connect(proxy, 'HTTP+JSON');
    const ids = [await proxy.open('a', 'c-a'), await proxy.open('b', 'c-b'), await proxy.open('c', 'c-c')];
    const seen: string[] = [];
    for (let pageToken: string | undefined; ;) {
      const page = await client.listTasks({ pageSize: 2, ...(pageToken !== undefined && { pageToken }) });
      seen.push(...page.tasks.map(({ taskId }) => taskId));
      pageToken = page.nextPageToken;
      if (pageToken === undefined) break;
    }
    expect(seen).toEqual(ids.reverse());
    expect((await client.listTasks({ contextId: 'c-a' })).totalSize).toBe(1);
    await expect(client.listTasks({ pageToken: 'x' })).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it('leave 0.3 as it is: its card to the byte on both paths, its errors, its methods', async () => {
    const proxy = await startMember();
    const bare = await proxy.ask('/.well-known/agent.json');
    for (const path of ['/.well-known/agent.json', '/.well-known/agent-card.json']) {
      for (const headers of [{}, { 'A2A-Version': '0.3' }, { 'A2A-Version': '0.3.0' }]) {
        const card = await proxy.ask(path, { headers });
        expect([card.status, card.text, Object.keys(card.headers)]).toEqual([
          200,
          bare.text,
          Object.keys(bare.headers),
        ]);
      }
    }
    expect(JSON.parse(bare.text)).toMatchObject({ protocolVersion: '0.3.0', url: '/a2a' });
    expect((await proxy.rpc('SendMessage', {})).error?.code).toBe(-32_601);
    expect((await proxy.ask('/a2a', { method: 'OPTIONS' })).status).toBe(405);
    expect((await proxy.ask('/negotiate', { method: 'POST', body: {} })).status).toBe(404);
  });

  it('are told apart by header or query, and a version that nobody serves is refused', async () => {
    const proxy = await startMember();
    const body = { jsonrpc: '2.0', id: 7, method: 'ListTasks', params: {} };
    const asked = async (path: string, headers = {}): Promise<unknown> =>
      (await proxy.ask(path, { method: 'POST', body, headers })).json;
    expect(await asked('/a2a', V1)).toMatchObject({ id: 7, result: { tasks: [] } });
    expect(await asked('/a2a?A2A-Version=1.0')).toMatchObject({ id: 7, result: { tasks: [] } });
    expect(await asked('/a2a')).toMatchObject({ error: { code: -32_601 } });
    expect(await asked('/a2a', { 'A2A-Version': '2.0' })).toMatchObject({ error: { code: -32_009 } });
    expect((await proxy.ask('/a2a/v1/tasks', { headers: V1 })).json).toMatchObject({ tasks: [] });
  });

  it('let a page of any origin ask with its version', async () => {
    const proxy = await startMember();
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Headers': 'content-type, a2a-version' };
    const answer = await proxy.ask('/a2a', { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([204, '*']);
  });
});

describe('the card of 1.0', () => {
  it('names both bindings at the public address and follows the configuration', async () => {
    const proxy = await startMember({ env: { PROXY_PUBLIC_URL: 'https://proxy.example/' } });
    const card = async (): Promise<Record<string, unknown>> =>
      (await proxy.ask('/.well-known/agent-card.json', { headers: V1 })).json as Record<string, unknown>;
    const first = await card();
    expect(first).toMatchObject({
      name: 'agentenv-proxy',
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: 'https://proxy.example/a2a' },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', url: 'https://proxy.example/a2a/v1' },
      ],
      capabilities: { streaming: true },
    });
    await proxy.post('/ext/agent-config', { name: 'Ada', description: 'plays chess' });
    expect(await card()).toMatchObject({ name: 'Ada', description: 'plays chess' });
  });
});
