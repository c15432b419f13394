import { startProxy, stopProxies, type TestProxy } from '../../proxy.test-helper.js';

afterEach(stopProxies);

const refused = async (proxy: TestProxy, path: string, body: object, text: string, status = 400): Promise<void> => {
  const answer = await proxy.post(path, body);
  expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
    status,
    text,
    'text/plain; charset=utf-8',
  ]);
};

describe('agent-config', () => {
  const PATH = '/ext/agent-config';

  it('shows only what was ever set, a null too', async () => {
    const proxy = await startProxy();
    expect((await proxy.ask(PATH)).json).toEqual({ config: {} });
    expect((await proxy.post(PATH, { system_prompt: 'You are terse.' })).text).toBe('{"status":"updated"}');
    await proxy.post(PATH, { name: 'solver', description: 'Plays', role: 'alice', timeout_seconds: '30' });
    await proxy.post(PATH, { role: null });
    expect((await proxy.ask(PATH)).json).toEqual({
      config: {
        system_prompt: 'You are terse.',
        name: 'solver',
        description: 'Plays',
        role: null,
        timeout_seconds: 30,
      },
    });
  });

  it('takes all of an update or nothing', async () => {
    const proxy = await startProxy();
    const cases: readonly (readonly [object, string])[] = [
      [{ model: 'm' }, 'model: is not a known field'],
      [{ timeout_seconds: 'abc' }, 'timeout_seconds: must be an integer'],
      [{ timeout_seconds: null }, 'timeout_seconds: must be an integer'],
      [{ name: '  ' }, 'name must be a non-empty string'],
      [{ name: null }, 'name must be a non-empty string'],
      [{ description: '' }, 'description must be a non-empty string'],
      [{ role: 5 }, 'role: must be a string'],
    ];
    for (const [body, text] of cases) await refused(proxy, PATH, { system_prompt: 'no', ...body }, text);
    expect((await proxy.ask(PATH)).json).toEqual({ config: {} });
  });

  it('shows on the card at once', async () => {
    const proxy = await startProxy();
    await proxy.post(PATH, { name: 'solver', description: 'Plays the solver' });
    const card = (await proxy.ask('/.well-known/agent.json')).json;
    expect(card).toMatchObject({ name: 'solver', description: 'Plays the solver' });
  });
});

describe('mcp-config', () => {
  const PATH = '/ext/mcp-config';

  it('adds a server, and never shows the value of a header', async () => {
    const proxy = await startProxy();
    const added = await proxy.post(PATH, { url: ' http://x/mcp ', name: 'calc', headers: { 'X-Key': 'hush' } });
    expect(added.text).toBe('{"status":"added","name":"calc","url":"http://x/mcp"}');
    await proxy.post(PATH, { url: 'http://y/mcp', name: 'other', headers: {} });
    expect((await proxy.ask(PATH)).json).toEqual({
      mcp_servers: {
        calc: { url: 'http://x/mcp', has_headers: true },
        other: { url: 'http://y/mcp', has_headers: false },
      },
    });
  });

  it('makes a name where none is given', async () => {
    const proxy = await startProxy();
    for (const [at, name] of [undefined, null, ''].entries()) {
      const { json } = await proxy.post(PATH, { url: `http://x/${String(at)}`, name, headers: null });
      expect((json as { name: string }).name).toMatch(/^mcp_[0-9a-f]{8}$/);
    }
  });

  it('refuses what is taken', async () => {
    const proxy = await startProxy();
    await proxy.post(PATH, { url: 'http://x/mcp', name: 'calc' });
    await refused(
      proxy,
      PATH,
      { url: 'http://x/mcp ', name: 'b' },
      "MCP URL 'http://x/mcp' already registered as 'calc'",
      409,
    );
    await refused(proxy, PATH, { url: 'http://y/mcp', name: 'calc' }, "MCP name 'calc' is already registered", 409);
  });

  it('refuses what is malformed, and addresses and headers that nothing could be sent to', async () => {
    const proxy = await startProxy();
    const url = 'http://x/mcp';
    const cases: readonly (readonly [object, string])[] = [
      [{}, "missing required fields: ['url']"],
      [{ url: '  ' }, 'url must not be empty'],
      [{ url: 5 }, 'url: must be a string'],
      [{ url, headers: { a: 1 } }, 'headers.a: must be a string'],
      [{ url, headers: [] }, 'headers: must be an object'],
      [{ url, transport: 'sse' }, 'transport: is not a known field'],
      [{ url, name: 5 }, 'name: must be a string'],
      [{ url: 'http://[::1/mcp' }, 'url: must be an absolute http or https address'],
      [{ url: 'file:///etc/passwd' }, 'url: must be an absolute http or https address'],
      [{ url: 'x' }, 'url: must be an absolute http or https address'],
      [{ url, headers: { 'X-A': 'é' } }, 'headers.X-A: cannot be sent as the value of a header'],
      [{ url, headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers.X-A: cannot be sent as the value of a header'],
      [{ url, headers: { 'a b': 'c' } }, 'headers: have a name that no header can have'],
    ];
    for (const [body, text] of cases) await refused(proxy, PATH, body, text);
  });

  it('forgets a server on request', async () => {
    const proxy = await startProxy();
    await proxy.post(PATH, { url: 'http://x/mcp', name: 'calc' });
    const removed = await proxy.ask(`${PATH}?name=calc`, { method: 'DELETE' });
    expect([removed.status, removed.json]).toEqual([200, { status: 'removed', name: 'calc' }]);
    const again = await proxy.ask(`${PATH}?name=calc`, { method: 'DELETE' });
    expect([again.status, again.text]).toEqual([404, "MCP name 'calc' is not registered"]);
    const unnamed = await proxy.ask(PATH, { method: 'DELETE' });
    expect([unnamed.status, unnamed.text]).toEqual([400, "missing required fields: ['name']"]);
    expect((await proxy.ask(PATH)).json).toEqual({ mcp_servers: {} });
    expect((await proxy.post(PATH, { url: 'http://x/mcp', name: 'calc' })).status).toBe(200);
  });
});

it('reads of a configuration take no fields', async () => {
  const proxy = await startProxy();
  for (const [path, name] of [
    ['/ext/agent-config', 'get'],
    ['/ext/mcp-config', 'list'],
    ['/ext/skill-config', 'list'],
  ] as const) {
    const answer = await proxy.ask(`${path}?name=calc`);
    expect([answer.status, answer.text]).toEqual([400, `${name} does not accept request fields`]);
  }
});

describe('the control token', () => {
  const CONTROL = 'ctl_0123456789abcdefghij';

  it('is needed for configuration and trajectories, and for nothing else', async () => {
    const proxy = await startProxy({ env: { PROXY_CONTROL_TOKEN: CONTROL } });
    const asks = [
      ['GET', '/ext/agent-config'],
      ['POST', '/ext/agent-config'],
      ['GET', '/ext/mcp-config'],
      ['POST', '/ext/mcp-config'],
      ['DELETE', '/ext/mcp-config?name=x'],
      ['GET', '/ext/skill-config'],
      ['POST', '/ext/skill-config'],
      ['POST', '/ext/trajectory'],
    ] as const;
    for (const [method, path] of asks) {
      for (const authorization of [undefined, 'Bearer wrong', `Basic ${CONTROL}`, CONTROL]) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await proxy.ask(path, { method, headers, body: method === 'POST' ? 'not json' : undefined });
        expect([path, answer.status, answer.text, answer.headers['www-authenticate']]).toEqual([
          path,
          401,
          'the control token is missing or wrong',
          'Bearer',
        ]);
      }
      const right = await proxy.ask(path, { method, headers: { authorization: `Bearer ${CONTROL}` } });
      expect(right.status).not.toBe(401);
    }
    expect((await proxy.op('claim')).status).toBe(200);
    expect((await proxy.op('next')).status).toBe(200);
    expect((await proxy.ask('/.well-known/agent.json')).status).toBe(200);
  });
});
