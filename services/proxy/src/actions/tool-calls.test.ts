import { once } from 'node:events';
import { parseExact, type JsonObject } from '@parley/proxy-protocol';
import { sendJson, sendResult } from './env-server.test-helper.js';
import { CLIENT_TIMEOUTS } from './http-exchange.js';
import { call, ToolStage } from './tool-caller.test-helper.js';

const stage = new ToolStage();
afterEach(() => stage.end());

describe('a call', () => {
  it('opens a session, calls, and closes it with the turn, with the registered headers on every request', async () => {
    const server = await stage.server();
    const turn = stage.turn([
      server.registered({ 'X-Secret': 'hush', Accept: 'text/plain', 'AgentEnv-Role': 'alice' }),
    ]);
    expect((await call(turn, { a: 1 })).result).toEqual({
      kind: 'tool',
      content: [{ type: 'text', text: '{"a":1}' }],
      isError: false,
    });
    await turn.close();
    expect(server.seen.map(({ http, rpc }) => rpc ?? http)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
      'DELETE',
    ]);
    for (const { rpc, headers } of server.seen) {
      expect(headers).toMatchObject({ 'x-secret': 'hush', 'agentenv-role': 'alice' });
      expect(headers.accept).toBe('application/json, text/event-stream');
      expect(headers['mcp-session-id']).toBe(rpc === 'initialize' ? undefined : 'session-1');
      expect(headers['mcp-protocol-version']).toBe(rpc === 'initialize' ? undefined : '2025-06-18');
    }
  });

  it('introduces itself as env servers know it, with ids from 1', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    await call(turn);
    expect(server.of('initialize').map(({ body }) => JSON.parse(body))).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'agentenv-protocol', version: '1.0' },
        },
      },
    ]);
    expect(server.of('tools/call').map(({ body }) => JSON.parse(body))).toEqual([
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: {} } },
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'echo', arguments: {} } },
    ]);
  });

  it('carries numbers there and back as they were written', async () => {
    const server = await stage.server();
    const numbers = '{"n":12345678901234567890,"one":1.0,"d":0.1,"e":1e400}';
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      sendJson(response, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"x","v":${numbers}}]}}`);
      return true;
    };
    const { result } = await call(stage.turn([server.registered()]), parseExact(numbers) as JsonObject);
    expect(server.of('tools/call')[0]?.body).toContain(`"arguments":${numbers}`);
    expect(JSON.stringify(result.content)).toBe(`[{"type":"x","v":${numbers}}]`);
  });

  it('passes content on as it came, null members too, without the rest of the result', async () => {
    const server = await stage.server();
    const content = [
      { type: 'text', text: 'one', annotations: null },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ];
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      sendResult(response, request, { content, structuredContent: { x: 1 }, _meta: {} });
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).result).toEqual({ kind: 'tool', content, isError: false });
  });

  it('says for the span whom it called', async () => {
    const server = await stage.server();
    const { attributes } = await call(stage.turn([server.registered()]));
    expect(attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.session.id': 'session-1',
      'mcp.protocol.version': '2025-06-18',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.origin).port),
    });
  });

  it('waits for an answer as long as its own time-out says', async () => {
    expect(CLIENT_TIMEOUTS).toEqual({ headersTimeout: 0, bodyTimeout: 0 });
    const server = await stage.server();
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      setTimeout(() => {
        response.setHeader('content-type', 'application/json').flushHeaders();
        setTimeout(() => response.end('{"id":2,"result":{"content":[{"type":"text","text":"late"}]}}'), 1_000);
      }, 1_000);
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).text).toBe('late');
  });

  it('never meets a connection that the server closes after answering', async () => {
    const server = await stage.server();
    server.http.on('request', (request, response) => {
      response.on('finish', () => setImmediate(() => request.socket.end()));
    });
    const turn = stage.turn([server.registered()]);
    for (let i = 0; i < 200; i += 1) expect((await call(turn, { i })).text).toBe(`{"i":${String(i)}}`);
    expect(server.of('tools/call')).toHaveLength(200);
  });

  it('sends a call once, though its connection breaks', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      response.destroy();
      return true;
    };
    const { text, result } = await call(turn);
    expect(result.isError).toBe(true);
    expect(text).toMatch(/^error: ReadError: ./u);
    expect(server.of('tools/call')).toHaveLength(2);
    server.script = () => false;
    expect((await call(turn, { again: true })).text).toBe('{"again":true}');
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('shares one session among the first calls, and has another one in each turn', async () => {
    const server = await stage.server();
    const [one, two] = [stage.turn([server.registered()]), stage.turn([server.registered()])];
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => call(one, { i })));
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 8 }, (_, i) => `{"i":${String(i)}}`));
    expect(server.of('initialize')).toHaveLength(1);
    await call(two);
    expect(server.of('initialize')).toHaveLength(2);
  });

  it('takes no session id where the server gives none, and says no goodbye then', async () => {
    const server = await stage.server();
    server.sessions.add('undefined');
    server.script = (request, response) => {
      if (request.method !== 'initialize') return false;
      sendResult(response, request, { capabilities: {} });
      return true;
    };
    const turn = stage.turn([server.registered()]);
    expect((await call(turn)).result.isError).toBe(false);
    await turn.close();
    expect(server.of('DELETE')).toEqual([]);
    expect(server.of('tools/call')[0]?.headers['mcp-protocol-version']).toBe('2025-11-25');
  });

  it('keeps no listener on the signal that it was given', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    let listeners = 0;
    const { signal } = new AbortController();
    const { addEventListener: add, removeEventListener: remove } = signal;
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove.apply(signal, args);
    };
    for (let i = 0; i < 3; i += 1) await call(turn, {}, { signal });
    await turn.list(signal);
    await call(turn, {}, { signal, timeoutMs: 0.001 });
    expect(listeners).toBe(0);
  });
});

describe('answers as event streams', () => {
  it.each([1, 2, 3, 7, 1000])('are read in pieces of %d bytes', async (size) => {
    const server = await stage.server();
    server.script = async (request, response) => {
      if (request.id === undefined || request.method === 'initialize') return false;
      const reply = JSON.stringify({
        id: request.id,
        result: { content: [{ type: 'text', text: 'Zoë 你 \u2028😀' }] },
      });
      const comma = reply.indexOf(',') + 1;
      const bytes = Buffer.from(
        `\ufeff: hello\r\nid: 1\ndata\n\nevent: ping\ndata: {"id":${String(request.id)},"result":{}}\n\n` +
          `data: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n` +
          `event: message\r\ndata: ${reply.slice(0, comma)}\rdata:${reply.slice(comma)}\n\n`,
      );
      response.setHeader('content-type', 'text/event-stream; charset=utf-8');
      for (let at = 0; at < bytes.length; at += size) {
        if (!response.write(bytes.subarray(at, at + size))) await once(response, 'drain');
        await new Promise((resolve) => setImmediate(resolve));
      }
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).text).toBe('Zoë 你 \u2028😀');
  });

  it('may end without the reply, which is an error', async () => {
    const server = await stage.server();
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      response.setHeader('content-type', 'text/event-stream');
      response.end('data: {"id":99,"result":{}}\n\ndata: {"id":2,"result":{}}');
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).text).toBe(
      'error: ToolSessionError: tools/call: the event stream ended before the reply',
    );
  });

  it('are left once the reply is there, though the server keeps them open', async () => {
    const server = await stage.server();
    let closed: Promise<unknown> | undefined;
    server.script = (request, response) => {
      if (request.method !== 'tools/call') return false;
      closed = once(response, 'close');
      response.setHeader('content-type', 'text/event-stream');
      response.write('data: {"id":2,"result":{"content":[]}}\n\n');
      return true;
    };
    expect((await call(stage.turn([server.registered()]))).result).toEqual({
      kind: 'tool',
      content: [],
      isError: false,
    });
    await closed;
  });
});
