import { once } from 'node:events';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { operation } from '../operation.js';
import { closeServers, raw, RawConnection, route, startServer, type TestServer } from './http.test-helper.js';

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

afterEach(closeServers);

/** A server with `/a`, and `/slow`, which answers when told. */
async function startSlow(): Promise<TestServer & { answer: () => void; asked: () => boolean }> {
  let answer: ((value: object) => void) | undefined;
  const slow = operation(z.object({}), () => new Promise<object>((resolve) => (answer = resolve)));
  const quick = operation(z.object({}), () => ({}));
  const server = await startServer({ routes: [route('get', '/slow', slow), route('get', '/a', quick)] });
  return { ...server, answer: () => answer?.({ done: true }), asked: () => answer !== undefined };
}

describe('connections', () => {
  it('are kept for longer than the 60 s after which balancers give them up', async () => {
    const { server, port } = await startSlow();
    expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
    const answer = await raw(port, GET('/a'));
    expect(answer.head).toMatch(/^connection: keep-alive$/im);
    expect(Number(/^keep-alive: timeout=(\d+)$/im.exec(answer.head)?.[1])).toBeGreaterThan(60);
  });

  it('listening on a port that is taken fails', async () => {
    const first = await startSlow();
    const second = await startSlow();
    await second.close(0);
    await expect(second.listen(first.port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('drain', () => {
  it('ends each connection with its next answer, and goes on answering', async () => {
    const server = await startSlow();
    const kept = new RawConnection(server.port).send(GET('/a'));
    await kept.answer();
    server.drain();
    const last = await kept.send(GET('/a')).answer();
    expect(last.status).toBe(200);
    expect(last.head).toMatch(/^connection: close$/im);
    await kept.closed;
    // Whoever has not heard of it yet is still served.
    expect((await raw(server.port, GET('/a'))).status).toBe(200);
    kept.socket.destroy();
  });
});

describe('close', () => {
  it('ends idle connections at once: those that have had an answer and those that never asked', async () => {
    const server = await startSlow();
    const used = new RawConnection(server.port).send(GET('/a'));
    await used.answer();
    const fresh = new RawConnection(server.port);
    await once(fresh.socket, 'connect');
    await waitFor(
      async () =>
        new Promise((resolve) =>
          server.server.getConnections((_, count) => {
            resolve(count === 2);
          }),
        ),
    );
    const started = performance.now();
    await server.close(30_000);
    expect(performance.now() - started).toBeLessThan(2_000);
    await Promise.all([used.closed, fresh.closed]);
    for (const { socket } of [used, fresh]) socket.destroy();
  });

  it('waits for what is in flight, says that the connection ends, and takes nothing new', async () => {
    const server = await startSlow();
    const connection = new RawConnection(server.port).send(GET('/slow'));
    await waitFor(server.asked);
    const closed = server.close(30_000);
    await expect(fetch(`${server.url}/a`)).rejects.toThrow();
    server.answer();
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([200, '{"done":true}']);
    expect(answer.head).toMatch(/^connection: close$/im);
    await closed;
    connection.socket.destroy();
  });

  it('cuts what is left after the grace', async () => {
    const server = await startSlow();
    const connection = new RawConnection(server.port).send(GET('/slow'));
    await waitFor(server.asked);
    await server.close(50);
    await connection.closed;
    expect(connection.received).toBe('');
    connection.socket.destroy();
  });

  it('called again, cuts after the shorter grace; once closed, it returns at once', async () => {
    const server = await startSlow();
    const connection = new RawConnection(server.port).send(GET('/slow'));
    await waitFor(server.asked);
    const first = server.close(600_000);
    await server.close(20);
    await first;
    await server.close(600_000);
    connection.socket.destroy();
  });

  it('ends a connection whose streamed answer had begun before', async () => {
    let end: (() => void) | undefined;
    const server = await startServer({
      extend: (app) => {
        app.get('/stream', (_request, response) => {
          response.write('first');
          end = () => response.end('last');
        });
      },
    });
    const connection = new RawConnection(server.port).send(GET('/stream'));
    await once(connection.socket, 'data');
    const closed = server.close(30_000);
    end?.();
    await closed;
    await connection.closed;
    expect(connection.received).toContain('last');
    connection.socket.destroy();
  });
});
