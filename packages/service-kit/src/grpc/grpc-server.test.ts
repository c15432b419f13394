import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { logVerbosity, setLogVerbosity, status, type ClientUnaryCall } from '@grpc/grpc-js';
import { RegistryService } from '@parley/proto';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { AppError } from '../errors/app-error.js';
import { operation, type CallContext } from '../operation.js';
import { createGrpcServer } from './grpc-server.js';
import { call, closeGrpcServers, connect, failureOf, startGrpc } from './grpc.test-helper.js';
import { fromServiceError, PROBLEM_TRAILER } from './problem-trailer.js';

const SECRET = 'swordfish';
const input = z.object({ agent_id: z.string('required') });

afterEach(closeGrpcServers);

describe('a unary method', () => {
  it('gets the JSON form of its message and answers with one', async () => {
    const manifest = {
      agent_id: 'a',
      capabilities: ['x', 'y'],
      labels: { region: 'eu' },
      metadata: { deep: [1, { a: null }] },
    };
    const register = operation(z.strictObject({ manifest: z.looseObject({}) }), ({ manifest: given }) => {
      expect(given).toEqual(manifest);
      return { agent_id: 'a', replaced: true, revision: 12 };
    });
    const { client } = await startGrpc({ Register: { operation: register } });
    expect(await call(client, 'Register', { manifest })).toEqual({ agent_id: 'a', replaced: true, revision: 12 });
  });

  it('may place input and output elsewhere in the messages', async () => {
    const { client } = await startGrpc({
      GetAgent: {
        operation: operation(z.object({ id: z.string() }), ({ id }) => ({ id })),
        input: (request) => ({ id: request['agent_id'] }),
        output: (agent: { id: string }) => ({ stale_since: agent.id }),
      },
    });
    expect(await call(client, 'GetAgent', { agent_id: 'a' })).toEqual({ stale_since: 'a' });
  });

  it('has a context: request id, bearer, metadata', async () => {
    let seen: CallContext | undefined;
    const see = operation(input, async (_, context) => {
      seen = context;
      return Promise.resolve({});
    });
    const { client } = await startGrpc({ GetAgent: { operation: see } });
    const metadata = { 'x-request-id': 'mine-1', authorization: 'Bearer abc', 'parley-join-token': 'j' };
    await call(client, 'GetAgent', { agent_id: 'a' }, { metadata });
    expect(seen).toMatchObject({ requestId: 'mine-1', transport: 'grpc', bearer: 'abc' });
    expect(seen?.header('parley-join-token')).toBe('j');
    // The library says "cancelled" at the end of every call.
    expect(seen?.signal.aborted).toBe(false);
  });

  it('is counted by method and code', async () => {
    const { client, metrics } = await startGrpc({ GetAgent: { operation: operation(input, () => ({})) } });
    await call(client, 'GetAgent', { agent_id: 'a' });
    await failureOf(call(client, 'GetAgent', {}));
    const text = await metrics.render();
    expect(text).toContain('parley_grpc_request_seconds_count{service="test",method="GetAgent",code="0"} 1');
    expect(text).toContain('parley_grpc_request_seconds_count{service="test",method="GetAgent",code="3"} 1');
  });
});

describe('the failure of a unary method', () => {
  it('brings the whole problem to the caller', async () => {
    const { client } = await startGrpc({ GetAgent: { operation: operation(input, () => ({})) } });
    const error = await failureOf(call(client, 'GetAgent', {}, { metadata: { 'x-request-id': 'mine' } }));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(error.metadata.get(PROBLEM_TRAILER)[0]).toBeInstanceOf(Uint8Array);
    expect(error.metadata.get('x-request-id')).toEqual(['mine']);
    expect(fromServiceError(error)).toMatchObject({
      reason: 'invalid_request',
      message: 'agent_id: required',
      errors: [{ path: 'agent_id', message: 'required' }],
    });
  });

  it('keeps code and time to retry of an error of the operation', async () => {
    const away = operation(input, () => {
      throw new AppError('unavailable', 'The store is away.', { code: 'store_unavailable', retryAfterSeconds: 3 });
    });
    const { client } = await startGrpc({ GetAgent: { operation: away } });
    const error = await failureOf(call(client, 'GetAgent', { agent_id: 'a' }));
    expect([error.code, error.details]).toEqual([status.UNAVAILABLE, 'The store is away.']);
    expect(fromServiceError(error)).toMatchObject({
      reason: 'unavailable',
      code: 'store_unavailable',
      retryAfterSeconds: 3,
    });
  });

  it.each([
    ['a truncated message', Buffer.from([0x0a, 0x7f, 0x61])],
    ['no message at all', Buffer.from('{"agent_id":"a"}')],
    ['text that is not UTF-8', Buffer.from([0x0a, 0x02, 0xff, 0xfe])],
    ['groups without end', Buffer.alloc(30_000, 0x0b)],
  ])('for %s is INVALID_ARGUMENT', async (_, bytes) => {
    const { client } = await startGrpc({ GetAgent: { operation: operation(input, () => ({})) } });
    const error = await failureOf(call(client, 'GetAgent', {}, { bytes }));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(fromServiceError(error).reason).toBe('invalid_request');
  });

  it('for a value that is none, or is nested without end, is INVALID_ARGUMENT', async () => {
    const open = operation(z.unknown(), () => ({}));
    const { client } = await startGrpc({ BrokerNegotiation: { operation: open } });
    const value = (bytes: Uint8Array): Buffer => {
      const entry = new BinaryWriter().tag(1, 2).string('p').tag(2, 2).bytes(bytes).finish();
      return Buffer.from(new BinaryWriter().tag(4, 2).bytes(entry).finish());
    };
    const empty = await failureOf(call(client, 'BrokerNegotiation', {}, { bytes: value(new Uint8Array()) }));
    expect([empty.code, empty.details]).toEqual([status.INVALID_ARGUMENT, 'The message has a value without content.']);
    let deep = new BinaryWriter().tag(4, 0).bool(true).finish();
    for (let level = 0; level < 200; level += 1) {
      const list = new BinaryWriter().tag(1, 2).bytes(deep).finish();
      deep = new BinaryWriter().tag(6, 2).bytes(list).finish();
    }
    expect((await failureOf(call(client, 'BrokerNegotiation', {}, { bytes: value(deep) }))).code).toBe(
      status.INVALID_ARGUMENT,
    );
  });

  it('pollutes no prototype, whatever the names in maps', async () => {
    const open = operation(z.looseObject({}), (given) => {
      expect((given as Record<string, unknown>)['polluted']).toBeUndefined();
      return {};
    });
    const { client } = await startGrpc({ BrokerNegotiation: { operation: open } });
    const struct = new BinaryWriter().tag(2, 0).bool(true).finish();
    const entry = new BinaryWriter().tag(1, 2).string('__proto__').tag(2, 2).bytes(struct).finish();
    const bytes = Buffer.from(new BinaryWriter().tag(4, 2).bytes(entry).finish());
    await call(client, 'BrokerNegotiation', {}, { bytes }).catch(() => undefined);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('for a message over the limit is RESOURCE_EXHAUSTED', async () => {
    const { client } = await startGrpc({ GetAgent: { operation: operation(input, () => ({})) } });
    expect((await failureOf(call(client, 'GetAgent', { agent_id: 'x'.repeat(70_000) }))).code).toBe(
      status.RESOURCE_EXHAUSTED,
    );
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
    ['answers what the message has no place for', () => ({ [SECRET]: 1 })],
    ['answers text that cannot be encoded', () => ({ stale_since: '\ud800' })],
  ] as const)('when the operation %s is INTERNAL with a fixed sentence', async (_, handle) => {
    const buggy = operation<object, object>(input, handle);
    const { client, lines } = await startGrpc({ GetAgent: { operation: buggy } });
    const error = await failureOf(call(client, 'GetAgent', { agent_id: 'a' }));
    expect([error.code, error.details]).toEqual([
      status.INTERNAL,
      'The request could not be completed because of an internal error.',
    ]);
    expect(JSON.stringify([error.metadata.toJSON(), fromServiceError(error)])).not.toContain(SECRET);
    expect(lines).toMatchObject([{ level: 'error', msg: 'call failed', method: 'GetAgent' }]);
  });

  it('reaches the caller also when its text is ill-formed or very long', async () => {
    const odd = operation(input, () => {
      throw new AppError('conflict', `half \ud83d ${'x'.repeat(50_000)}`, {
        errors: Array.from({ length: 32 }, () => ({ path: 'p'.repeat(250), message: `m\udc00${'m'.repeat(500)}` })),
      });
    });
    const { client } = await startGrpc({ GetAgent: { operation: odd } });
    const error = await failureOf(call(client, 'GetAgent', { agent_id: 'a' }));
    expect(error.code).toBe(status.ALREADY_EXISTS);
    const [trailer] = error.metadata.get(PROBLEM_TRAILER);
    expect((trailer as Buffer).length).toBeLessThan(4_096);
    expect(fromServiceError(error).errors.length).toBeGreaterThan(0);
  });

  it('after the deadline of the server is DEADLINE_EXCEEDED, whether the operation heeds its signal or not', async () => {
    const never = operation(input, () => new Promise<object>(() => undefined));
    const { client } = await startGrpc({ GetAgent: { operation: never } }, { deadlineMs: 30 });
    const error = await failureOf(call(client, 'GetAgent', { agent_id: 'a' }));
    expect(error.code).toBe(status.DEADLINE_EXCEEDED);
    expect(fromServiceError(error)).toMatchObject({ reason: 'deadline_exceeded' });
  });

  it('after the deadline of the caller is DEADLINE_EXCEEDED, and the operation is told', async () => {
    let signal: AbortSignal | undefined;
    const waits = operation(input, (_, context) => {
      signal = context.signal;
      return new Promise<object>(() => undefined);
    });
    const { client } = await startGrpc({ GetAgent: { operation: waits } });
    const error = await failureOf(call(client, 'GetAgent', { agent_id: 'a' }, { timeoutMs: 100 }));
    expect(error.code).toBe(status.DEADLINE_EXCEEDED);
    await waitFor(() => signal?.aborted);
  });

  it('when the caller cancels aborts the operation and is no error in the log', async () => {
    let signal: AbortSignal | undefined;
    const waits = operation(input, (_, context) => {
      signal = context.signal;
      return new Promise<object>(() => undefined);
    });
    const { client, lines } = await startGrpc({ GetAgent: { operation: waits } });
    let started: ClientUnaryCall | undefined;
    const answer = failureOf(call(client, 'GetAgent', { agent_id: 'a' }, { onCall: (one) => (started = one) }));
    await waitFor(() => signal);
    started?.cancel();
    expect((await answer).code).toBe(status.CANCELLED);
    await waitFor(() => lines.length > 0);
    expect(signal?.reason).toMatchObject({ name: 'AbortError' });
    expect(lines).toMatchObject([{ level: 'debug', code: 'cancelled' }]);
  });
});

describe('a server', () => {
  it('does not start when a method has no operation, or one of the wrong kind', () => {
    const options = { logger: undefined as never, metrics: undefined as never };
    const bind = (methods: object) => () =>
      createGrpcServer({ ...options, services: [{ service: RegistryService, methods: methods as never }] });
    expect(bind({})).toThrow('parley.v1.RegistryService.Register has no operation');
    const all = Object.fromEntries(
      RegistryService.methods.map(({ name }) => [name, { operation: operation(input, () => ({})) }]),
    );
    expect(bind(all)).toThrow('parley.v1.RegistryService.Watch has no operation');
  });

  it('cannot listen on a port that is taken', async () => {
    // The library prints such failures besides reporting them.
    setLogVerbosity(logVerbosity.NONE);
    const { port } = await startGrpc();
    const other = await startGrpc();
    await expect(other.listen(port, '127.0.0.1')).rejects.toThrow(/EADDRINUSE|No address added/);
  });

  it('listens on an IPv6 address', async () => {
    const server = await startGrpc();
    expect(await server.listen(0, '::1').catch((error: unknown) => String(error))).toEqual(expect.any(Number));
  });

  it('lets a call in flight finish when it closes, and takes nothing new', async () => {
    let answer: ((value: object) => void) | undefined;
    const slow = operation(input, () => new Promise<object>((resolve) => (answer = resolve)));
    const { client, close, port } = await startGrpc({ GetAgent: { operation: slow } });
    const inFlight = call(client, 'GetAgent', { agent_id: 'a' });
    await waitFor(() => answer);
    const closed = close(30_000);
    const late = connect(port);
    expect((await failureOf(call(late, 'GetAgent', { agent_id: 'a' }))).code).toBe(status.UNAVAILABLE);
    late.close();
    answer?.({});
    await inFlight;
    await closed;
  });

  it('cuts what is left after the grace; called again, after the shorter one', async () => {
    let asked = false;
    const never = operation(input, () => {
      asked = true;
      return new Promise<object>(() => undefined);
    });
    const { client, close } = await startGrpc({ GetAgent: { operation: never } });
    const inFlight = failureOf(call(client, 'GetAgent', { agent_id: 'a' }));
    await waitFor(() => asked);
    const first = close(600_000);
    await close(50);
    expect([status.UNAVAILABLE, status.CANCELLED]).toContain((await inFlight).code);
    await first;
  });
});
