import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { status, type ServiceError } from '@grpc/grpc-js';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { AppError } from '../errors/app-error.js';
import type { CallContext, StreamOperation } from '../operation.js';
import { closeGrpcServers, startGrpc, watch } from './grpc.test-helper.js';
import { fromServiceError } from './problem-trailer.js';

interface Item {
  readonly type: string;
  readonly reason?: string;
}

/** Counts what is pulled; gives `count` items and then stays silent until its call ends. */
class CountingSource {
  pulled = 0;
  returned = 0;
  context: CallContext | undefined;
  readonly #count: number;
  readonly #item: Item;

  constructor(count: number, item: Item = { type: 'registered' }) {
    this.#count = count;
    this.#item = item;
  }

  readonly operation: StreamOperation<unknown, Item> = {
    input: z.unknown(),
    handle: (_, context) => {
      this.context = context;
      return { [Symbol.asyncIterator]: () => this.#iterator() };
    },
  };

  #iterator(): AsyncIterator<Item> {
    return {
      next: async () => {
        this.pulled += 1;
        if (this.pulled > this.#count) return new Promise<never>(() => undefined);
        return Promise.resolve({ done: false, value: this.#item });
      },
      return: async () => {
        this.returned += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

const stream = (handle: StreamOperation<unknown, Item>['handle']) => ({
  Watch: { stream: { input: z.unknown(), handle } },
});

afterEach(closeGrpcServers);

/** The library's client hoards what arrives until it is first read; after that it takes what it is asked for. */
const readOneAndPause = async (call: ReturnType<typeof watch>): Promise<void> => {
  await once(call, 'data');
  call.pause();
};

const errorOf = async (call: ReturnType<typeof watch>): Promise<ServiceError> => {
  call.resume();
  const [error] = (await once(call, 'error')) as [ServiceError];
  return error;
};

describe('a server stream', () => {
  it('gives its items in order and ends with its source', async () => {
    const { client, metrics } = await startGrpc(
      stream(async function* () {
        yield* [{ type: 'snapshot' }, { type: 'registered' }];
        yield await Promise.resolve({ type: 'expired' });
      }),
    );
    const types: unknown[] = [];
    for await (const item of watch(client)) types.push((item as { type: string }).type);
    expect(types).toEqual(['snapshot', 'registered', 'expired']);
    expect(await metrics.render()).toContain(
      'parley_grpc_request_seconds_count{service="test",method="Watch",code="0"} 1',
    );
  });

  it('that fails before its first item has that status', async () => {
    const { client } = await startGrpc(
      stream(() => {
        throw new AppError('unavailable', 'Too many watchers.', { code: 'too_many_watchers', retryAfterSeconds: 5 });
      }),
    );
    const error = await errorOf(watch(client));
    expect(error.code).toBe(status.UNAVAILABLE);
    expect(fromServiceError(error)).toMatchObject({ code: 'too_many_watchers', retryAfterSeconds: 5 });
  });

  it('that fails later ends with a fixed sentence, after what it gave', async () => {
    const { client, lines } = await startGrpc(
      stream(async function* () {
        yield await Promise.resolve({ type: 'snapshot' });
        throw new Error('swordfish');
      }),
    );
    const call = watch(client);
    const items: unknown[] = [];
    call.on('data', (item) => items.push(item));
    const error = await errorOf(call);
    expect([error.code, items.length]).toEqual([status.INTERNAL, 1]);
    expect(JSON.stringify([error.details, error.metadata.toJSON()])).not.toContain('swordfish');
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('that never begins ends with the deadline', async () => {
    const { client } = await startGrpc(
      stream(() => new Promise(() => undefined)),
      { deadlineMs: 30 },
    );
    expect((await errorOf(watch(client))).code).toBe(status.DEADLINE_EXCEEDED);
  });

  it('has no deadline once it runs, but keeps that of its caller', async () => {
    const source = new CountingSource(1);
    const { client } = await startGrpc({ Watch: { stream: source.operation } }, { deadlineMs: 1 });
    const call = watch(client, { deadline: Date.now() + 150 });
    await once(call, 'data');
    expect((await errorOf(call)).code).toBe(status.DEADLINE_EXCEEDED);
    await waitFor(() => source.returned);
  });

  it('whose reader leaves while it is silent returns its source', async () => {
    const source = new CountingSource(1);
    const { client, lines } = await startGrpc({ Watch: { stream: source.operation } });
    const call = watch(client);
    await once(call, 'data');
    expect(source.context?.signal.aborted).toBe(false);
    call.cancel();
    await waitFor(() => source.returned === 1);
    expect(source.context?.signal.aborted).toBe(true);
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('whose connection is lost returns its source', async () => {
    const source = new CountingSource(1);
    const { port } = await startGrpc({ Watch: { stream: source.operation } });
    const session = connectHttp2(`http://127.0.0.1:${String(port)}`);
    const headers = {
      ':method': 'POST',
      ':path': '/parley.v1.RegistryService/Watch',
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    const call = session.request(headers);
    // A message of no bytes: a flag and a length.
    call.end(Buffer.alloc(5));
    await once(call, 'data');
    call.on('error', () => undefined);
    session.on('error', () => undefined);
    session.socket.destroy();
    await waitFor(() => source.returned === 1);
  });

  describe('to a reader that takes nothing', () => {
    const big = { type: 'registered', reason: 'x'.repeat(64 * 1024) };

    it('stops pulling, and goes on when it reads on', async () => {
      const source = new CountingSource(300, big);
      const { client } = await startGrpc({ Watch: { stream: source.operation } });
      const call = watch(client);
      await readOneAndPause(call);
      let before = -1;
      await waitFor(() => {
        const stopped = source.pulled === before;
        before = source.pulled;
        return stopped;
      });
      expect(source.pulled).toBeLessThan(150);
      let read = 0;
      call.on('data', () => (read += 1));
      call.resume();
      await waitFor(() => read === 299);
      expect(source.pulled).toBe(301);
    });

    it('returns the source after a while, and tells why when it reads on', async () => {
      const source = new CountingSource(300, big);
      const { client } = await startGrpc({ Watch: { stream: source.operation } }, { slowReaderMs: 300 });
      const call = watch(client);
      // Listened for from the beginning: on a busy machine it may come while the source is waited for.
      const failed = once(call, 'error') as Promise<[ServiceError]>;
      await readOneAndPause(call);
      await waitFor(() => source.returned === 1);
      expect(source.pulled).toBeLessThan(150);
      call.resume();
      const [error] = await failed;
      expect(fromServiceError(error)).toMatchObject({ code: 'slow_reader' });
    });
  });

  describe('when the server closes', () => {
    it('ends with UNAVAILABLE, and closing does not wait for the reader', async () => {
      const source = new CountingSource(1);
      const { client, close, lines } = await startGrpc({ Watch: { stream: source.operation } });
      const call = watch(client);
      await once(call, 'data');
      const error = errorOf(call);
      const started = performance.now();
      await close(30_000);
      expect(performance.now() - started).toBeLessThan(3_000);
      expect((await error).code).toBe(status.UNAVAILABLE);
      expect(fromServiceError(await error)).toMatchObject({ reason: 'unavailable', code: 'shutting_down' });
      expect(source.returned).toBe(1);
      expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    });

    it('is cut after the grace if its reader takes nothing', async () => {
      const source = new CountingSource(300, { type: 'x', reason: 'x'.repeat(64 * 1024) });
      const { client, close } = await startGrpc({ Watch: { stream: source.operation } });
      await readOneAndPause(watch(client));
      const started = performance.now();
      await close(100);
      expect(performance.now() - started).toBeLessThan(3_000);
      await waitFor(() => source.returned === 1);
    });

    it('does not wait for one that is still being opened', async () => {
      let asked = false;
      const { client, close } = await startGrpc(
        stream(() => {
          asked = true;
          return new Promise(() => undefined);
        }),
      );
      const error = errorOf(watch(client));
      await waitFor(() => asked);
      await close(30_000);
      expect((await error).code).toBe(status.UNAVAILABLE);
    });
  });
});
