import { createServer, type Socket } from 'node:net';
import { freePort, onTestsEnd, startDripServer, startSilentListener } from '@parley/testkit';
import { z } from 'zod';
import { problem, startJsonServer, type JsonHandler } from '../../test-support/json-server.js';
import { createPeerHttp } from './create-peer-http.js';
import type { PeerHttp, PeerHttpOptions, PeerRequest } from './peer-http.js';
import { neverSent } from './peer-errors.js';

const okSchema = z.object({ ok: z.boolean() });
const signal = new AbortController().signal;

function client(options: PeerHttpOptions = {}): PeerHttp {
  const http = createPeerHttp({ timeoutMs: 2_000, ...options });
  onTestsEnd(() => http.close());
  return http;
}

function get(url: string, more: Partial<PeerRequest<{ ok: boolean }>> = {}): PeerRequest<{ ok: boolean }> {
  return { method: 'GET', url, schema: okSchema, signal, ...more };
}

async function answering(handler: JsonHandler): Promise<string> {
  return (await startJsonServer(handler)).url;
}

/** A server below HTTP: writes what it is told for each connection's requests, one string for each. */
async function rawServer(
  onRequest: (socket: Socket, count: number) => void,
): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      count += 1;
      onRequest(socket, count);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port }, resolve));
  onTestsEnd(() => {
    server.close();
  });
  return { url: `http://127.0.0.1:${String(port)}`, connections: () => connections };
}

const GOOD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"ok":true}';

describe('a good answer', () => {
  it('comes with status, headers and the checked body', async () => {
    const server = await startJsonServer(() => ({ status: 201, body: { ok: true, more: 1 }, headers: { 'x-a': 'b' } }));
    const http = client({ userAgent: 'me', headers: () => ({ traceparent: '00-1' }) });
    const answer = await http.request({ ...get(`${server.url}/a/b?c=d`), method: 'POST', body: { x: 'я' } });
    expect(answer).toMatchObject({ status: 201, body: { ok: true }, headers: { 'x-a': 'b' } });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/a/b',
      body: { x: 'я' },
      headers: { 'user-agent': 'me', traceparent: '00-1', 'content-type': 'application/json' },
    });
  });

  it('may be empty when the schema allows it', async () => {
    const url = await answering(() => ({ status: 204 }));
    const answer = await client().request({ ...get(url), method: 'DELETE', schema: z.unknown() });
    expect(answer).toMatchObject({ status: 204, body: undefined });
  });
});

describe('what goes wrong', () => {
  it("keeps the peer's own code, field errors and time to wait", async () => {
    const url = await answering(() =>
      problem(409, 'agent_id_taken', 'taken', { errors: [{ path: 'agent_id', message: 'taken' }] }),
    );
    await expect(client().request(get(url))).rejects.toMatchObject({
      reason: 'conflict',
      code: 'agent_id_taken',
      message: 'taken',
      errors: [{ path: 'agent_id', message: 'taken' }],
    });
    const busy = await answering(() => ({
      status: 503,
      body: undefined,
      headers: { 'retry-after': '7', 'content-type': 'text/html' },
    }));
    await expect(client().request(get(busy))).rejects.toMatchObject({ reason: 'unavailable', retryAfterSeconds: 7 });
  });

  it('nobody listens', async () => {
    const failure: unknown = await client()
      .request(get(`http://127.0.0.1:${String(await freePort())}`))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: 'unavailable', code: 'peer_unreachable' });
    expect(neverSent(failure)).toBe(true);
  });

  it('the name does not exist', async () => {
    await expect(client().request(get('http://no-such-host.invalid/'))).rejects.toMatchObject({
      code: 'peer_unreachable',
    });
  });

  it.each(['silence', 'a body without end', 'a head without end'])('%s ends at the deadline', async (what) => {
    const peer =
      what === 'silence'
        ? await startSilentListener()
        : await startDripServer({ part: what.includes('body') ? 'body' : 'head' });
    const before = performance.now();
    await expect(client().request(get(peer.url, { timeoutMs: 150 }))).rejects.toMatchObject({
      reason: 'deadline_exceeded',
      code: 'peer_timeout',
    });
    expect(performance.now() - before).toBeLessThan(1_500);
  });

  it.each([
    ['not JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>'],
    ['not UTF-8', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"\xff'],
    ['the wrong shape', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"ok":"no"}'],
    ['nothing', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a redirect', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
    [
      'brackets without end',
      `HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n${'['.repeat(30_000)}${']'.repeat(30_000)}`,
    ],
  ])('%s is no valid answer', async (_, bytes) => {
    const { url } = await rawServer((socket) => socket.end(bytes, 'latin1'));
    await expect(client().request(get(url))).rejects.toMatchObject({
      reason: 'bad_gateway',
      code: 'peer_invalid_answer',
    });
  });

  it('too many bytes, announced or not, are not read to the end', async () => {
    const announced = await answering(() => ({ status: 200, body: { ok: true, pad: 'x'.repeat(70_000) } }));
    await expect(client().request(get(announced))).rejects.toMatchObject({ code: 'peer_invalid_answer' });
    const endless = await startDripServer({ intervalMs: 1, piece: ' '.repeat(8_192) });
    await expect(client().request(get(endless.url))).rejects.toMatchObject({ code: 'peer_invalid_answer' });
    const answer = await client({ maxAnswerBytes: 100_000 }).request(get(announced));
    expect(answer.body.ok).toBe(true);
  });

  it('the connection breaks in the middle of the body', async () => {
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok"', () => socket.destroy());
    });
    await expect(client().request(get(url))).rejects.toMatchObject({ code: 'peer_unreachable' });
  });

  it('the caller gives up, before or during the call', async () => {
    const peer = await startSilentListener();
    const giveUp = new AbortController();
    const call = client().request(get(peer.url, { signal: giveUp.signal }));
    giveUp.abort();
    await expect(call).rejects.toMatchObject({ reason: 'cancelled' });
    await expect(client().request(get(peer.url, { signal: giveUp.signal }))).rejects.toMatchObject({
      reason: 'cancelled',
    });
    expect(peer.accepted).toBeLessThanOrEqual(1);
  });

  it.each(['ftp://x/', 'file:///etc/passwd', 'not a url', '/relative'])('%s is no target', async (url) => {
    await expect(client().request(get(url))).rejects.toMatchObject({ code: 'target_invalid' });
  });
});

describe('an idle connection that the server closed', () => {
  /** The second request on a connection meets a close instead of an answer. */
  async function closing(): Promise<{ url: string; closed: () => number }> {
    let closed = 0;
    const { url } = await rawServer((socket, count) => {
      if (count === 1) socket.write(GOOD);
      else {
        closed += 1;
        socket.destroy();
      }
    });
    return { url, closed: () => closed };
  }

  /** A first call, whose connection then lies idle. */
  async function warm(http: PeerHttp, url: string): Promise<void> {
    await http.request(get(url));
    await new Promise(setImmediate);
  }

  it.each(['GET', 'PUT', 'DELETE'] as const)('makes a %s go out once more', async (method) => {
    const { url, closed } = await closing();
    const http = client();
    await warm(http, url);
    expect((await http.request(get(url, { method }))).body).toEqual({ ok: true });
    expect(closed()).toBe(1);
  });

  it('does not repeat a POST, unless the caller says that it may be', async () => {
    const one = await closing();
    const http = client();
    await warm(http, one.url);
    await expect(http.request(get(one.url, { method: 'POST' }))).rejects.toMatchObject({ code: 'peer_unreachable' });
    const other = await closing();
    await warm(http, other.url);
    expect((await http.request(get(other.url, { method: 'POST', repeatable: true }))).status).toBe(200);
    expect([one.closed(), other.closed()]).toEqual([1, 1]);
  });

  it('is not what happens on a new connection: nothing is repeated there', async () => {
    const { url, connections } = await rawServer((socket) => socket.destroy());
    await expect(client().request(get(url))).rejects.toMatchObject({ code: 'peer_unreachable' });
    expect(connections()).toBe(1);
  });
});

describe('the address of the target', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data', 'http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/', 'http://0.0.0.0:80/',
    'http://2852039166/', 'http://0xa9.0xfe.0xa9.0xfe/', 'http://[::]/', 'http://255.255.255.255/', 'https://[64:ff9b::a9fe:a9fe]/',
  ])('%s is refused', async (url) => {
    await expect(client().request(get(url))).rejects.toMatchObject({ reason: 'forbidden', code: 'target_refused' });
  }); // prettier-ignore

  it('is checked after the name was resolved', async () => {
    const peer = await startJsonServer(() => ({ status: 200, body: { ok: true } }));
    const url = `http://localhost:${String(peer.port)}/`;
    const strict = client({ allowPrivateAddresses: false });
    await expect(strict.request(get(url))).rejects.toMatchObject({ code: 'target_refused' });
    await expect(strict.request(get(peer.url))).rejects.toMatchObject({ code: 'target_refused' });
    await expect(strict.openStream({ url, signal })).rejects.toMatchObject({ code: 'target_refused' });
    expect(peer.requests).toEqual([]);
    expect((await client().request(get(url))).body.ok).toBe(true);
  });
});

describe('an answer that goes on', () => {
  it('outlives the deadline of the call and ends with the signal', async () => {
    const peer = await startDripServer({ piece: 'x', intervalMs: 10, contentType: 'text/event-stream' });
    const stop = new AbortController();
    const chunks = await client().openStream({ url: peer.url, signal: stop.signal, timeoutMs: 100 });
    const read = async (): Promise<number> => {
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        if (bytes >= 20) stop.abort();
      }
      return bytes;
    };
    await expect(read()).rejects.toMatchObject({ reason: 'cancelled' });
  });

  it('frees the connection when it is aborted before anybody reads', async () => {
    const gone = Promise.withResolvers<undefined>();
    const peer = await startJsonServer(({ response }) => {
      response.once('close', () => {
        gone.resolve(undefined);
      });
      response.writeHead(200).write('data: 1\n\n');
      return undefined;
    });
    const stop = new AbortController();
    await client().openStream({ url: peer.url, signal: stop.signal });
    stop.abort();
    await gone.promise;
  });

  it('is an error when the peer answers one', async () => {
    const url = await answering(() => problem(503, 'too_many_watchers'));
    await expect(client().openStream({ url, signal })).rejects.toMatchObject({ code: 'too_many_watchers' });
  });

  it('says that the connection was lost', async () => {
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n', () => socket.destroy());
    });
    const chunks = await client().openStream({ url, signal });
    const read = async (): Promise<void> => {
      for await (const chunk of chunks) expect(chunk.byteLength).toBe(1);
    };
    await expect(read()).rejects.toMatchObject({ code: 'peer_unreachable' });
  });
});
