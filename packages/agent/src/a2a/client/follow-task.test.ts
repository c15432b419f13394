import { silentLogger } from '@parley/service-kit';
import { onTestsEnd } from '@parley/testkit';
import { startJsonServer, TAKEN, type JsonRequest, type JsonServer } from '../../../test-support/json-server.js';
import type { A2aConnection, A2aUpdate } from './a2a-connection.js';
import { connectA2a } from './connect-a2a.js';

interface RpcCall {
  readonly id: number;
  readonly method: string;
}

type Script = (call: RpcCall, request: JsonRequest) => void;

const open: A2aConnection[] = [];
onTestsEnd(async () => {
  await Promise.all(open.map((one) => one.close()));
});

/** An agent whose answers are scripted, one function for each call. */
async function scripted(
  ...scripts: Script[]
): Promise<{ connection: A2aConnection; methods: string[]; server: JsonServer }> {
  const methods: string[] = [];
  const server = await startJsonServer((request) => {
    const call = request.body as RpcCall;
    methods.push(call.method);
    scripts.shift()?.(call, request);
    return TAKEN;
  });
  const card = {
    name: 'scripted',
    capabilities: { streaming: true },
    supportedInterfaces: [{ url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  };
  const connection = await connectA2a({ card, logger: silentLogger });
  open.push(connection);
  return { connection, methods, server };
}

const task = (state: string): object => ({
  task: { id: 't1', contextId: 'c1', status: { state: `TASK_STATE_${state}` } },
});
const status = (state: string): object => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: `TASK_STATE_${state}` } },
});

/** Writes events and then ends the answer, or breaks the connection. */
function events(end: 'end' | 'break' | 'stay', ...results: object[]): Script {
  return ({ id }, { response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': hello\n\n');
    const bytes = results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join('');
    response.write(bytes, () => {
      if (end === 'end') response.end();
      // The bytes are on their way before the connection is gone.
      else if (end === 'break') setTimeout(() => response.socket?.resetAndDestroy(), 20);
    });
  };
}

const answer =
  (result: object): Script =>
  ({ id }, { response }) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
const refuse =
  (code: number): Script =>
  ({ id }, { response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }));
  };
const vanish: Script = (_call, { response }) => response.socket?.destroy();

async function follow(connection: A2aConnection): Promise<{ kinds: string[]; error: unknown }> {
  const kinds: string[] = [];
  const tell = (update: A2aUpdate): string =>
    update.kind === 'task' ? `task ${update.task.state}` : update.kind === 'status' ? update.state : update.kind;
  try {
    for await (const update of connection.stream([{ kind: 'text', text: 'x' }])) kinds.push(tell(update));
    return { kinds, error: undefined };
  } catch (error) {
    return { kinds, error };
  }
}

describe('a stream that ends before its task', () => {
  it.each(['end', 'break'] as const)('is taken up once more by the id of the task (%s)', async (how) => {
    const { connection, methods } = await scripted(
      events(how, task('SUBMITTED'), status('WORKING')),
      events('end', task('WORKING'), status('COMPLETED')),
    );
    expect(await follow(connection)).toEqual({
      kinds: ['task submitted', 'working', 'task working', 'completed'],
      error: undefined,
    });
    expect(methods).toEqual(['SendStreamingMessage', 'SubscribeToTask']);
  });

  it('in the middle of an event is taken up too', async () => {
    const cut: Script = ({ id }, { response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const whole = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: task('WORKING') })}\n\n`;
      response.end(`${whole}${whole.slice(0, 40)}`);
    };
    const { connection } = await scripted(cut, events('end', task('COMPLETED')));
    expect(await follow(connection)).toEqual({ kinds: ['task working', 'task completed'], error: undefined });
  });

  it('is settled by a look when the task has ended meanwhile', async () => {
    const { connection, methods } = await scripted(
      events('break', task('WORKING')),
      refuse(-32004),
      answer((task('COMPLETED') as { task: object }).task),
    );
    expect(await follow(connection)).toEqual({ kinds: ['task working', 'task completed'], error: undefined });
    expect(methods).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask']);
  });

  it.each([
    ['still works', answer((task('WORKING') as { task: object }).task)],
    ['is not known any more', refuse(-32001)],
    ['cannot be looked at', vanish],
  ])('is an error of its own when the task %s', async (_name, look) => {
    const { connection, methods } = await scripted(
      events('break', task('WORKING')),
      events('end', task('WORKING')),
      look,
    );
    const { kinds, error } = await follow(connection);
    expect(kinds).toEqual(['task working', 'task working']);
    expect(error).toMatchObject({ reason: 'bad_gateway', code: 'stream_broken' });
    expect(methods).toHaveLength(3);
  });

  it('before it told of a task is not taken up: nobody knows by what', async () => {
    const broken = await scripted(vanish);
    expect((await follow(broken.connection)).error).toMatchObject({ reason: 'unavailable', code: 'peer_unreachable' });
    const empty = await scripted(events('end'));
    expect((await follow(empty.connection)).error).toMatchObject({ code: 'stream_broken' });
    expect([...broken.methods, ...empty.methods]).toEqual(['SendStreamingMessage', 'SendStreamingMessage']);
  });

  it('with a word of the agent is not taken up', async () => {
    const { connection, methods } = await scripted(({ id }, { response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: task('WORKING') })}\n\n`);
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } })}\n\n`);
    });
    expect((await follow(connection)).error).toMatchObject({ reason: 'invalid_request' });
    expect(methods).toEqual(['SendStreamingMessage']);
  });
});

describe('a stream that stays open', () => {
  it.each(['COMPLETED', 'INPUT_REQUIRED'])('ends with the task all the same (%s)', async (state) => {
    const { connection } = await scripted(events('stay', task('WORKING'), status(state)));
    const { kinds, error } = await follow(connection);
    expect([kinds.at(-1), error]).toEqual([state.toLowerCase(), undefined]);
  });

  it('goes on for whoever only follows a task that waits for somebody else', async () => {
    const { connection } = await scripted(
      events('end', task('INPUT_REQUIRED'), status('WORKING'), status('COMPLETED')),
    );
    const states: string[] = [];
    for await (const update of connection.subscribe('t1')) {
      if (update.kind !== 'message') states.push(update.kind);
    }
    expect(states).toEqual(['task', 'status', 'status']);
  });

  it('ends with whoever reads it', async () => {
    const { connection, server } = await scripted(events('stay', task('WORKING')));
    for await (const update of connection.stream([{ kind: 'text', text: 'x' }])) {
      expect(update.kind).toBe('task');
      break;
    }
    const [request] = server.requests;
    if (request?.response.socket?.destroyed === false)
      await new Promise((resolve) => request.response.once('close', resolve));
    expect(request?.response.writableFinished).toBe(false);
  });
});

describe('a stream without a byte', () => {
  it('for too long counts as broken', async () => {
    const { server } = await scripted(events('stay', task('WORKING')), events('end', task('COMPLETED')));
    const card = {
      name: 'scripted',
      capabilities: { streaming: true },
      supportedInterfaces: [{ url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    const connection = await connectA2a({ card, peer: { streamSilenceMs: 50 } });
    open.push(connection);
    expect(await follow(connection)).toEqual({ kinds: ['task working', 'task completed'], error: undefined });
  });
});
