import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { waitFor } from '@parley/testkit';
import { z } from 'zod';
import { operation } from '../operation.js';
import {
  closeServers,
  problemOf,
  raw,
  RawConnection,
  route,
  startServer,
  type RawAnswer,
  type TestServer,
} from './http.test-helper.js';

const echo = operation(z.unknown(), (input) => ({ got: input }));
const LIMIT = 64 * 1024;

describe('a JSON body', () => {
  let server: TestServer;

  beforeEach(async () => {
    server = await startServer({
      routes: [
        route('post', '/echo', echo, { body: 'required' }),
        route('post', '/maybe', echo, { body: 'optional', input: ({ body }) => body ?? 'nothing' }),
        route('get', '/ignored', echo),
      ],
    });
  });
  afterEach(closeServers);

  const post = (body: string | Buffer, headers: Record<string, string> = {}, path = '/echo'): Promise<RawAnswer> => {
    const all = { Host: 'x', 'Content-Length': String(Buffer.byteLength(body)), ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return raw(server.port, `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, body);
  };
  const got = (answer: RawAnswer): unknown => {
    expect(answer.status).toBe(200);
    return (JSON.parse(answer.body) as { got: unknown }).got;
  };
  const json = { 'Content-Type': 'application/json' };

  it.each([
    ['{"a":[1,"é",null]}', { a: [1, 'é', null] }],
    ['null', null],
    ['7', 7],
    ['"text"', 'text'],
    [' [ ] ', []],
    ['\uFEFF{"a":1}', { a: 1 }],
  ])('arrives: %s', async (text, value) => {
    expect(got(await post(text, json))).toEqual(value);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/cloudevents+json',
  ])('may be called %s', async (type) => {
    expect(got(await post('{"a":1}', { 'Content-Type': type }))).toEqual({ a: 1 });
  });

  it('needs no content type', async () => {
    expect(got(await post('{"a":1}'))).toEqual({ a: 1 });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'multipart/form-data; boundary=x',
    'nonsense',
    '',
  ])('of type "%s" is refused with 415', async (type) => {
    expect(problemOf(await post('{"a":1}', { 'Content-Type': type })).status).toBe(415);
  });

  it.each(['latin1', 'utf-16', 'utf-7', 'nonsense'])('in charset %s is refused with 415', async (charset) => {
    expect(problemOf(await post('{"a":1}', { 'Content-Type': `application/json; charset=${charset}` })).status).toBe(
      415,
    );
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may be compressed: %s', async (name, compress) => {
    expect(got(await post(compress('{"a":1}'), { 'Content-Encoding': name }))).toEqual({ a: 1 });
  });

  it.each([
    ['no gzip at all', Buffer.from('{"a":1}')],
    ['gzip that breaks off', gzipSync('{"a":1}'.padEnd(500)).subarray(0, 30)],
    ['gzip with a wrong checksum', Buffer.concat([gzipSync('{"a":1}').subarray(0, -8), Buffer.alloc(8, 1)])],
  ])('is refused with 400: %s', async (_, body) => {
    expect(problemOf(await post(body, { 'Content-Encoding': 'gzip' })).status).toBe(400);
  });

  it('in an unknown encoding is refused with 415', async () => {
    expect(problemOf(await post('{}', { 'Content-Encoding': 'zip' })).status).toBe(415);
  });

  it('that grows over the limit when decompressed is refused with 413, and its connection goes on', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(LIMIT);
    const connection = new RawConnection(server.port);
    const length = String(bomb.length);
    connection.send(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: ${length}\r\n\r\n`);
    connection.send(bomb.subarray(0, bomb.length / 2));
    expect(problemOf(await connection.answer())).toMatchObject({ status: 413, code: 'payload_too_large' });
    connection
      .send(bomb.subarray(bomb.length / 2))
      .send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    expect(got(await connection.answer())).toEqual({});
    connection.socket.destroy();
  });

  it.each(['{', '{"a":}', 'undefined', "{'a':1}", '{"a":1}x', '\u0000', 'NaN'])(
    'that is no JSON is refused with 400: %s',
    async (text) => {
      expect(problemOf(await post(text, json))).toMatchObject({ status: 400, detail: 'The body is not valid JSON.' });
    },
  );

  it('that is not UTF-8 is refused with 400', async () => {
    const body = Buffer.concat([Buffer.from('"'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"')]);
    expect(problemOf(await post(body, json))).toMatchObject({ status: 400, detail: 'The body is not valid UTF-8.' });
  });

  it('with a reserved name is refused with 400 and pollutes nothing', async () => {
    const problem = problemOf(await post('{"labels":{"__proto__":{"polluted":1}}}', json));
    expect(problem).toMatchObject({ status: 400, errors: [{ path: 'labels.__proto__' }] });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('counts as missing when it is empty, however that is said', async () => {
    const missing = { status: 400, detail: 'A JSON body is required.' };
    expect(problemOf(await post('', json))).toMatchObject(missing);
    expect(problemOf(await raw(server.port, 'POST /echo HTTP/1.1\r\nHost: x\r\n\r\n'))).toMatchObject(missing);
    const chunked = 'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(problemOf(await raw(server.port, chunked))).toMatchObject(missing);
    expect(got(await post('', json, '/maybe'))).toBe('nothing');
  });

  it('is ignored where there should be none', async () => {
    const request = 'GET /ignored HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n{x}';
    expect(got(await raw(server.port, request))).toEqual({});
  });

  describe('that is too large', () => {
    const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;

    it('by one byte is refused, at the limit is not', async () => {
      expect(got(await post(text(LIMIT), json))).toHaveLength(LIMIT - 2);
      expect(problemOf(await post(text(LIMIT + 1), json)).status).toBe(413);
    });

    it('is refused as soon as its length is announced', async () => {
      const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n';
      expect(problemOf(await raw(server.port, head)).status).toBe(413);
    });

    it('is refused in chunks while it is still being sent, and the sender can read why', async () => {
      const connection = new RawConnection(server.port);
      connection.send('POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      // It never ends: only a server that stops reading, or answers early, gets out of this.
      const pump = (): void => {
        while (connection.socket.writable && connection.socket.write(chunk));
      };
      connection.socket.on('drain', pump);
      pump();
      const answer = await connection.answer();
      expect(problemOf(answer).status).toBe(413);
      expect(answer.head).toMatch(/^connection: close$/im);
      await connection.closed;
      connection.socket.destroy();
    });
  });

  it('that the caller breaks off is no error in the log', async () => {
    const connection = new RawConnection(server.port);
    connection.send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"a":');
    await new Promise((resolve) => server.server.once('request', resolve));
    connection.socket.resetAndDestroy();
    await waitFor(() => server.lines.length > 0);
    expect(server.lines).toMatchObject([{ level: 'debug', code: 'cancelled' }]);
  });
});
