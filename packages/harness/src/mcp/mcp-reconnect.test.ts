import { jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { callTool, isRunning, McpFixture, rawServer, sdkServer, until } from './mcp-fixture.test-helper.js';

// Processes start slowly on a machine that is busy.
jest.setTimeout(30_000);

const QUICK = { initialDelayMs: 20, coolDownMs: 50 };
let fixture: McpFixture;

beforeEach(() => {
  fixture = new McpFixture();
});

afterEach(() => fixture.close());

describe('a server on standard streams that died', () => {
  it('in a call gives an error result that says the outcome is unknown; the next call works', async () => {
    const handler = await fixture.started({ raw: rawServer('plain') });
    const died = await callTool(handler, 'raw__die');
    expect(died.data).toMatchObject({ status: 'error', tool: 'raw__die' });
    expect(died.error).toMatch(/exit code 3; outcome unknown/u);
    expect((await callTool(handler, 'raw__echo', { x: 1 })).data).toBe('{"x":1}');
  });

  it('does not run a call twice that it may have carried out', async () => {
    const CALL_LOG = `${await fixture.folder()}/calls`;
    const handler = await fixture.started({ raw: rawServer('plain', { env: { CALL_LOG } }) });
    await callTool(handler, 'raw__die');
    await callTool(handler, 'raw__echo');
    expect(await readFile(CALL_LOG, 'utf8')).toBe('die\necho\n');
  });

  it('between two calls is started again once for all calls that come at the same time', async () => {
    const MESSAGE_LOG = `${await fixture.folder()}/messages`;
    const handler = await fixture.started({ raw: rawServer('plain', { env: { MESSAGE_LOG } }) });
    const pid = Number((await callTool(handler, 'raw__pid')).data);
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await isRunning(pid)) && !handler.manager.services.every((service) => service.connected));
    const outcomes = await Promise.all([1, 2, 3, 4].map((x) => callTool(handler, 'raw__echo', { x })));
    expect(outcomes.map((outcome) => outcome.data)).toEqual(['{"x":1}', '{"x":2}', '{"x":3}', '{"x":4}']);
    const messages = await readFile(MESSAGE_LOG, 'utf8');
    expect(messages.match(/^initialize$/gmu)).toHaveLength(2);
  });

  it('and cannot be started again fails calls at once for a while, then is tried again', async () => {
    let now = 0;
    const config = { ...rawServer('plain'), connectTimeoutMs: 2_000 };
    const reconnect = { attempts: 2, initialDelayMs: 5, coolDownMs: 1_000 };
    // Its folder disappears, so that it cannot be started any more.
    const cwd = await fixture.folder();
    const handler = await fixture.started({ raw: { ...config, cwd } }, { reconnect, now: () => now });
    await rm(cwd, { recursive: true });
    await callTool(handler, 'raw__die');
    const failed = await callTool(handler, 'raw__echo');
    expect(failed.error).toMatch(/does not exist; the tool did not run/u);
    expect((await callTool(handler, 'raw__echo')).error).toContain('not tried again yet');
    await mkdir(cwd);
    expect((await callTool(handler, 'raw__echo')).error).toContain('not tried again yet');
    now = 1_000;
    expect((await callTool(handler, 'raw__echo')).data).toBe('{}');
  });

  it('is not started again after the handler was stopped', async () => {
    const handler = await fixture.started({ raw: rawServer('plain') });
    const call = callTool(handler, 'raw__slow');
    await handler.stop();
    expect((await call).error).toMatch(/outcome unknown/u);
    expect(handler.tools).toEqual([]);
  });
});

describe.each([
  ['answers as a stream', []],
  ['answers as JSON', ['--json']],
])('a server over HTTP that %s', (_how, args) => {
  it('offers tools, answers calls and ends its session when the handler stops', async () => {
    const server = await fixture.httpServer(args);
    const handler = await fixture.started({ web: server.config });
    expect((await callTool(handler, 'web__lines')).data).toBe('one\ntwo');
    expect((await callTool(handler, 'web__fails')).error).toBe('the tool said no');
    await handler.stop();
    expect(await server.control('state')).toMatchObject({ sessions: 0, deleted: 1 });
  });

  it('and has forgotten the session gets a new one, once for all calls, and each call is made again', async () => {
    const server = await fixture.httpServer(args);
    const handler = await fixture.started({ web: server.config });
    await server.control('forget');
    const outcomes = await Promise.all([1, 2, 3].map(() => callTool(handler, 'web__lines')));
    expect(outcomes.map((outcome) => outcome.data)).toEqual(['one\ntwo', 'one\ntwo', 'one\ntwo']);
    expect(await server.control('state')).toMatchObject({ initialize: 2 });
  });

  it('and is busy once answers the next call; only a read-only call is made again', async () => {
    const server = await fixture.httpServer(args);
    const handler = await fixture.started({ web: { ...server.config, effects: { table: 'read_only' } } });
    await server.control('503');
    const refused = await callTool(handler, 'web__lines');
    expect(refused.error).toMatch(/outcome unknown/u);
    expect((await callTool(handler, 'web__lines')).data).toBe('one\ntwo');
    await server.control('503');
    expect((await callTool(handler, 'web__table')).data).toBe('{"k":[1,2]}');
  });

  it('is found again on the same port after it was replaced', async () => {
    const server = await fixture.httpServer(args);
    const handler = await fixture.started({ web: server.config }, { reconnect: QUICK });
    await server.end();
    const gone = await callTool(handler, 'web__lines');
    expect(gone.error).toMatch(/not available: .*the tool did not run/u);
    await fixture.httpServer(args, server.port);
    await until(async () => (await callTool(handler, 'web__lines')).data === 'one\ntwo');
  });
});

describe('a call over HTTP', () => {
  it('whose answer ends without a result fails soon, not at its deadline', async () => {
    const server = await fixture.httpServer();
    const handler = await fixture.started({ web: { ...server.config, timeoutMs: 60_000 } });
    await server.control('swallow');
    const outcome = await callTool(handler, 'web__lines');
    expect(outcome.error).toMatch(/outcome unknown/u);
    expect((await callTool(handler, 'web__lines')).data).toBe('one\ntwo');
  });

  it('whose server dies fails soon, not at its deadline', async () => {
    const server = await fixture.httpServer();
    const handler = await fixture.started({ web: { ...server.config, timeoutMs: 60_000 } }, { reconnect: QUICK });
    expect((await callTool(handler, 'web__die')).error).toMatch(/outcome unknown/u);
  });

  it('that is refused does not end those that run', async () => {
    const server = await fixture.httpServer();
    const handler = await fixture.started({ web: { ...server.config, timeoutMs: 1_500 } });
    const slow = callTool(handler, 'web__slow');
    await until(async () => (await server.control('state'))['call'] === 1);
    await server.control('503');
    expect((await callTool(handler, 'web__lines')).error).toMatch(/outcome unknown/u);
    // It ends by its own deadline, and not by the loss of its connection.
    expect((await slow).error).toMatch(/did not answer within 1500 ms/u);
  });
});

describe.each([['stdio'], ['http']])('a slow call over %s', (kind) => {
  async function open(timeoutMs?: number) {
    const more = timeoutMs === undefined ? {} : { timeoutMs };
    if (kind === 'stdio') {
      const MESSAGE_LOG = `${await fixture.folder()}/messages`;
      const handler = await fixture.started({ s: rawServer('plain', { ...more, env: { MESSAGE_LOG } }) });
      const count = async (method: string) => (await readFile(MESSAGE_LOG, 'utf8')).split(method).length - 1;
      return {
        handler,
        called: async () => (await count('tools/call')) === 1,
        cancelled: async () => (await count('notifications/cancelled')) === 1,
      };
    }
    const server = await fixture.httpServer();
    const handler = await fixture.started({ s: { ...server.config, ...more } });
    return {
      handler,
      called: async () => (await server.control('state'))['call'] === 1,
      cancelled: async () => (await server.control('state'))['cancelled'] === 1,
    };
  }

  it('ends at once when it is aborted, and the server is told', async () => {
    const { handler, called, cancelled } = await open();
    const controller = new AbortController();
    const call = callTool(handler, 's__slow', {}, { signal: controller.signal });
    await until(called);
    controller.abort(new Error('stop it'));
    const begin = performance.now();
    await expect(call).rejects.toThrow('stop it');
    expect(performance.now() - begin).toBeLessThan(1_000);
    await until(cancelled);
  });

  it('ends at its deadline with an error that says the outcome is unknown, and the server is told', async () => {
    const { handler, cancelled } = await open(200);
    expect((await callTool(handler, 's__slow')).error).toBe(
      'MCP server "s" did not answer within 200 ms; outcome unknown: the tool may have run',
    );
    await until(cancelled);
  });
});

describe('many calls with one signal', () => {
  it('leave no listeners on it', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    const { signal } = new AbortController();
    for (let i = 0; i < 20; i += 1) await callTool(handler, 'calc__lines', {}, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
