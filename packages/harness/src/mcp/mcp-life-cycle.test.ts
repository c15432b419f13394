import { jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { callTool, isRunning, McpFixture, rawServer, sdkServer, until } from './mcp-fixture.test-helper.js';

// Processes start slowly on a machine that is busy.
jest.setTimeout(30_000);

const signal = new AbortController().signal;
let fixture: McpFixture;

beforeEach(() => {
  fixture = new McpFixture();
});

afterEach(() => fixture.close());

describe('a server that cannot be started', () => {
  it.each([
    ['whose program does not exist', { command: '/no/such/program' }, 'ENOENT'],
    [
      'whose folder does not exist',
      { ...rawServer('plain'), cwd: '/no/such/folder' },
      '/no/such/folder does not exist',
    ],
    ['that exits at once', rawServer('exits'), 'exit code 7'],
    ['that never answers', rawServer('mute', { connectTimeoutMs: 300 }), 'did not answer within 300 ms'],
    ['that is no MCP server', rawServer('only-garbage'), 'no MCP messages'],
    ['that nobody listens for', { url: 'http://127.0.0.1:9/mcp' }, 'fetch failed'],
  ])('%s is left out with a warning, and the others work', async (_what, config, reason) => {
    const handler = await fixture.started({ broken: config, calc: sdkServer() });
    expect(handler.tools.every((tool) => tool.name.startsWith('calc__'))).toBe(true);
    expect((await callTool(handler, 'calc__lines')).data).toBe('one\ntwo');
    expect(fixture.logger.warnings).toHaveLength(1);
    expect(String(fixture.logger.warnings[0]?.details['reason'])).toContain(reason);
    expect(handler.manager.services).toMatchObject([
      { service: 'broken', connected: false, tools: 0, error: expect.stringContaining(reason) as string },
      { service: 'calc', connected: true },
    ]);
  });

  it('is shown with the end of its standard error, bounded and without secrets', async () => {
    const env = { SECRET_TOKEN: 'hunter2-hunter2' };
    await fixture.started({ broken: rawServer('exits', { env }) });
    const stderr = String(fixture.logger.warnings[0]?.details['stderr']);
    expect(stderr).toContain('last words');
    expect(stderr.length).toBeLessThanOrEqual(2_000);
    expect(JSON.stringify(fixture.logger.warnings)).not.toContain('hunter2');
  });

  it('is ended: one that hangs in its handshake leaves no process', async () => {
    const log = `${await fixture.folder()}/messages`;
    const env = { MESSAGE_LOG: log };
    const before = await childrenOfThis();
    await fixture.started({ mute: rawServer('mute', { connectTimeoutMs: 500, env }) });
    expect(await childrenOfThis()).toEqual(before);
  });

  it('does not hold up a start that is aborted', async () => {
    const controller = new AbortController();
    const handler = fixture.handler({ mute: rawServer('mute') });
    const before = await childrenOfThis();
    const start = handler.start(controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(start).rejects.toThrow('enough');
    expect(await childrenOfThis()).toEqual(before);
  });
});

describe('the program of a server', () => {
  it('may write other lines to its standard output', async () => {
    const handler = await fixture.started({ raw: rawServer('garbage') });
    expect((await callTool(handler, 'raw__echo', { x: 1 })).data).toBe('{"x":1}');
  });

  it('gets a few harmless variables and those of its configuration, no others', async () => {
    const env = { PATH: '/usr/bin', LC_ALL: 'C', AWS_SECRET_ACCESS_KEY: 'x', KUBECONFIG: 'y', SHELL: '() { :; }' };
    const handler = await fixture.started({ raw: rawServer('plain', { env: { OWN_KEY: 'z' } }) }, { env });
    const seen = JSON.parse(String((await callTool(handler, 'raw__env')).data)) as object;
    expect(seen).toEqual({ PATH: '/usr/bin', LC_ALL: 'C', OWN_KEY: 'z' });
  });

  it.each([
    ['plain', 'that ends with its input'],
    ['stubborn', 'that ignores the end of its input and SIGTERM'],
  ])('is ended with its group when the handler stops: %s, %s', async (mode) => {
    const handler = await fixture.started({ raw: rawServer(mode) }, { stopGraceMs: 200 });
    const server = Number((await callTool(handler, 'raw__pid')).data);
    const grandchild = Number((await callTool(handler, 'raw__grandchild')).data);
    expect(await isRunning(server)).toBe(true);
    expect(await isRunning(grandchild)).toBe(true);
    await handler.stop();
    expect(await isRunning(server)).toBe(false);
    expect(await isRunning(grandchild)).toBe(false);
  });

  it('leaves nothing behind when it dies by itself', async () => {
    const handler = await fixture.started({ raw: rawServer('plain') }, { stopGraceMs: 200 });
    const grandchild = Number((await callTool(handler, 'raw__grandchild')).data);
    process.kill(Number((await callTool(handler, 'raw__pid')).data), 'SIGKILL');
    await until(async () => !(await isRunning(grandchild)));
  });

  it('does not keep listeners on this process after it was stopped', async () => {
    const before = process.listenerCount('exit');
    const handler = await fixture.started({ a: rawServer('plain'), b: rawServer('plain') });
    expect(process.listenerCount('exit')).toBe(before + 1);
    await handler.stop();
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('does not keep listeners on the signal of the start', async () => {
    const handler = fixture.handler({ raw: rawServer('plain') });
    await handler.start(signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

async function childrenOfThis(): Promise<string> {
  return readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
}
