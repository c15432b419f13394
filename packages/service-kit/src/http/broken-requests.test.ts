import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { operation } from '../operation.js';
import { closeServers, problemOf, raw, RawConnection, route, startServer } from './http.test-helper.js';

const empty = z.object({});
const ok = operation(empty, () => ({ ok: true }));
const echo = route(
  'post',
  '/echo',
  operation(z.unknown(), (input) => ({ got: input })),
  { body: 'required' },
);

afterEach(closeServers);

describe('what is no proper request is answered with a problem, never with a bare line', () => {
  it.each([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['bytes', Buffer.from([0, 1, 2, 0xff, 0x16, 0x03, 0x01, 13, 10, 13, 10])],
    ['a TLS greeting', Buffer.from('16030100a5010000a1030374e5f1', 'hex')],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['two lengths', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ],
    ['a length that is none', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n{}'],
    ['no host', 'GET /a HTTP/1.1\r\n\r\n'],
    ['a broken chunk', 'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n'],
    ['an unknown expectation', 'GET /a HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n'],
  ])('%s: 400', async (_, bytes) => {
    const { port, lines } = await startServer({ routes: [route('get', '/a', ok), echo] });
    const problem = problemOf(await raw(port, bytes));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('a head of 20 KB: 431, also when much more is on its way', async () => {
    const { port } = await startServer({ routes: [route('get', '/a', ok)] });
    const head = `GET /a HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20 * 1024)}\r\n\r\n`;
    expect(problemOf(await raw(port, head))).toMatchObject({ status: 431, code: 'headers_too_large' });
    const flood = `GET /a HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(4 * 1024 * 1024)}\r\n\r\n`;
    expect(problemOf(await raw(port, flood)).status).toBe(431);
    const target = `GET /${'a'.repeat(20 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(problemOf(await raw(port, target)).status).toBe(431);
  });

  it('a head just below 16 KiB is served', async () => {
    const { port } = await startServer({ routes: [route('get', '/a', ok)] });
    expect((await raw(port, `GET /a HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(15 * 1024)}\r\n\r\n`)).status).toBe(200);
  });

  it('HTTP/1.0 without a host is served, and so is a request with an Upgrade that nobody offers', async () => {
    const { port } = await startServer({ routes: [route('get', '/a', ok)] });
    expect((await raw(port, 'GET /a HTTP/1.0\r\n\r\n')).status).toBe(200);
    const upgrade = 'GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
    expect((await raw(port, upgrade)).status).toBe(200);
  });
});

describe('a caller that is too slow', () => {
  it('with its head: 408, and the connection ends', async () => {
    const { port } = await startServer({ requestTimeoutMs: 60 });
    const connection = new RawConnection(port).send('GET /a HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect(problemOf(await connection.answer())).toMatchObject({ status: 408, code: 'request_timeout' });
    await connection.closed;
    connection.socket.destroy();
  });

  it('with its body, a byte now and then: 408, and the connection ends', async () => {
    const { port, lines } = await startServer({ routes: [echo], requestTimeoutMs: 60 });
    const connection = new RawConnection(port).send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"');
    const drip = setInterval(() => connection.send('x'), 10);
    try {
      expect(problemOf(await connection.answer())).toMatchObject({ status: 408, code: 'request_timeout' });
      await connection.closed;
    } finally {
      clearInterval(drip);
      connection.socket.destroy();
    }
    expect(lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('that keeps its side open after a refusal is cut', async () => {
    const { port, server } = await startServer();
    const connection = new RawConnection(port).send('GARBAGE\r\n\r\n');
    await connection.answer();
    await connection.closed;
    // Our half stays open: only the server can end this.
    await waitFor(
      async () =>
        new Promise((resolve) => {
          server.getConnections((_, count) => {
            resolve(count === 0);
          });
        }),
    );
    connection.socket.destroy();
  });
});

describe('answers that are under way are not written into', () => {
  it('garbage behind a request cuts the connection instead', async () => {
    let answer: ((value: object) => void) | undefined;
    const slow = operation(empty, () => new Promise<object>((resolve) => (answer = resolve)));
    const { port } = await startServer({ routes: [route('get', '/slow', slow)] });
    const connection = new RawConnection(port).send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    await connection.closed;
    expect(connection.received).toBe('');
    answer?.({});
    connection.socket.destroy();
  });

  it('nor when the head of an answer is out', async () => {
    const { port } = await startServer({
      extend: (app) => {
        app.get('/half', (_request, response) => {
          response.writeHead(200, { 'Content-Length': '10' });
          response.write('12345');
        });
      },
    });
    const connection = new RawConnection(port).send('GET /half HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => connection.socket.once('data', resolve));
    connection.send('GARBAGE\r\n\r\n');
    await connection.closed;
    expect(connection.received).toMatch(/12345$/);
    connection.socket.destroy();
  });
});
