import { getEventListeners, once } from 'node:events';
import { jest } from '@jest/globals';
import { propagation } from '@opentelemetry/api';
import { silentLogger } from '@parley/service-kit';
import { onTestsEnd } from '@parley/testkit';
import { startJsonServer, TAKEN } from '../../../test-support/json-server.js';
import type { TaskPart } from '../task-executor.js';
import type { A2aBinding, A2aConnection, A2aUpdate } from './a2a-connection.js';
import { connectA2a } from './connect-a2a.js';
import { startSdkAgent, type SdkAgent } from './sdk-agent.test-helper.js';

const text = (value: string): TaskPart => ({ kind: 'text', text: value, mediaType: 'text/plain' });
const ALL_PARTS: readonly TaskPart[] = [
  text('echo line\u2028separator\u2029\u0085 \u{1f600}'),
  { kind: 'data', data: { deep: [1, { two: 'x' }] }, mediaType: 'application/json' },
  { kind: 'bytes', bytes: Buffer.from([0, 1, 254, 255]), name: 'raw.bin', mediaType: 'application/octet-stream' },
  { kind: 'url', url: 'https://example.test/x', name: 'x' },
];

async function collect(updates: AsyncIterable<A2aUpdate>): Promise<A2aUpdate[]> {
  const all: A2aUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

const statesOf = (updates: readonly A2aUpdate[]): string[] =>
  updates.map((one) => (one.kind === 'task' ? one.task.state : one.kind === 'status' ? one.state : one.kind));

const open: A2aConnection[] = [];
onTestsEnd(async () => {
  await Promise.all(open.map((one) => one.close()));
});
async function connect(options: Parameters<typeof connectA2a>[0]): Promise<A2aConnection> {
  const connection = await connectA2a({ logger: silentLogger, ...options });
  open.push(connection);
  return connection;
}

let agent: SdkAgent;
const quiet = jest.spyOn(console, 'error').mockImplementation(() => undefined);
afterAll(() => {
  quiet.mockRestore();
});
beforeAll(async () => {
  agent = await startSdkAgent();
});

const legacyCard = (): object => ({
  ...agent.card,
  supportedInterfaces: agent.card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '0.3'),
});

const ways: readonly (readonly [string, A2aBinding, '1.0' | '0.3'])[] = [
  ['JSON-RPC', 'JSONRPC', '1.0'],
  ['HTTP+JSON', 'HTTP+JSON', '1.0'],
  ['gRPC', 'GRPC', '1.0'],
  ['JSON-RPC of 0.3', 'JSONRPC', '0.3'],
  ['HTTP+JSON of 0.3', 'HTTP+JSON', '0.3'],
];

describe.each(ways)('an agent of others over %s', (_name, binding, version) => {
  let connection: A2aConnection;
  beforeAll(async () => {
    connection = await connect(
      version === '1.0'
        ? { url: agent.url, bindings: [binding] }
        : { card: legacyCard() as never, bindings: [binding] },
    );
  });

  it('is spoken with in its version', () => {
    expect(connection.binding).toBe(binding);
    expect(connection.protocolVersion).toBe(version);
    expect(connection.card.name).toBe('words');
  });

  // The library's HTTP+JSON of 0.3 loses them.
  const named = (name: string): object => (binding === 'HTTP+JSON' && version === '0.3' ? {} : { name });

  it('answers a message with its task, parts of every kind unchanged', async () => {
    const answer = await connection.send(ALL_PARTS, {
      metadata: { colour: 'red' },
      messageId: `m-${binding}-${version}`,
    });
    expect(answer).toMatchObject({ kind: 'task', task: { state: 'completed', message: { role: 'agent' } } });
    const [artifact] = answer.kind === 'task' ? answer.task.artifacts : [];
    expect(artifact?.parts.map((part) => ('bytes' in part ? { ...part, bytes: [...part.bytes] } : part))).toMatchObject(
      [
        { kind: 'text', text: 'echo line\u2028separator\u2029\u0085 \u{1f600}' },
        { kind: 'data', data: { deep: [1, { two: 'x' }] } },
        { kind: 'bytes', bytes: [0, 1, 254, 255], ...named('raw.bin') },
        { kind: 'url', url: 'https://example.test/x', ...named('x') },
      ],
    );
    expect(agent.messages.find(({ messageId }) => messageId === `m-${binding}-${version}`)?.metadata).toEqual({
      colour: 'red',
    });
  });

  it('answers with a message when there is no task', async () => {
    const answer = await connection.send([text('message please')]);
    expect(answer).toMatchObject({ kind: 'message', message: { role: 'agent', parts: [{ text: 'just words' }] } });
  });

  it('streams what happens, line separators in the text included', async () => {
    const updates = await collect(connection.stream([ALL_PARTS[0] as TaskPart]));
    expect(statesOf(updates)).toEqual(['submitted', 'working', 'artifact', 'completed']);
    expect(updates[2]).toMatchObject({
      artifact: { artifactId: 'a1', parts: [{ text: 'echo line\u2028separator\u2029\u0085 \u{1f600}' }] },
    });
    expect(updates[1]).toMatchObject({ message: { parts: [{ text: 'looking at it' }] } });
  });

  it('ends a stream where the task asks for something, and goes on with the same task', async () => {
    const updates = await collect(connection.stream([text('ask me')]));
    expect(statesOf(updates)).toEqual(['submitted', 'working', 'input_required']);
    const [first] = updates;
    const { taskId, contextId } = first?.kind === 'task' ? first.task : { taskId: '', contextId: '' };
    const answer = await connection.send([text('echo this')], { taskId, contextId });
    expect(answer).toMatchObject({ kind: 'task', task: { taskId, contextId, state: 'completed' } });
  });

  it('gets and cancels a task that was not waited for, and follows it from outside', async () => {
    const answer = await connection.send([text('wait')], { returnImmediately: true });
    const { taskId } = answer.kind === 'task' ? answer.task : { taskId: '' };
    expect(await connection.getTask(taskId)).toMatchObject({ taskId });
    const following = collect(connection.subscribe(taskId));
    await expect(connection.cancelTask(taskId)).resolves.toMatchObject({ state: 'canceled' });
    expect(statesOf(await following).at(-1)).toBe('canceled');
    agent.release();
  });

  it('says what it refuses in our words', async () => {
    await expect(connection.getTask('nobody')).rejects.toMatchObject({ reason: 'not_found', code: 'task_not_found' });
    await expect(collect(connection.subscribe('nobody'))).rejects.toMatchObject({ code: 'task_not_found' });
    const done = await connection.send([text('echo')]);
    const { taskId } = done.kind === 'task' ? done.task : { taskId: '' };
    await expect(connection.cancelTask(taskId)).rejects.toMatchObject({
      reason: 'failed_precondition',
      code: 'task_not_cancelable',
    });
  });

  it('gives up at its deadline and when it is aborted, and leaves no listener behind', async () => {
    const controller = new AbortController();
    await expect(connection.send([text('wait')], { deadlineMs: 60, signal: controller.signal })).rejects.toMatchObject({
      reason: 'deadline_exceeded',
      code: 'peer_timeout',
    });
    await expect(
      collect(connection.stream([text('wait')], { deadlineMs: 60, signal: controller.signal })),
    ).rejects.toMatchObject({
      code: 'peer_timeout',
    });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    const seen: string[] = [];
    const stream = (async () => {
      for await (const update of connection.stream([text('wait')], { signal: controller.signal })) {
        seen.push(update.kind);
        if (update.kind === 'status') controller.abort();
      }
    })();
    await expect(stream).rejects.toMatchObject({ reason: 'cancelled' });
    expect(seen).toEqual(['task', 'status']);
    await expect(connection.getTask('x', { signal: controller.signal })).rejects.toMatchObject({ reason: 'cancelled' });
    agent.release();
  });
});

describe('what goes along with a call', () => {
  it('is the version, own headers and extensions, for the card too', async () => {
    const from = agent.requests.length;
    const connection = await connect({ url: agent.url, headers: { authorization: 'Bearer t' } });
    await connection.send([text('echo')], {
      headers: { 'parley-agreement-proof': 'p' },
      extensions: ['urn:a', 'urn:b'],
    });
    const [card, call] = agent.requests.slice(from);
    for (const request of [card, call]) {
      expect(request?.headers).toMatchObject({ 'a2a-version': '1.0', authorization: 'Bearer t' });
    }
    expect(card?.path).toBe('/.well-known/agent-card.json');
    expect(card?.headers['parley-agreement-proof']).toBeUndefined();
    expect(call?.headers).toMatchObject({ 'a2a-extensions': 'urn:a, urn:b', 'parley-agreement-proof': 'p' });
  });

  it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)(
    'has no trace of its own making over %s: the instrumentation of the wire adds it, and twice is none',
    async (binding) => {
      propagation.setGlobalPropagator({
        inject: (_at, carrier, setter) => setter.set(carrier, 'traceparent', 'made here'),
        extract: (at) => at,
        fields: () => ['traceparent'],
      });
      onTestsEnd(() => {
        propagation.disable();
      });
      const from = agent.requests.length;
      const connection = await connect({ url: agent.url, bindings: [binding] });
      await connection.send([text('echo')]);
      const requests = agent.requests.slice(from);
      expect(requests.length).toBeGreaterThan(0);
      for (const { headers } of requests) expect(headers).not.toHaveProperty('traceparent');
    },
  );
});

describe('listing tasks', () => {
  it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)('finds those of a context over %s', async (binding) => {
    const connection = await connect({ url: agent.url, bindings: [binding] });
    const contextId = `context-${binding}`;
    await connection.send([text('echo')], { contextId });
    await connection.send([text('fail')], { contextId });
    const all = await connection.listTasks({ contextId, includeArtifacts: true });
    expect(all.tasks.map(({ state }) => state).sort()).toEqual(['completed', 'failed']);
    expect(all.tasks.find(({ state }) => state === 'completed')?.artifacts).toHaveLength(1);
    const page = await connection.listTasks({ contextId, pageSize: 1 });
    expect(page).toMatchObject({ totalSize: 2, tasks: [{}] });
    const rest = await connection.listTasks({ contextId, pageSize: 1, pageToken: page.nextPageToken ?? 'none' });
    expect(rest.nextPageToken).toBeUndefined();
    expect((await connection.listTasks({ contextId, state: 'failed' })).tasks).toHaveLength(1);
  });
});

describe('a card', () => {
  const raw = (): Readonly<Record<string, unknown>> => ({
    name: 'x',
    supportedInterfaces: [{ url: `${agent.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });

  it('is looked for below the path of an endpoint, then at its origin, then under its old name', async () => {
    const asked: string[] = [];
    const server = await startJsonServer(({ path }) => {
      asked.push(path);
      return path === '/.well-known/agent.json' ? { status: 200, body: raw() } : { status: 404 };
    });
    await connect({ url: `${server.url}/agents/one/` });
    expect(asked).toEqual([
      '/agents/one/.well-known/agent-card.json',
      '/.well-known/agent-card.json',
      '/.well-known/agent.json',
    ]);
  });

  it.each([
    ['an empty object', {}],
    ['no interface', { name: 'x', supportedInterfaces: [] }],
    ['an interface without a URL', { name: 'x', supportedInterfaces: [{ url: '', protocolBinding: 'JSONRPC' }] }],
    ['no name', { supportedInterfaces: [{ url: 'http://127.0.0.1:1/a2a', protocolBinding: 'JSONRPC' }] }],
    ['a list', []],
    ['interfaces of another kind', { name: 'x', supportedInterfaces: [null, 'x'] }],
  ])('with %s is not taken', async (_name, body) => {
    const server = await startJsonServer(() => ({ status: 200, body }));
    await expect(connectA2a({ url: server.url })).rejects.toMatchObject({ code: 'peer_invalid_answer' });
  });

  it('that is nowhere, refused, somewhere else, too large or late is told as such', async () => {
    const missing = await startJsonServer(() => ({ status: 404 }));
    await expect(connectA2a({ url: missing.url })).rejects.toMatchObject({ code: 'card_not_found' });
    const forbidden = await startJsonServer(() => ({ status: 403 }));
    await expect(connectA2a({ url: forbidden.url })).rejects.toMatchObject({ reason: 'forbidden' });
    const moved = await startJsonServer(() => ({ status: 302, headers: { location: agent.url } }));
    await expect(connectA2a({ url: moved.url })).rejects.toMatchObject({ code: 'peer_invalid_answer' });
    const large = await startJsonServer(() => ({ status: 200, body: { name: 'x'.repeat(2_000) } }));
    await expect(connectA2a({ url: large.url, peer: { maxAnswerBytes: 1_000 } })).rejects.toMatchObject({
      code: 'peer_invalid_answer',
    });
    const silent = await startJsonServer(() => TAKEN);
    await expect(connectA2a({ url: silent.url, timeouts: { cardMs: 50 } })).rejects.toMatchObject({
      code: 'peer_timeout',
    });
    await expect(connectA2a({ url: 'ftp://127.0.0.1/' })).rejects.toMatchObject({ code: 'target_invalid' });
    await expect(connectA2a({ url: silent.url, signal: AbortSignal.abort() })).rejects.toMatchObject({
      reason: 'cancelled',
    });
  });

  it('without a binding that may be used is refused', async () => {
    await expect(connectA2a({ card: raw(), bindings: ['GRPC'] })).rejects.toMatchObject({ code: 'no_common_binding' });
  });
});

describe('where calls may go', () => {
  it('is checked for the card and for every interface', async () => {
    const peer = { allowPrivateAddresses: false };
    await expect(connectA2a({ url: agent.url, peer })).rejects.toMatchObject({ code: 'target_refused' });
    const http = await connect({ card: agent.card, bindings: ['JSONRPC'], peer });
    await expect(http.getTask('x')).rejects.toMatchObject({ code: 'target_refused' });
    await expect(connectA2a({ card: agent.card, bindings: ['GRPC'], peer })).rejects.toMatchObject({
      code: 'target_refused',
    });
  });

  it('is told apart from nobody being there', async () => {
    const gone = await startJsonServer(() => TAKEN);
    await gone.stop();
    await expect(connectA2a({ url: gone.url })).rejects.toMatchObject({
      code: 'peer_unreachable',
      cause: { code: 'ECONNREFUSED' },
    });
    const grpc = {
      ...agent.card,
      supportedInterfaces: [
        { url: `127.0.0.1:${String(gone.port)}`, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: '' },
      ],
    };
    const connection = await connect({ card: grpc });
    await expect(connection.getTask('x')).rejects.toMatchObject({
      code: 'peer_unreachable',
      cause: { code: 'ECONNREFUSED' },
    });
  });
});

describe('a hostile answer', () => {
  it.each([
    ['no JSON', 'x'],
    ['another id', { jsonrpc: '2.0', id: 99, result: { task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } } }],
    ['another protocol', { jsonrpc: '1.0', id: 1, result: {} }],
    ['no task', { jsonrpc: '2.0', id: 1, result: {} }],
    ['a task without an id', { jsonrpc: '2.0', id: 1, result: { task: { status: { state: 'TASK_STATE_WORKING' } } } }],
    ['a task without a status', { jsonrpc: '2.0', id: 1, result: { task: { id: 't' } } }],
    ['null', null],
  ])('with %s is no answer', async (_name, body) => {
    const server = await startJsonServer(() => ({ status: 200, body }));
    const card = {
      name: 'x',
      supportedInterfaces: [{ url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    const connection = await connect({ card });
    await expect(connection.send([text('x')])).rejects.toMatchObject({
      reason: 'bad_gateway',
      code: 'peer_invalid_answer',
    });
  });

  it('is cut off when it is closed', async () => {
    const server = await startJsonServer(() => TAKEN);
    const card = {
      name: 'x',
      supportedInterfaces: [{ url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    const connection = await connect({ card });
    const call = connection.getTask('x');
    const failed = expect(call).rejects.toMatchObject({ reason: 'unavailable' });
    await once(server.server, 'request');
    await connection.close();
    await failed;
  });
});
