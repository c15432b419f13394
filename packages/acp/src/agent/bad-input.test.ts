import { jest } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { say } from '@parley/harness';
import { closeLabs, newFolder, RawLab } from './agent-lab.test-helper.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

const cwd = tmpdir();
const stdio = { name: 'files', command: 'server', args: [], env: [] };

describe('wrong parameters', () => {
  it.each<[string, unknown, string]>([
    ['session/new', undefined, ''],
    ['session/new', {}, 'cwd'],
    ['session/new', { cwd: 3, mcpServers: [] }, 'cwd'],
    ['session/new', { cwd: 'here', mcpServers: [] }, 'cwd'],
    ['session/new', { cwd: '/does/not/exist', mcpServers: [] }, 'cwd'],
    ['session/new', { cwd: '/a\0b', mcpServers: [] }, 'cwd'],
    ['session/new', { cwd: import.meta.filename, mcpServers: [] }, 'cwd'],
    ['session/new', { cwd, mcpServers: {} }, 'mcpServers'],
    ['session/new', { cwd, mcpServers: [3] }, 'mcpServers[0]'],
    ['session/new', { cwd, mcpServers: [stdio, { ...stdio, command: 3 }] }, 'mcpServers[1].command'],
    ['session/new', { cwd, mcpServers: [stdio, stdio] }, 'mcpServers[1].name'],
    ['session/new', { cwd, mcpServers: [{ ...stdio, env: [{ name: 'A' }] }] }, 'mcpServers[0].env[0].value'],
    [
      'session/new',
      { cwd, mcpServers: [{ type: 'sse', name: 'x', url: 'http://a', headers: [] }] },
      'mcpServers[0].type',
    ],
    [
      'session/new',
      { cwd, mcpServers: [{ type: 'http', name: 'x', url: 'ftp://a', headers: [] }] },
      'mcpServers[0].url',
    ],
    ['session/new', { cwd, mcpServers: [], additionalDirectories: ['/x'] }, 'additionalDirectories'],
    ['session/load', { cwd, mcpServers: [] }, 'sessionId'],
    ['session/resume', { sessionId: 1, cwd }, 'sessionId'],
    ['session/close', {}, 'sessionId'],
    ['session/prompt', { sessionId: 's' }, 'prompt'],
    ['session/prompt', { sessionId: 's', prompt: 'text' }, 'prompt'],
    ['session/set_mode', { sessionId: 's' }, 'modeId'],
    ['authenticate', {}, 'methodId'],
  ])('%s %j: -32602 that names %j', async (method, params, path) => {
    const lab = new RawLab();
    await lab.begin();
    const { error } = await lab.request('x', method, params);
    expect(error).toMatchObject({ code: -32602, data: { issues: [{ path }] } });
  });

  it.each<[string, unknown, string]>([
    ['an image', { type: 'image', data: '', mimeType: 'image/png' }, 'prompt[1].type'],
    ['audio', { type: 'audio', data: '', mimeType: 'audio/wav' }, 'prompt[1].type'],
    ['a blob', { type: 'resource', resource: { uri: 'file:///a', blob: '' } }, 'prompt[1].resource.text'],
    ['text without text', { type: 'text' }, 'prompt[1].text'],
    ['a link without an address', { type: 'resource_link', name: 'a' }, 'prompt[1].uri'],
    ['no block', null, 'prompt[1].type'],
  ])('of a prompt with %s', async (_name, block, path) => {
    const lab = new RawLab();
    const sessionId = await lab.begin();
    const prompt = [{ type: 'text', text: 'a' }, block];
    const { error } = await lab.request('x', 'session/prompt', { sessionId, prompt });
    expect(error).toMatchObject({ code: -32602, data: { issues: [{ path }] } });
  });

  it('never say what the wrong value was', async () => {
    const lab = new RawLab();
    await lab.begin();
    const server = {
      type: 'http',
      name: 'x',
      url: 'nonsense:secret',
      headers: [{ name: 'Authorization', value: ['secret'] }],
    };
    const answer = await lab.request('x', 'session/new', { cwd, mcpServers: [server] });
    expect(answer.error?.code).toBe(-32602);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('of a folder that cannot be entered', async () => {
    const lab = new RawLab();
    await lab.begin();
    const file = join(await newFolder(), 'file');
    await writeFile(file, '');
    const { error } = await lab.request('x', 'session/new', { cwd: join(file, 'below'), mcpServers: [] });
    expect(error).toMatchObject({ code: -32602, data: { issues: [{ path: 'cwd' }] } });
  });
});

describe('what is not there', () => {
  it.each([
    ['session/prompt', { prompt: [{ type: 'text', text: 'a' }] }],
    ['session/load', { cwd, mcpServers: [] }],
    ['session/resume', { cwd }],
    ['session/close', {}],
    ['session/set_mode', { modeId: 'a' }],
    ['session/set_config_option', { configId: 'a', value: 'b' }],
  ])('%s of an unknown session: -32002', async (method, params) => {
    const lab = new RawLab();
    await lab.begin();
    for (const sessionId of ['nobody', '../../etc/passwd', '', '.', 'x'.repeat(10_000)]) {
      const { error } = await lab.request(`x${sessionId.length}`, method, { sessionId, ...params });
      expect(error).toMatchObject({ code: -32002, data: { sessionId } });
    }
  });

  it('an unknown method: -32601', async () => {
    const lab = new RawLab();
    await lab.begin();
    expect((await lab.request('x', 'session/fly', {})).error?.code).toBe(-32601);
  });

  it('an unknown notification and an answer that nobody asked for are nothing', async () => {
    const lab = new RawLab({ steps: [[say('ok')]] });
    const sessionId = await lab.begin();
    const before = lab.messages.length;
    lab.write({ method: 'session/fly', params: {} }, { id: 77, result: {} });
    const { result } = await lab.request('p', 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'a' }] });
    expect(result).toEqual({ stopReason: 'end_turn' });
    expect(lab.messages.slice(before).every(({ method, id }) => method === 'session/update' || id === 'p')).toBe(true);
  });
});

describe('lines', () => {
  it('that are no JSON are answered -32700, and the next one is heard', async () => {
    const lab = new RawLab();
    await lab.begin();
    lab.toAgent.write('{"jsonrpc":"2.0","id":"bro\n');
    expect((await lab.find(({ id }) => id === null)).error?.code).toBe(-32700);
    expect((await lab.request('l', 'session/list', {})).result).toEqual({ sessions: [] });
  });

  it.each(['[]', '3', '"text"', 'null', '{"jsonrpc":"1.0","id":1,"method":"initialize"}'])(
    'that are no request (%s) are answered -32600',
    async (line) => {
      const lab = new RawLab();
      await lab.begin();
      lab.toAgent.write(`${line}\n`);
      expect((await lab.find(({ id }) => id === null)).error?.code).toBe(-32600);
    },
  );

  it('may come byte by byte, with CRLF and empty lines between', async () => {
    const lab = new RawLab();
    await lab.begin();
    const line = `\r\n${JSON.stringify({ jsonrpc: '2.0', id: 'ä', method: 'session/list', params: {} })}\r\n`;
    for (const byte of Buffer.from(line)) lab.toAgent.write(Buffer.from([byte]));
    expect((await lab.answerTo('ä')).result).toEqual({ sessions: [] });
  });

  it('that are too long end the connection, told in the log', async () => {
    const warnings: string[] = [];
    const lab = new RawLab({ maxMessageBytes: 10_000, logger: { warn: (message) => void warnings.push(message) } });
    await lab.begin();
    lab.toAgent.write('x'.repeat(20_000));
    await lab.server.closed;
    expect(warnings.join()).toContain('10000 byte');
  });

  it('of a client that asks without reading are left unread, and all answered when it reads', async () => {
    const lab = new RawLab();
    await lab.begin();
    lab.fromAgent.pause();
    const count = 20_000;
    let written = 0;
    const line = (at: number): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id: at, method: 'session/list', params: {} })}\n`;
    for (let turn = 0; turn < 200; turn++) {
      await new Promise(setImmediate);
      while (written < count && !lab.toAgent.writableNeedDrain) {
        lab.toAgent.write(line(written));
        written += 1;
      }
    }
    expect(written).toBeLessThan(10_000);
    lab.fromAgent.resume();
    await lab.answerTo(written - 1);
    expect(lab.messages.filter(({ id }) => typeof id === 'number')).toHaveLength(written);
  });
});

describe('failures of the host', () => {
  it('are told without their text, which may hold anything', async () => {
    const warnings: unknown[] = [];
    const lab = new RawLab({
      makeAgent: () => {
        throw new Error('password is 1234');
      },
      logger: { warn: (...args) => void warnings.push(args) },
    });
    await lab.request('init', 'initialize', { protocolVersion: 1 });
    const { error } = await lab.request('n', 'session/new', { cwd, mcpServers: [] });
    expect(error).toEqual({ code: -32603, message: 'Internal error' });
    expect(JSON.stringify(warnings)).toContain('1234');
  });
});
