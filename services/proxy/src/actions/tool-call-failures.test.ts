import { sendJson, sendText, type RpcRequest, type Script } from './env-server.test-helper.js';
import { call, never, ToolStage } from './tool-caller.test-helper.js';

const stage = new ToolStage();
afterEach(() => stage.end());

const onCall =
  (answer: (request: RpcRequest, response: Parameters<Script>[1]) => unknown): Script =>
  (request, response) => {
    if (request.method !== 'tools/call') return false;
    answer(request, response);
    return true;
  };

describe('a failing call', () => {
  it('of a tool passes on what the tool said', async () => {
    const server = await stage.server();
    server.script = onCall((request, response) => {
      sendText(response, request, 'it failed', true);
    });
    expect((await call(stage.turn([server.registered()]))).result).toEqual({
      kind: 'tool',
      content: [{ type: 'text', text: 'it failed' }],
      isError: true,
    });
  });

  it('gives a text in which half a character stands in a form that JSON can carry', async () => {
    const server = await stage.server();
    server.script = onCall((_request, response) => {
      sendJson(response, '{"id":2,"result":{"content":[{"type":"text","text":"lone \\ud83d!"}]}}');
    });
    expect((await call(stage.turn([server.registered()]))).text).toBe('lone \ufffd!');
  });

  it.each([
    ['{"id":2,"error":{"code":-32000,"message":"tool exploded"}}', 'tools/call failed: tool exploded (code -32000)'],
    ['{"id":2,"error":"odd"}', 'tools/call failed: odd (code None)'],
    ['{"id":2,"error":{}}', 'tools/call failed: None (code None)'],
    ['{"id":2,"result":[1]}', 'tools/call: the reply has no result object'],
    ['{"id":2}', 'tools/call: the reply has no result object'],
    ['[1]', 'tools/call: the reply is not a JSON-RPC object'],
    ['{"id":2,"result":', 'tools/call: unreadable reply: not JSON at character 17'],
    ['{"id":2,"result":{"content":5}}', 'tools/call: unreadable result: content is not a list'],
    ['{"id":2,"result":{"content":[5]}}', 'tools/call: unreadable result: a content block is not an object'],
    [
      '{"id":2,"result":{"content":[{"type":"text"}]}}',
      'tools/call: unreadable result: a text block has no string text',
    ],
    ['{"id":2,"result":{"isError":"x"}}', 'tools/call: unreadable result: isError is neither true nor false'],
    ['['.repeat(100_000), 'tools/call: unreadable reply: JSON nested more than 512 levels deep'],
  ])('is told for the answer %.60s', async (answer, why) => {
    const server = await stage.server();
    server.script = onCall((_request, response) => {
      sendJson(response, answer);
    });
    const { text, result } = await call(stage.turn([server.registered()]));
    expect(result.isError).toBe(true);
    expect(text).toBe(`error: ToolSessionError: ${why}`);
  });

  it('is told for a status, a content type and an encoding that do not fit', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = onCall((_request, response) => response.writeHead(500).end('broken '.repeat(1000)));
    const { text } = await call(turn);
    expect(text.slice(0, 80 + server.origin.length)).toContain(
      `tools/call: HTTP 500 from ${server.origin}/mcp: broken`,
    );
    expect(text.length).toBeLessThan(1200);
    server.script = onCall((_request, response) => response.setHeader('content-type', 'text/html').end('<p>'));
    expect((await call(turn)).text).toBe("error: ToolSessionError: tools/call: unexpected content type 'text/html'");
    server.script = onCall((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
    );
    expect((await call(turn)).text).toContain('encoded as gzip');
  });

  it('is told for a server that is not there or not registered', async () => {
    const turn = stage.turn([{ name: 'gone', url: 'http://127.0.0.1:1/mcp', headers: {} }]);
    expect((await call(turn, {}, { server: 'gone' })).text).toMatch(/^error: ConnectError: .*ECONNREFUSED/u);
    expect((await call(turn, {}, { server: 'nowhere' })).text).toBe(
      "error: ToolSessionError: no env server 'nowhere' is registered",
    );
  });

  it.each<[string, Record<string, string>, string]>([
    ['http://[::1/mcp', {}, 'its URL is unusable'],
    ['ftp://x/mcp', {}, 'its URL is unusable'],
    ['', {}, 'its URL is unusable'],
    ['http://127.0.0.1/mcp', { X: '你' }, "the value of header 'X' can't be sent"],
    ['http://127.0.0.1/mcp', { X: 'a\r\nY: b' }, "the value of header 'X' can't be sent"],
    ['http://127.0.0.1/mcp', { 'a b': 'c' }, "'a b' is no name of a header"],
  ])('is told for %s with %j', async (url, headers, why) => {
    const turn = stage.turn([{ name: 'odd', url, headers }]);
    expect((await call(turn, {}, { server: 'odd' })).text).toBe(`error: ToolSessionError: ${why}`);
    await expect(turn.list(never)).rejects.toMatchObject({ status: 502, message: `env server 'odd': ${why}` });
  });

  it('sends headers in Latin-1, those of framing not at all, and a login of the URL as one', async () => {
    const server = await stage.server();
    const { url } = server.registered();
    const headers = { X: ' é ', 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Connection: 'upgrade' };
    const turn = stage.turn([{ name: 'calc', url: url.replace('//', '//me:s%20t@'), headers }]);
    expect((await call(turn, { a: 1 })).text).toBe('{"a":1}');
    expect(server.of('tools/call')[0]?.headers).toMatchObject({
      x: 'é',
      connection: 'close',
      authorization: `Basic ${Buffer.from('me:s t').toString('base64')}`,
    });
  });

  it('is told for an answer beyond the bound, plain or streamed', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()], { maxResponseBytes: 100_000 });
    const why = 'error: ToolSessionError: tools/call: the answer is larger than 100000 bytes';
    server.script = onCall((request, response) => {
      sendText(response, request, 'x'.repeat(200_000));
    });
    expect((await call(turn)).text).toBe(why);
    const stopped = Promise.withResolvers<undefined>();
    server.script = onCall((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      const more = (): void => {
        while (!response.destroyed && response.write(`: ${'x'.repeat(20_000)}\n`));
      };
      more();
      response.on('drain', more).on('close', () => {
        stopped.resolve(undefined);
      });
    });
    expect((await call(turn)).text).toBe(why);
    await stopped.promise;
  });
});

describe('a session that the server forgot', () => {
  it('fails the call that meets it, once; the next call opens a new one', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    server.sessions.clear();
    const { text, result } = await call(turn);
    expect(result.isError).toBe(true);
    expect(text).toContain('ToolSessionError: tools/call: the server no longer knows session session-1');
    expect(server.of('tools/call')).toHaveLength(2);
    expect((await call(turn, { b: 2 })).text).toBe('{"b":2}');
    expect(server.of('initialize')).toHaveLength(2);
    expect(server.of('tools/call')).toHaveLength(3);
    await turn.close();
    expect(server.of('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-2']);
  });

  it('is replaced once for all who meet it at the same time', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    server.sessions.clear();
    const lost = await Promise.all([call(turn), call(turn), call(turn)]);
    expect(lost.map(({ result }) => result.isError)).toEqual([true, true, true]);
    const found = await Promise.all([call(turn), call(turn), call(turn)]);
    expect(found.map(({ result }) => result.isError)).toEqual([false, false, false]);
    expect(server.of('initialize')).toHaveLength(2);
  });

  it('is not what an address means that was never there', async () => {
    const server = await stage.server();
    server.script = (_request, response) => {
      response.writeHead(404).end('no such env');
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).text).toBe(
      `error: ToolSessionError: initialize: HTTP 404 from ${server.origin}/mcp: no such env`,
    );
  });
});

describe('a redirect', () => {
  it.each([301, 302, 307, 308])('within the origin is followed with method, body and headers: %d', async (status) => {
    const server = await stage.server();
    server.script = (_request, response, { path }) => {
      if (path === '/mcp/') return false;
      response.writeHead(status, { location: '/mcp/' }).end();
      return true;
    };
    const turn = stage.turn([server.registered({ 'x-secret': 'hush' })]);
    expect((await call(turn, { a: 1 })).text).toBe('{"a":1}');
    await turn.close();
    const followed = server.seen.filter(({ path }) => path === '/mcp/');
    expect(followed.map(({ http, rpc }) => rpc ?? http)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
      'DELETE',
    ]);
    expect(followed.map(({ headers }) => headers['x-secret'])).toEqual(['hush', 'hush', 'hush', 'hush']);
  });

  it('to another origin is an error, and nothing goes there', async () => {
    const server = await stage.server();
    const other = await stage.server('other');
    server.script = (_request, response) => {
      response.writeHead(307, { location: `${other.origin}/mcp` }).end();
      return true;
    };
    const turn = stage.turn([server.registered({ authorization: 'Bearer hush', 'x-secret': 'hush' })]);
    expect((await call(turn)).text).toBe(
      `error: ToolSessionError: initialize: ${server.origin} redirects to another origin, ${other.origin}, which isn't followed`,
    );
    expect(other.seen).toEqual([]);
  });

  it('in a circle ends', async () => {
    const server = await stage.server();
    server.script = (_request, response) => {
      response.writeHead(307, { location: '/mcp' }).end();
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).text).toContain('redirected more than 5 times');
    expect(server.seen).toHaveLength(6);
  });

  it('that says to look elsewhere, or nowhere, is an error', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = (_request, response) => {
      response.writeHead(303, { location: '/mcp/' }).end();
      return true;
    };
    expect((await call(turn)).text).toContain('initialize: HTTP 303');
    server.script = (_request, response) => {
      response.writeHead(307, { location: 'http://[::1/' }).end();
      return true;
    };
    expect((await call(turn)).text).toContain('redirected to an unusable URL');
  });
});
