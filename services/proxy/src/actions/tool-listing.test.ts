import { Refusal } from '../domain/facts.js';
import { sendResult, type Script } from './env-server.test-helper.js';
import { call, never, ToolStage } from './tool-caller.test-helper.js';

const stage = new ToolStage();
afterEach(() => stage.end());

const onList =
  (answer: (request: Parameters<Script>[0], response: Parameters<Script>[1]) => void): Script =>
  (request, response) => {
    if (request.method !== 'tools/list') return false;
    answer(request, response);
    return true;
  };

/** A script that holds back the listing until `release` is called. */
function heldListing(): { readonly script: Script; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const script: Script = async (request) => {
    if (request.method === 'tools/list') await promise;
    return false;
  };
  return {
    script,
    release: () => {
      resolve(undefined);
    },
  };
}

describe('the listing', () => {
  it('has the tools of all servers, in the order of their registration', async () => {
    const [one, two] = [await stage.server('one'), await stage.server('two')];
    one.tools = [
      { name: 'a', description: 'A.', inputSchema: { type: 'object', x: null }, annotations: {} },
      { name: 'b' },
    ];
    two.tools = [{ name: 'c', description: null, inputSchema: null }];
    const { script, release } = heldListing();
    one.script = script;
    const listing = stage.turn([one.registered(), two.registered()], { hasShell: true }).list(never);
    await two.arrived('tools/list');
    release();
    expect(await listing).toEqual([
      { name: 'a', description: 'A.', inputSchema: { type: 'object', x: null }, server: 'one' },
      { name: 'b', server: 'one' },
      { name: 'c', server: 'two' },
    ]);
  });

  it('follows all pages', async () => {
    const server = await stage.server();
    server.script = onList((request, response) => {
      const page = Number(request.params.cursor ?? 0);
      sendResult(response, request, {
        tools: [{ name: `t${String(page)}` }],
        nextCursor: page < 4 ? String(page + 1) : '',
      });
    });
    const tools = await stage.turn([server.registered()]).list(never);
    expect(tools.map(({ name }) => name)).toEqual(['t0', 't1', 't2', 't3', 't4']);
    expect(server.of('tools/list').map(({ body }) => JSON.parse(body).params)).toEqual([
      {},
      ...['1', '2', '3', '4'].map((cursor) => ({ cursor })),
    ]);
  });

  it('ends where a cursor comes again, and where pages never end', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = onList((request, response) => {
      sendResult(response, request, { tools: [], nextCursor: request.params.cursor === 'a' ? 'b' : 'a' });
    });
    await expect(turn.list(never)).rejects.toThrow(
      new Refusal(502, "env server 'calc': tools/list: the server gave the same cursor twice"),
    );
    expect(server.of('tools/list')).toHaveLength(3);
    let page = 0;
    server.script = onList((request, response) => {
      page += 1;
      sendResult(response, request, { tools: [], nextCursor: `c${String(page)}` });
    });
    await expect(turn.list(never)).rejects.toThrow('tools/list: more than 1000 pages or 10000 tools');
    expect(page).toBe(1000);
  }, 30_000);

  it('is made once, for all who ask and for the time after', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    const [one, two] = await Promise.all([turn.list(never), turn.list(never)]);
    expect(one).toBe(two);
    expect(await turn.list(never)).toBe(one);
    expect(server.of('tools/list')).toHaveLength(1);
  });

  it('is not kept when it failed', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = onList((_request, response) => response.writeHead(500).end('the list is broken'));
    await expect(turn.list(never)).rejects.toMatchObject({
      status: 502,
      message: `env server 'calc': tools/list: HTTP 500 from ${server.origin}/mcp: the list is broken`,
    });
    server.script = () => false;
    expect(await turn.list(never)).toHaveLength(1);
  });

  it('goes on for others when one of those who asked goes away', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    const { script, release } = heldListing();
    server.script = script;
    const gone = new AbortController();
    const [leaving, staying] = [turn.list(gone.signal), turn.list(never)];
    await server.arrived('tools/list');
    gone.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    release();
    expect(await staying).toHaveLength(1);
    expect(server.of('tools/list')).toHaveLength(1);
  });

  it.each([
    [{ tools: 5 }, 'tools is not a list'],
    [{ tools: [5] }, 'a tool is not an object'],
    [{ tools: [{}] }, 'a tool has no string name'],
    [{ tools: [{ name: 'a', description: 5 }] }, "a tool's description is not a string"],
    [{ tools: [{ name: 'a', inputSchema: [] }] }, "a tool's inputSchema is not an object"],
    [{ tools: [], nextCursor: 5 }, 'nextCursor is not a string'],
  ])('cannot be made of %j', async (result, why) => {
    const server = await stage.server();
    server.script = onList((request, response) => {
      sendResult(response, request, result);
    });
    await expect(stage.turn([server.registered()]).list(never)).rejects.toThrow(
      new Refusal(502, `env server 'calc': tools/list: unreadable result: ${why}`),
    );
  });

  it('gives names and schemas that JSON can carry', async () => {
    const server = await stage.server();
    server.script = onList((request, response) => {
      const tool = '{"name":"a","description":"\\ud83d","inputSchema":{"x":NaN}}';
      response.setHeader('content-type', 'application/json');
      response.end(`{"id":${String(request.id)},"result":{"tools":[${tool}]}}`);
    });
    expect(await stage.turn([server.registered()]).list(never)).toEqual([
      { name: 'a', description: '\ufffd', inputSchema: { x: null }, server: 'calc' },
    ]);
  });
});

describe('a name that is offered twice', () => {
  it.each([
    ['two servers', [{ name: 'x' }], [{ name: 'y' }, { name: 'x' }], "tool 'x' is offered by both 'one' and 'two'"],
    ['one server', [{ name: 'x' }, { name: 'x' }], [], "tool 'x' is offered by both 'one' and 'one'"],
    ['a server and the shell', [], [{ name: 'bash' }], "tool 'bash' is offered by both 'the proxy' and 'two'"],
  ])('by %s is refused', async (_by, ofOne, ofTwo, sentence) => {
    const [one, two] = [await stage.server('one'), await stage.server('two')];
    one.tools = ofOne;
    two.tools = ofTwo;
    const listing = stage.turn([one.registered(), two.registered()], { hasShell: true }).list(never);
    await expect(listing).rejects.toMatchObject({ name: 'Refusal', status: 409, message: sentence });
  });

  it('is no matter for bash where there is no shell', async () => {
    const server = await stage.server();
    server.tools = [{ name: 'bash' }];
    expect(await stage.turn([server.registered()]).list(never)).toEqual([{ name: 'bash', server: 'calc' }]);
  });
});

describe('the time of a listing', () => {
  it('is one for all servers, and names the first that is not done', async () => {
    const dead = [await stage.silent('dead'), await stage.silent('dead too')];
    const turn = stage.turn([(await stage.server()).registered(), ...dead], { listTimeoutMs: 400 });
    const startedAt = performance.now();
    await expect(turn.list(never)).rejects.toMatchObject({
      status: 502,
      message: "env server 'dead' didn't list its tools within 0.4s",
    });
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('is over at once when one server fails', async () => {
    const turn = stage.turn([await stage.silent(), { name: 'gone', url: 'http://127.0.0.1:1/mcp', headers: {} }]);
    await expect(turn.list(never)).rejects.toMatchObject({
      status: 502,
      message: expect.stringMatching(/^env server 'gone': .*ECONNREFUSED/u),
    });
  });

  it('ends with its turn', async () => {
    const turn = stage.turn([await stage.silent()]);
    const listing = turn.list(never);
    const closing = turn.close();
    await expect(listing).rejects.toThrow('the turn is over');
    await closing;
  });

  it('does not hold up the calls to another server', async () => {
    const server = await stage.server();
    const turn = stage.turn([await stage.silent(), server.registered()]);
    const listing = turn.list(never).catch((error: unknown) => error);
    expect((await call(turn, { a: 1 })).text).toBe('{"a":1}');
    await turn.close();
    await listing;
  });
});

describe('closing', () => {
  it('ends a call that runs, and deletes the session', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = (request) => request.method === 'tools/call';
    const calling = call(turn);
    await server.arrived('tools/call');
    await turn.close();
    expect((await calling).text).toBe('error: ToolSessionError: the turn is over');
    expect(server.of('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-1']);
    expect((await call(turn)).text).toBe('error: ToolSessionError: the turn is over');
    await expect(turn.list(never)).rejects.toMatchObject({ status: 502 });
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('deletes a session that was given but did not open', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = (request) => request.method === 'notifications/initialized';
    const calling = call(turn);
    await server.arrived('notifications/initialized');
    await turn.close();
    expect((await calling).result.isError).toBe(true);
    expect(server.of('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['session-1']);
  });

  it('waits no longer than the time for it', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()], { closeTimeoutMs: 200 });
    await call(turn);
    server.script = (_request, _response, { http }) => http === 'DELETE';
    const startedAt = performance.now();
    await Promise.all([turn.close(), turn.close()]);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(server.of('DELETE')).toHaveLength(1);
  });

  it('of the caller closes every turn', async () => {
    const server = await stage.server();
    const caller = stage.caller();
    const turns = [1, 2].map(() => caller.openTurn([server.registered()], { hasShell: true }));
    await Promise.all(turns.map((turn) => call(turn)));
    await caller.close();
    expect(server.of('DELETE')).toHaveLength(2);
  });
});
