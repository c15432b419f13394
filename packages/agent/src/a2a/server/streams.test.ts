import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { jest } from '@jest/globals';
import { Role, TaskState, type StreamResponse } from '@a2a-js/sdk';
import { AppError } from '@parley/service-kit';
import { readerSignal } from './call-scope.js';
import {
  ask,
  closeA2aServers,
  eventsOf,
  grpcSaid,
  grpcStream,
  legacySaid,
  post,
  rpc,
  said,
  startA2a,
  V1,
  type Json,
  type TestA2a,
} from './server.test-helper.js';

afterEach(closeA2aServers);

const LEGACY_REST = { message: { ...legacySaid('a'), role: 'ROLE_USER', parts: undefined, content: [{ text: 'a' }] } };

/** A stream of each HTTP binding and version. */
const HTTP_STREAMS: [string, string, Json, Record<string, string>][] = [
  ['JSON-RPC', '/a2a', { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: said('a') } }, V1],
  [
    'JSON-RPC 0.3',
    '/a2a',
    { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message: legacySaid('a') } },
    {},
  ],
  ['HTTP+JSON', '/a2a/v1/message:stream', { message: said('a') }, V1],
  ['HTTP+JSON 0.3', '/a2a/v1/v1/message:stream', LEGACY_REST, {}],
];

function messageItem(text: string): StreamResponse {
  return {
    payload: {
      $case: 'message',
      value: {
        messageId: 'a',
        contextId: 'c',
        taskId: '',
        role: Role.ROLE_AGENT,
        parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    },
  };
}

/** Gives items as long as it is asked, and then waits; says when it was left. */
class Source {
  pulled = 0;
  readonly left: Promise<void>;
  #leave: () => void = () => undefined;
  constructor(
    readonly count: number,
    readonly text = 'x',
  ) {
    this.left = new Promise((resolve) => (this.#leave = resolve));
  }
  handler = {
    sendMessageStream: (): AsyncGenerator<StreamResponse, void, undefined> => this.items(),
  };
  items(): AsyncGenerator<StreamResponse, void, undefined> {
    const next = (): Promise<IteratorResult<StreamResponse, void>> => {
      this.pulled += 1;
      if (this.pulled > this.count) return new Promise(() => undefined);
      return Promise.resolve({ done: false, value: messageItem(this.text) });
    };
    const iterator = {
      next,
      return: () => {
        this.#leave();
        return Promise.resolve({ done: true as const, value: undefined });
      },
      throw: () => Promise.reject(new Error('not used')),
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return iterator;
  }
}

/** Opens a stream by hand, so that it can be left, or not be read. */
async function open(
  { url }: TestA2a,
  path: string,
  body: Json,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  const outgoing = request(`${url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    agent: false,
  });
  outgoing.on('error', () => undefined);
  outgoing.end(JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

describe.each(HTTP_STREAMS)('a stream over %s', (_name, path, body, headers) => {
  it('has no characters raw at which some readers end a line', async () => {
    const text = 'a\u2028b\u2029c\u0085d';
    const server = await startA2a();
    const spoken = JSON.parse(JSON.stringify(body).replace('"text":"a"', `"text":${JSON.stringify(text)}`)) as Json;
    const answer = await post(`${server.url}${path}`, spoken, headers);
    expect(answer.text).not.toMatch(/[\u0085\u2028\u2029]/);
    expect(JSON.stringify(eventsOf(answer))).toContain(text);
  });

  it('says now and then that it is alive, in comments', async () => {
    const server = await startA2a({ keepAliveMs: 5, handler: new Source(1).handler });
    const response = await open(server, path, body, headers);
    let text = '';
    while (text.split(': keep-alive\n\n').length < 4) text += String((await once(response, 'data'))[0]);
    expect(text.replaceAll(': keep-alive\n\n', '')).toMatch(/^data: .*\n\n$/);
    response.destroy();
  });

  it('ends the subscription, and only that, when its reader leaves', async () => {
    const source = new Source(1);
    const server = await startA2a({ handler: source.handler });
    const response = await open(server, path, body, headers);
    await once(response, 'data');
    response.destroy();
    await source.left;
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('goes no faster than it is read', async () => {
    const source = new Source(1_000_000, 'x'.repeat(20_000));
    const server = await startA2a({ handler: source.handler });
    const response = await open(server, path, body, headers);
    response.pause();
    let before = -1;
    // Until the kernel's buffers are full.
    while (before !== source.pulled) {
      before = source.pulled;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(source.pulled).toBeLessThan(5_000);
    response.resume();
    await once(response, 'data');
    while (source.pulled === before) await once(response, 'data');
    response.destroy();
    await source.left;
  });

  it('is ended by closing the server', async () => {
    const source = new Source(1);
    const server = await startA2a({ handler: source.handler });
    const response = await open(server, path, body, headers);
    await once(response, 'data');
    let rest = '';
    response.on('data', (chunk) => (rest += String(chunk)));
    server.a2a.close();
    await once(response, 'end');
    await source.left;
    expect(rest).toContain('shutting down');
  });

  it('names a failure after its first item in an event, without what really happened', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const server = await startA2a({
      handler: {
        sendMessageStream: async function* () {
          yield await Promise.resolve(messageItem('one'));
          throw new Error('password 1234');
        },
      },
    });
    const answer = await post(`${server.url}${path}`, body, headers);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('event: error\ndata: ');
    expect(JSON.stringify(eventsOf(answer).at(-1))).toContain('because of an internal error');
    expect(answer.text).not.toContain('password');
    expect(server.lines).toContainEqual(expect.objectContaining({ level: 'error', message: 'a2a call failed' }));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it('that fails before its first item is an ordinary answer', async () => {
    const server = await startA2a({
      handler: {
        sendMessageStream: async function* () {
          await Promise.resolve();
          throw new AppError('unavailable', 'The store is away.', { code: 'store_unavailable', retryAfterSeconds: 3 });
        },
      },
    });
    const answer = await post(`${server.url}${path}`, body, headers);
    expect(answer.headers.get('content-type')).toMatch(/json$/);
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(answer.text).toContain('STORE_UNAVAILABLE');
  });

  it('is refused once the server is closing', async () => {
    const server = await startA2a();
    server.a2a.close();
    const answer = await post(`${server.url}${path}`, body, headers);
    expect(answer.headers.get('content-type')).toMatch(/json$/);
    expect(answer.text).toContain('SHUTTING_DOWN');
  });
});

describe('a reader that is too slow', () => {
  it('loses its stream', async () => {
    const source = new Source(1_000_000, 'x'.repeat(20_000));
    const server = await startA2a({ handler: source.handler, slowReaderMs: 50 });
    const [, path, body, headers] = HTTP_STREAMS[0] ?? ['', '', {}, {}];
    const response = await open(server, path, body, headers);
    response.pause();
    await source.left;
    while (!server.lines.some(({ reason }) => reason === 'SLOW_READER')) await new Promise(setImmediate);
    response.resume();
    // Cut, and not ended: the rest would be held for a reader that may never come.
    await once(response, 'aborted');
  });
});

describe('streams that the agent does not have', () => {
  it('are refused as such in 0.3, where the library looks at the card', async () => {
    const server = await startA2a({ card: { streaming: false } });
    for (const [, path, body, headers] of HTTP_STREAMS) {
      const answer = await post(`${server.url}${path}`, body, headers);
      expect(answer.text).toContain('UNSUPPORTED_OPERATION');
    }
  });
});

describe('leaving a task that works', () => {
  it('does not end it; it can be followed again', async () => {
    const server = await startA2a();
    const body = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: said('wait here') } };
    const response = await open(server, '/a2a', body, V1);
    await once(response, 'data');
    while (server.executor.gates.size === 0) await new Promise(setImmediate);
    response.destroy();
    const [taskId = ''] = server.executor.gates.keys();
    const following = ask(`${server.url}/a2a/v1/tasks/${taskId}:subscribe`, { headers: V1 });
    const state = await rpc(server, 'GetTask', { id: taskId });
    expect(state.json).toHaveProperty('result.status.state', 'TASK_STATE_WORKING');
    server.executor.gates.get(taskId)?.();
    expect((await following).text).toContain('TASK_STATE_COMPLETED');
    expect(TaskState.TASK_STATE_COMPLETED).toBe(3);
  });

  it('is told to the handler by a signal', async () => {
    let signal: AbortSignal | undefined;
    const source = new Source(1);
    const server = await startA2a({
      handler: {
        sendMessageStream: (_params, context) => {
          signal = readerSignal(context);
          return source.items();
        },
      },
    });
    const [, path, body, headers] = HTTP_STREAMS[2] ?? ['', '', {}, {}];
    const response = await open(server, path, body, headers);
    await once(response, 'data');
    expect(signal?.aborted).toBe(false);
    response.destroy();
    await source.left;
    expect(signal?.aborted).toBe(true);
  });
});

describe('a stream over gRPC', () => {
  const sendRequest = { tenant: '', message: grpcSaid('a'), configuration: undefined, metadata: undefined };

  it('ends the subscription when its reader leaves', async () => {
    const source = new Source(1);
    const server = await startA2a({ handler: source.handler });
    const stream = grpcStream(server, 'sendStreamingMessage', sendRequest);
    await once(stream.call, 'data');
    stream.call.cancel();
    await source.left;
    stream.close();
  });

  it('goes no faster than it is read', async () => {
    const source = new Source(1_000_000, 'x'.repeat(20_000));
    const server = await startA2a({ handler: source.handler });
    const stream = grpcStream(server, 'sendStreamingMessage', sendRequest);
    await once(stream.call, 'data');
    stream.call.pause();
    let before = -1;
    while (before !== source.pulled) {
      before = source.pulled;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(source.pulled).toBeLessThan(5_000);
    stream.call.cancel();
    await source.left;
    stream.close();
  });

  it('is ended by closing the server, as unavailable', async () => {
    const source = new Source(1);
    const server = await startA2a({ handler: source.handler });
    const stream = grpcStream(server, 'sendStreamingMessage', sendRequest);
    await once(stream.call, 'data');
    server.a2a.close();
    expect(await stream.ended).toMatchObject({ code: 14, details: 'The service is shutting down.' });
    await source.left;
    stream.close();
  });
});
