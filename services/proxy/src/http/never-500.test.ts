import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@parley/service-kit';
import { type Answer, startClaimedProxy, stopProxies, TOKEN, type TestProxy } from '../proxy.test-helper.js';

afterEach(stopProxies);

let lines: string[];

async function start(): Promise<{ proxy: TestProxy; task: string }> {
  lines = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'proxy', level: 'debug', destination });
  const proxy = await startClaimedProxy({ logger });
  return { proxy, task: await proxy.open('x') };
}

function bash(proxy: TestProxy, task: string, id: string, command: string): Promise<Answer> {
  return proxy.op('act', { task_id: task, action_id: id, action: { kind: 'bash', command } });
}

describe('what once was a 500', () => {
  it('a NUL in a command is an answer, and stays one', async () => {
    const { proxy, task } = await start();
    const first = await bash(proxy, task, 'nul', 'a\0b');
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({ done: true, result: { kind: 'bash', exit_code: 126 } });
    expect((await proxy.op('result', { action_id: 'nul' })).text).toBe(first.text);
  });

  it('odd JSON is 400', async () => {
    const { proxy, task } = await start();
    const record = (fields: string): Promise<Answer> =>
      proxy.post('/ext/proxy/record', `{"token":"${TOKEN}","task_id":"${task}",${fields}}`);
    const answers = [
      await record('"message":{"role":"assistant","tool_calls":5}'),
      await record('"message":{"role":"assistant","tool_calls":{"a":1}}'),
      await record('"message":"x","usage":{"input_tokens":NaN}'),
      await record('"message":"x","usage":{"deep":[{"a":-Infinity}]}'),
      await record('"message":{"role":"assistant","content":"x","extra":NaN}'),
      await record(
        '"message":{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":"{\\"x\\":NaN}"}}]}',
      ),
      await proxy.post('/ext/proxy/next', '['.repeat(100_000)),
      await proxy.post(
        '/ext/proxy/next',
        `{"token":"${TOKEN}","after":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
      ),
      await proxy.post('/ext/proxy/next', `{"token":"${TOKEN}","after":${'9'.repeat(10_000)}}`),
    ];
    const action = '{"kind":"tool","server":"s","name":"n","arguments":{"x":[NaN]}}';
    const acted = await proxy.post(
      '/ext/proxy/act',
      `{"token":"${TOKEN}","task_id":"${task}","action_id":"nan","action":${action}}`,
    );
    expect([acted.status, acted.text]).toEqual([400, 'action.arguments: must hold finite numbers only']);
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(answer.text).not.toMatch(/^[[{]/);
    }
    // None of them changed what the turn allows.
    expect((await bash(proxy, task, 'free', 'echo free')).status).toBe(200);
  });

  it('odd names and texts from all sides are answers', async () => {
    const { proxy, task } = await start();
    const odd = ['__proto__', 'constructor', 'toString', '\u0000', '💥', 'it\'s "quoted"\\'];
    for (const name of odd) {
      expect((await proxy.op('result', { action_id: name })).status).toBe(404);
      expect((await proxy.op('tools', { task_id: name })).status).toBe(404);
      expect((await proxy.post('/ext/trajectory', { task_id: name })).status).toBe(404);
      expect((await proxy.post('/ext/trajectory', { context_id: name, after: 0 })).status).toBe(404);
      const action = { kind: 'tool', server: name, name, arguments: JSON.parse(`{"__proto__":{"a":null}}`) as object };
      const acted = await proxy.op('act', { task_id: task, action_id: `id ${name}`, action });
      expect(acted.json).toMatchObject({ done: true, result: { is_error: true } });
      const sent = await proxy.rpc('tasks/get', { id: name });
      expect(sent.error?.code).toBe(-32_001);
      const added = await proxy.post('/ext/mcp-config', { url: `http://x/${encodeURIComponent(name)}`, name });
      expect(added.json).toMatchObject({ name });
    }
    const listed = (await proxy.ask('/ext/mcp-config')).text;
    for (const name of odd) expect(listed).toContain(JSON.stringify(name));
    expect((await proxy.post('/ext/agent-config', '{"__proto__":{"name":"x"}}')).status).toBe(400);
  });

  it('a tool text with half a surrogate pair can be read, again and again', async () => {
    const server = await startToolServer(String.raw`{"content":[{"type":"text","text":"a\ud83d"}],"isError":false}`);
    try {
      const { proxy } = await start();
      const { port } = server.address() as AddressInfo;
      await proxy.post('/ext/mcp-config', { url: `http://127.0.0.1:${String(port)}/mcp`, name: 'half' });
      const task = await proxy.open('y');
      const action = { kind: 'tool', server: 'half', name: 'surrogate' };
      const acted = await proxy.op('act', { task_id: task, action_id: 'half', action });
      expect([acted.status, (acted.json as { done: boolean }).done]).toEqual([200, true]);
      expect((await proxy.op('result', { action_id: 'half' })).text).toBe(acted.text);
      expect((await proxy.op('tools', { task_id: task })).status).toBe(502);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('nothing of it is an error in the log, and the token is nowhere in it', async () => {
    const { proxy, task } = await start();
    await proxy.op('reply', { task_id: task, error: 'x' });
    await proxy.post('/ext/proxy/next', `{"token":"${TOKEN}","who":1}`);
    await proxy.post('/ext/proxy/next', `{"token":"${TOKEN}"`);
    await proxy.ask(`/ext/mcp-config?token=${TOKEN}`);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(lines.join('')).not.toContain(TOKEN);
  });
});

/** Opens a session and answers each call with the result. */
async function startToolServer(result: string): Promise<Server> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string };
      if (id === undefined || method === 'tools/list') {
        response.statusCode = method === 'tools/list' ? 500 : 202;
        response.end();
        return;
      }
      const opened = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}';
      response.setHeader('content-type', 'application/json');
      response.setHeader('mcp-session-id', 's1');
      response.end(`{"jsonrpc":"2.0","id":${String(id)},"result":${method === 'initialize' ? opened : result}}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
