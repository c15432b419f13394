import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import {
  ProxyClient,
  type ProxyClientOptions,
  ProxyFailed,
  ProxyMisread,
  ProxyRefused,
  ProxyUnauthorized,
  ProxyUnreachable,
  TurnGone,
} from './index.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server;
let answer: Answer;
let url: string;
const seen: { path: string; body: string; headers: IncomingMessage['headers'] }[] = [];
const clients: ProxyClient[] = [];

function client(options: Partial<ProxyClientOptions> = {}): ProxyClient {
  const made = new ProxyClient({ url, token: 'a-token-of-twenty-two-characters', retryMs: 5, ...options });
  clients.push(made);
  return made;
}

function says(status: number, body: string, type = 'text/plain'): Answer {
  return (_request, response) => response.writeHead(status, { 'content-type': type }).end(body);
}

beforeEach(async () => {
  seen.length = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      seen.push({ path: request.url ?? '', body, headers: request.headers });
      answer(request, response, body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const one of clients.splice(0)) await one.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('what it sends', () => {
  it('is as the proxy wants it, below the path of its address', async () => {
    answer = says(
      200,
      '{"done":true,"result":{"kind":"bash","exit_code":0,"stdout":"","stderr":"","timed_out":false}}',
    );
    const proxy = client({ url: `${url}/a/b/`, headers: { 'x-one': '1' } });
    await proxy.act('t', 'a', { kind: 'bash', command: 'ls', timeoutSeconds: 2 });
    expect(seen[0]).toMatchObject({ path: '/a/b/ext/proxy/act', headers: { 'x-one': '1' } });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      token: 'a-token-of-twenty-two-characters',
      task_id: 't',
      action_id: 'a',
      action: { kind: 'bash', command: 'ls', timeout_seconds: 2 },
    });
    answer = says(200, '{}');
    await proxy.record('t', { message: 'hi' });
    expect(JSON.parse(seen[1]?.body ?? '')).toMatchObject({ message: 'hi', model: null, usage: null });
    await proxy.reply('t', { text: '' });
    expect(JSON.parse(seen[2]?.body ?? '')).toMatchObject({ parts: [{ kind: 'text', text: '' }] });
  });

  it('is shown an agreement with its claim alone', async () => {
    answer = says(200, '{"version":0,"turns":[]}');
    const proxy = client({ headers: { 'x-all': '1' }, claimHeaders: { 'x-proof': 'secret' } });
    await proxy.claim();
    await proxy.next(0);
    expect(seen.map(({ headers }) => [headers['x-all'], headers['x-proof']])).toEqual([
      ['1', 'secret'],
      ['1', undefined],
    ]);
  });

  it('keeps numbers as they were written', async () => {
    answer = (_request, response, body) => {
      const { action } = JSON.parse(body) as { action?: unknown };
      if (action === undefined)
        response.end('{"tools":[{"name":"t","server":"s","input_schema":{"maximum":12345678901234567890}}]}');
      else response.end('{"done":true,"result":{"kind":"tool","content":[{"n":1.0}],"is_error":false}}');
    };
    const [tool] = await client().tools('t');
    const state = await client().act('t', 'a', {
      kind: 'tool',
      server: 's',
      name: 't',
      arguments: tool?.inputSchema ?? {},
    });
    expect(seen[1]?.body).toContain('"arguments":{"maximum":12345678901234567890}');
    expect(JSON.stringify(state)).toContain('"content":[{"n":1.0}]');
  });
});

describe('answers', () => {
  it('are read with members that nobody knows left out, and with what only some proxies tell', async () => {
    answer = says(
      200,
      JSON.stringify({
        version: 3,
        more: 1,
        turns: [
          { task_id: 't', context_id: 'c', parts: [{ kind: 'text', text: 'hi', x: 1 }], skills: [], new: {} },
          {
            task_id: 'u',
            context_id: 'c',
            parts: [],
            system_prompt: 'be brief',
            skills: [{ name: 's', description: 'd', path: '/p', y: 2 }],
            pending_calls: [{ id: null, name: 'bash', arguments: { command: 'ls' } }],
            actions: [{ action_id: 'a', done: false, action: { kind: 'bash', command: 'ls' } }],
          },
        ],
      }),
    );
    expect(await client().next(0)).toEqual({
      version: 3,
      turns: [
        { taskId: 't', contextId: 'c', texts: ['hi'], systemPrompt: null, skills: [], pendingCalls: [], actions: [] },
        {
          taskId: 'u',
          contextId: 'c',
          texts: [],
          systemPrompt: 'be brief',
          skills: [{ name: 's', description: 'd', path: '/p' }],
          pendingCalls: [{ id: null, name: 'bash', arguments: { command: 'ls' } }],
          actions: [{ actionId: 'a', done: false, action: { kind: 'bash', command: 'ls' } }],
        },
      ],
    });
  });

  it.each([
    ['a page of something else', '<html>hello</html>', /not JSON/u],
    ['nothing', '', /not JSON/u],
    ['another object', '{"ok":true}', /not how a proxy answers next \(at version\)/u],
    ['a turn without a task', '{"version":1,"turns":[{}]}', /at turns\.0\.task_id/u],
    ['a list', '[]', /not how a proxy answers/u],
  ])('that are %s are no answers', async (_what, body, message) => {
    answer = says(200, body, 'text/html');
    await expect(client().next(0)).rejects.toThrow(ProxyMisread);
    await expect(client().next(0)).rejects.toThrow(message);
  });

  it.each([
    [400, "missing required fields: ['token']", ProxyRefused, "missing required fields: ['token']"],
    [409, '{"detail":"this proxy is already claimed"}', ProxyRefused, 'this proxy is already claimed'],
    [400, '[{"type":"missing","loc":["after"],"msg":"Field required"}]', ProxyRefused, 'after: Field required'],
    [400, '{"error":{"code":"x","message":"no"}}', ProxyRefused, 'no'],
    [400, '[1,2]', ProxyRefused, '[1,2]'],
    [401, "the driver's token is missing or wrong", ProxyUnauthorized, "the driver's token is missing or wrong"],
    [404, "no open turn 't'", TurnGone, "no open turn 't'"],
    [502, "env server 'e': no", ProxyFailed, "env server 'e': no"],
    [500, '<html>nginx</html>', ProxyFailed, 'answered 500'],
    [307, '', ProxyFailed, 'answered 307'],
    [413, 'too large', ProxyFailed, 'too large'],
  ])('with %d are an error of their own', async (status, body, type, message) => {
    answer = says(status, body);
    const refused = await client()
      .tools('t')
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(type);
    expect(refused).toMatchObject({ message });
    expect(seen).toHaveLength(1);
  });

  it('with 404 mean a turn only where a turn is meant', async () => {
    answer = says(404, 'Not Found');
    await expect(client().next(0)).rejects.toMatchObject({ name: 'ProxyFailed', status: 404 });
    await expect(client().trajectory({ taskId: 't' })).rejects.toMatchObject({ name: 'ProxyFailed', status: 404 });
    await expect(client().result('a')).rejects.toBeInstanceOf(TurnGone);
  });
});

describe('a server that does not answer', () => {
  it('is tried three times, and record only once', async () => {
    answer = (request) => request.socket.destroy();
    const failed = await client()
      .next(0)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ProxyUnreachable);
    expect(failed).toMatchObject({ wasPerhapsSent: true });
    expect(seen).toHaveLength(3);
    await expect(client().record('t', { message: '' })).rejects.toBeInstanceOf(ProxyUnreachable);
    expect(seen).toHaveLength(4);
  });

  it('is tried again even for record if it surely has not seen it', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const proxy = client({ url: `http://127.0.0.1:${port}`, retryMs: 100 });
    const recording = proxy.record('t', { message: '' });
    const late = createServer((request, response) => {
      request.resume();
      response.end('{}');
    }).listen(port, '127.0.0.1');
    await recording;
    late.closeAllConnections();
    late.close();
  });

  it('has only so much time: silent, silent after its headers, or dripping', async () => {
    const drips: NodeJS.Timeout[] = [];
    const silences: Answer[] = [
      () => undefined,
      (_request, response) => void response.writeHead(200).write('{'),
      (_request, response) => void drips.push(setInterval(() => response.write(' '), 20)),
    ];
    for (const silence of silences) {
      answer = silence;
      const failed = await client({ callMs: 150, attempts: 1 })
        .next(0)
        .catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(ProxyUnreachable);
      expect(failed).toMatchObject({ message: `${url} did not answer within 0.15 s` });
    }
    drips.forEach(clearInterval);
  });

  it('that accepts and stays silent is given up too', async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await expect(client({ url: address, callMs: 100 }).next(0)).rejects.toThrow(/did not answer within 0.1 s/u);
    expect(sockets.length).toBeGreaterThanOrEqual(1);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('whose answer is no HTTP is unreachable', async () => {
    const odd = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')).listen(0, '127.0.0.1');
    await once(odd, 'listening');
    const address = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
    await expect(client({ url: address }).next(0)).rejects.toBeInstanceOf(ProxyUnreachable);
    odd.close();
  });

  it('that closes a connection that was idle is asked again; record has a connection of its own', async () => {
    const ports: (number | undefined)[] = [];
    answer = (request, response) => {
      ports.push(request.socket.remotePort);
      response.end('{}');
    };
    const proxy = client();
    for (let count = 0; count < 6; count += 1) await proxy.claim();
    const kept = new Set(ports.splice(0));
    // One may still be busy with the end of its answer.
    expect(kept.size).toBeLessThanOrEqual(2);
    for (let count = 0; count < 3; count += 1) await proxy.record('t', { message: '' });
    expect(new Set(ports).size).toBe(3);
    expect(ports.some((port) => kept.has(port))).toBe(false);
    server.closeIdleConnections();
    await proxy.claim();
  });
});

describe('a caller who does not wait', () => {
  it('gets its reason, and nothing is left on its signal', async () => {
    const asked = Promise.withResolvers<undefined>();
    answer = () => asked.resolve(undefined);
    const abort = new AbortController();
    const asking = client().next(0, { signal: abort.signal });
    await asked.promise;
    abort.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    await expect(client().next(0, { signal: abort.signal })).rejects.toThrow('enough');
    const used = new AbortController();
    answer = says(200, '{}');
    await client().claim({ signal: used.signal });
    expect(getEventListeners(used.signal, 'abort')).toHaveLength(0);
  });

  it('is heard between two tries', async () => {
    answer = (request) => request.socket.destroy();
    const abort = new AbortController();
    const asking = client({ retryMs: 60_000 }).next(0, { signal: abort.signal });
    await once(server, 'request');
    abort.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
  });
});

describe('its address', () => {
  it.each(['ftp://a', 'nonsense', ''])('cannot be %p', (bad) => {
    expect(() => new ProxyClient({ url: bad })).toThrow(TypeError);
  });

  it('is never told with a password, nor is the token', async () => {
    const proxy = client({ url: url.replace('http://', 'http://me:secret@') });
    answer = (request) => request.socket.destroy();
    const failed = await proxy.next(0).catch((error: unknown) => error);
    expect(String(failed)).toContain(url);
    expect(String(failed)).not.toContain('secret');
    expect(JSON.stringify(proxy)).not.toContain('a-token');
  });
});
