import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { waitFor } from '@parley/testkit';
import { closeServers, RawConnection, startServer, type TestServer } from '../http/http.test-helper.js';
import { streamEvents, type SseEvent, type SseOptions } from './sse-stream.js';

afterEach(closeServers);

/** Gives what is put into it, and knows whether it was returned. */
class Feed implements AsyncIterable<SseEvent> {
  pulled = 0;
  returned = false;
  readonly #items: SseEvent[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  push(...items: readonly SseEvent[]): void {
    this.#items.push(...items);
    this.#wake?.();
  }
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }
  [Symbol.asyncIterator](): AsyncIterator<SseEvent> {
    return {
      next: async (): Promise<IteratorResult<SseEvent, undefined>> => {
        this.pulled += 1;
        for (;;) {
          const value = this.#items.shift();
          if (value !== undefined) return { done: false, value };
          if (this.#ended) return { done: true, value: undefined };
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      },
      return: async () => {
        this.returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

interface Streaming {
  readonly server: TestServer;
  readonly feed: Feed;
  readonly drain: AbortController;
  readonly failures: unknown[];
  /** Settles when streamEvents has returned. */
  readonly over: Promise<void>;
}

async function startStream(options: Partial<SseOptions> = {}, source?: AsyncIterable<SseEvent>): Promise<Streaming> {
  const feed = new Feed();
  const drain = new AbortController();
  const failures: unknown[] = [];
  let finished: (() => void) | undefined;
  const over = new Promise<void>((resolve) => (finished = resolve));
  const server = await startServer({
    extend: (app) => {
      app.get('/watch', async (_request, response) => {
        const onFailure = (error: unknown): void => void failures.push(error);
        await streamEvents(response, source ?? feed, { signal: drain.signal, onFailure, ...options });
        finished?.();
      });
    },
  });
  return { server, feed, drain, failures, over };
}

const open = (server: TestServer): RawConnection =>
  new RawConnection(server.port).send('GET /watch HTTP/1.1\r\nHost: x\r\n\r\n');

describe('a stream of events', () => {
  it('sends its head before there is an event, then each event as it comes, and ends with its source', async () => {
    const { server, feed, over } = await startStream();
    const answer = await fetch(`${server.url}/watch`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toContain('no-cache');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    feed.push({ event: 'registered', id: '7', data: '{"a":1}' }, { event: 'expired', data: '{}' });
    feed.end();
    expect(await answer.text()).toBe('event: registered\nid: 7\ndata: {"a":1}\n\nevent: expired\ndata: {}\n\n');
    await over;
  });

  it('cannot be broken by what it carries', async () => {
    const { server, feed } = await startStream();
    const data = JSON.stringify({ text: 'a\u2028b\u2029c\u0085d' });
    feed.push({ event: 'x\nid: 9', id: '1\r\n\r\ndata: y', data }, { event: 'pretty', data: '{\n"a": 1\r\n}' });
    feed.end();
    const text = await (await fetch(`${server.url}/watch`)).text();
    expect(text).toBe(
      'event: x id: 9\nid: 1    data: y\ndata: {"text":"a\\u2028b\\u2029c\\u0085d"}\n\n' +
        'event: pretty\ndata: {\ndata: "a": 1\ndata: }\n\n',
    );
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')).toEqual(JSON.parse(data));
  });

  it('keeps a silent connection alive by comments', async () => {
    const { server } = await startStream({ keepAliveMs: 10 });
    const connection = open(server);
    await waitFor(() => (connection.received.match(/: keep-alive\n\n/g) ?? []).length >= 3);
    connection.socket.destroy();
  });

  it('returns a silent source when the reader leaves', async () => {
    const { server, feed, over, failures } = await startStream();
    const connection = open(server);
    await once(connection.socket, 'data');
    connection.socket.destroy();
    await over;
    expect(feed.returned).toBe(true);
    expect(failures).toEqual([]);
  });

  it('ends in order when the service drains, also while the source is silent', async () => {
    const { server, feed, drain, over } = await startStream();
    const answer = await fetch(`${server.url}/watch`);
    feed.push({ event: 'a', data: '1' });
    await waitFor(() => feed.pulled === 2);
    drain.abort();
    expect(await answer.text()).toBe('event: a\ndata: 1\n\n');
    await over;
    expect(feed.returned).toBe(true);
  });

  it('cuts the connection when its source fails', async () => {
    const failing = (async function* (): AsyncGenerator<SseEvent> {
      yield await Promise.resolve({ event: 'a', data: '1' });
      throw new Error('the log has a gap');
    })();
    const { server, failures, over } = await startStream({}, failing);
    const connection = open(server);
    await connection.closed;
    await over;
    expect(failures).toMatchObject([{ message: 'the log has a gap' }]);
    expect(connection.received).not.toContain('gap');
    connection.socket.destroy();
  });

  describe('to a reader that takes nothing', () => {
    const big = { event: 'big', data: JSON.stringify('x'.repeat(256 * 1024)) };

    it('stops pulling, and cuts it after a while', async () => {
      const { server, feed, failures, over } = await startStream({ slowReaderMs: 50 });
      const connection = open(server);
      connection.socket.pause();
      feed.push(...Array.from({ length: 400 }, () => big));
      await over;
      expect(feed.pulled).toBeLessThan(100);
      expect(feed.returned).toBe(true);
      expect(failures).toMatchObject([{ code: 'slow_reader' }]);
      connection.socket.destroy();
    });

    it('waits for one that reads on in time', async () => {
      const { server, feed, failures, over } = await startStream();
      const connection = open(server);
      connection.socket.pause();
      feed.push(...Array.from({ length: 100 }, () => big));
      feed.end();
      let before = -1;
      // The producer has stopped when nothing was pulled for a while.
      await waitFor(() => {
        const stopped = feed.pulled > 1 && feed.pulled === before;
        before = feed.pulled;
        return stopped;
      });
      expect(feed.pulled).toBeLessThan(100);
      connection.socket.resume();
      await over;
      expect([feed.pulled, failures]).toEqual([101, []]);
      connection.socket.destroy();
    });

    it('is cut when the service drains and the reader does not take the rest', async () => {
      const { server, feed, drain, failures, over } = await startStream({ slowReaderMs: 500 });
      const connection = open(server);
      connection.socket.pause();
      feed.push(...Array.from({ length: 400 }, () => big));
      let before = -1;
      await waitFor(() => {
        const stopped = feed.pulled > 1 && feed.pulled === before;
        before = feed.pulled;
        return stopped;
      });
      drain.abort();
      await over;
      expect(failures).toEqual([]);
      await waitFor(
        async () =>
          new Promise((resolve) => {
            server.server.getConnections((_, count) => {
              resolve(count === 0);
            });
          }),
      );
      connection.socket.destroy();
    });

    it('is cut when it does not even take the comments of a silent stream', async () => {
      const stuck = new Writable({ highWaterMark: 1024 * 1024, write: () => undefined });
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      response.assignSocket(stuck as unknown as Socket);
      const over = streamEvents(response, new Feed(), {
        signal: new AbortController().signal,
        keepAliveMs: 5,
        slowReaderMs: 20,
      });
      await once(stuck, 'close');
      expect(response.destroyed).toBe(true);
      response.emit('close');
      await over;
    });
  });
});
