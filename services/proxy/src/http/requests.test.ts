import { connect } from 'node:net';
import { once } from 'node:events';
import { startClaimedProxy, startProxy, stopProxies, TOKEN, type TestProxy } from '../proxy.test-helper.js';

afterEach(stopProxies);

const CLAIM = '/ext/proxy/claim';
const PLAIN = 'text/plain; charset=utf-8';

describe('paths and methods', () => {
  it('answers what is not there with a bare 404', async () => {
    const proxy = await startProxy();
    for (const path of [
      '/',
      '/nothing',
      '/ext/proxy',
      '/ext/proxy/nope',
      '/Health',
      '/nothing/',
      '/%zz',
      '/ext/staging/x',
    ]) {
      const answer = await proxy.ask(path);
      expect([path, answer.status, answer.text, answer.headers['content-type']]).toEqual([
        path,
        404,
        'Not Found',
        PLAIN,
      ]);
    }
  });

  it('names the methods that a path knows', async () => {
    const proxy = await startProxy();
    const cases = [
      ['GET', CLAIM, 'POST'],
      ['GET', '/a2a', 'POST'],
      ['OPTIONS', CLAIM, 'POST'],
      ['DELETE', '/health', 'GET, HEAD'],
      ['PUT', '/ext/mcp-config', 'DELETE, GET, HEAD, POST'],
      ['POST', '/.well-known/agent.json', 'GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const answer = await proxy.ask(path, { method });
      expect([method, path, answer.status, answer.text, answer.headers['allow']]).toEqual([
        method,
        path,
        405,
        'Method Not Allowed',
        allow,
      ]);
    }
  });

  it('answers HEAD where it answers GET', async () => {
    const proxy = await startProxy();
    for (const path of ['/health', '/.well-known/agent.json', '/.well-known/agent-card.json', '/ext/agent-config']) {
      const { status, text, headers } = await proxy.ask(path, { method: 'HEAD' });
      expect([path, status, text, headers['content-type']]).toEqual([path, 200, '', 'application/json']);
    }
  });

  it('redirects a trailing slash with the same method, host and query', async () => {
    const proxy = await startProxy();
    const answer = await proxy.ask(`${CLAIM}/?a=1`, { method: 'POST', body: { token: TOKEN } });
    expect([answer.status, answer.text, answer.headers['location']]).toEqual([307, '', `${proxy.url}${CLAIM}?a=1`]);
  });

  it('has no CORS, cache or cookie headers, and does not name its software', async () => {
    const { headers } = await (await startProxy()).ask('/health', { headers: { origin: 'http://x' } });
    expect(Object.keys(headers).sort()).toEqual(['connection', 'content-length', 'content-type', 'date']);
  });
});

describe('bodies', () => {
  const claim = (proxy: TestProxy, body: unknown, headers: Record<string, string> = {}): Promise<number> =>
    proxy.ask(CLAIM, { method: 'POST', body, headers }).then(({ status }) => status);

  it('are JSON in UTF-8 or UTF-16 with or without a mark, whatever their content type says', async () => {
    const proxy = await startClaimedProxy();
    const text = JSON.stringify({ token: TOKEN });
    const littleEndian = Buffer.from(text, 'utf16le');
    const bodies = [
      text,
      `\ufeff${text}`,
      `  ${text}\n`,
      littleEndian,
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(littleEndian).swap16(),
      `{"token":"wrong","token":"${TOKEN}"}`,
    ];
    for (const body of bodies) expect(await claim(proxy, body)).toBe(200);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x']) {
      expect(await claim(proxy, text, { 'content-type': type })).toBe(200);
    }
  });

  it('that are empty have no fields', async () => {
    const proxy = await startProxy();
    for (const body of ['', '{}', undefined]) {
      const answer = await proxy.post(CLAIM, body);
      expect([answer.status, answer.text]).toEqual([400, "missing required fields: ['token']"]);
    }
    expect((await proxy.post('/ext/agent-config', '')).json).toEqual({ status: 'updated' });
  });

  it('that are no JSON object are refused with a sentence', async () => {
    const proxy = await startProxy();
    for (const body of ['not json', '{', '{"token":1,}', Buffer.from('{"token":"\xff"}', 'latin1'), '{"a":1}{"b":2}']) {
      const answer = await proxy.post(CLAIM, body);
      expect([answer.status, answer.headers['content-type']]).toEqual([400, PLAIN]);
      expect(answer.text).toMatch(/^request body is not JSON: /);
    }
    for (const body of ['[]', '"x"', '3', 'null', 'true', '1.0']) {
      const answer = await proxy.post(CLAIM, body);
      expect([answer.status, answer.text]).toEqual([400, 'request body must be a JSON object']);
    }
  });

  it('of more than 32 MiB are refused, announced or not, and the next request is answered', async () => {
    const proxy = await startClaimedProxy();
    const large = Buffer.alloc(33 * 1024 * 1024, ' ');
    const announced = await proxy.post(CLAIM, large);
    const chunked = await proxy.ask(CLAIM, {
      method: 'POST',
      body: large,
      headers: { 'transfer-encoding': 'chunked' },
    });
    for (const answer of [announced, chunked]) {
      expect([answer.status, answer.text]).toEqual([413, 'the request body is larger than 33554432 bytes']);
    }
    expect(await claim(proxy, { token: TOKEN })).toBe(200);
  });

  it('of 20 MB are read', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x');
    expect((await proxy.op('record', { task_id: task, message: 'y'.repeat(20_000_000) })).status).toBe(200);
  });

  it('keep non-ASCII as it is in answers', async () => {
    const proxy = await startProxy();
    await proxy.post('/ext/agent-config', { role: 'Zoë 你好 😀 \u2028' });
    const { text } = await proxy.ask('/ext/agent-config');
    expect(text).toBe('{"config":{"role":"Zoë 你好 😀 \u2028"}}');
  });
});

describe('what is no request', () => {
  const raw = async (proxy: TestProxy, text: string): Promise<string> => {
    const socket = connect(proxy.app.httpPort, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(text);
    await once(socket, 'close');
    return answer;
  };

  it('is answered with a sentence', async () => {
    const proxy = await startProxy();
    expect(await raw(proxy, 'HELO\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*\r\n\r\nthis is not a valid HTTP request$/);
    const long = `GET /health HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`;
    expect(await raw(proxy, long)).toMatch(/^HTTP\/1\.1 431 [^]*are larger than 32 KiB$/);
  });

  it('with an expectation that is not known is answered all the same', async () => {
    const proxy = await startProxy();
    const text = 'GET /health HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\n\r\n';
    expect(await raw(proxy, text)).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/);
  });

  it('without a host is answered, also where it is redirected', async () => {
    const proxy = await startProxy();
    const answer = await raw(proxy, 'GET /health/ HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 307 /);
    expect(answer).toMatch(/\r\nlocation: \/health\r\n/i);
  });
});
