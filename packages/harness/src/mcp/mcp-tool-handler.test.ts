import { jest } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent } from '../agent/index.js';
import { call, say, ScriptedModel } from '../model/scripted-model.js';
import type { ToolProgressUpdate } from '../tools/tool-progress.js';
import { ToolRuntime } from '../tools/tool-runtime.js';
import { ToolSchemaValidationMiddleware } from '../validation/index.js';
import { callTool, isRunning, McpFixture, rawServer, sdkServer } from './mcp-fixture.test-helper.js';
import { McpServerManager } from './mcp-server-manager.js';
import { McpToolHandler } from './mcp-tool-handler.js';

// Processes start slowly on a machine that is busy.
jest.setTimeout(30_000);

const signal = new AbortController().signal;
let fixture: McpFixture;

beforeEach(() => {
  fixture = new McpFixture();
});

afterEach(() => fixture.close());

const namesOf = (handler: McpToolHandler): string[] => handler.tools.map((tool) => tool.name);

describe('tools of MCP servers', () => {
  it('are offered as service__tool with their schema, side_effecting unless the configuration says otherwise', async () => {
    const handler = await fixture.started({ calc: sdkServer({ effects: { lines: 'read_only' } }) });
    expect(namesOf(handler)).toContain('calc__add');
    const add = handler.tools.find((tool) => tool.name === 'calc__add');
    expect(add).toMatchObject({ description: 'Adds', effect: 'side_effecting' });
    expect(add?.parameters).toMatchObject({ type: 'object', required: ['a', 'b'] });
    expect(handler.tools.find((tool) => tool.name === 'calc__lines')?.effect).toBe('read_only');
  });

  it('are read_only by their own word only where the configuration trusts it', async () => {
    const handler = await fixture.started({ calc: sdkServer({ trustAnnotations: true }) });
    expect(handler.tools.find((tool) => tool.name === 'calc__add')?.effect).toBe('read_only');
    expect(handler.tools.find((tool) => tool.name === 'calc__lines')?.effect).toBe('side_effecting');
  });

  it('are limited by include and exclude', async () => {
    const handler = await fixture.started({
      a: sdkServer({ include: ['add', 'lines'] }),
      b: sdkServer({ include: ['add', 'pid'], exclude: ['pid'] }),
    });
    expect(namesOf(handler)).toEqual(['a__add', 'a__lines', 'b__add']);
  });

  it('come from a configuration file, whose folder relative paths start at', async () => {
    const folder = await fixture.folder();
    const file = join(folder, 'mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { raw: { ...rawServer('plain'), cwd: '.' } } }));
    const handler = new McpToolHandler(file, { logger: fixture.logger });
    await handler.start(signal);
    const outcome = await callTool(handler, 'raw__cwd');
    await handler.stop();
    expect(outcome.data).toBe(folder);
  });

  it('cannot be called when the server is stopped, and are back after another start', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    await handler.stop();
    expect(handler.tools).toEqual([]);
    await handler.start(signal);
    expect((await callTool(handler, 'calc__add', { a: 1, b: 2 })).data).toBe('3');
  });

  it('fail the start if an effect is given for one that does not exist', async () => {
    const inFile = fixture.handler({ calc: sdkServer({ effects: { nope: 'read_only' } }) });
    await expect(inFile.start(signal)).rejects.toThrow('mcpServers.calc.effects.nope');
    const inOptions = fixture.handler({ calc: sdkServer() }, { toolEffects: { calc__nope: 'read_only' } });
    await expect(inOptions.start(signal)).rejects.toThrow('calc__nope');
    expect(inOptions.tools).toEqual([]);
  });

  it('may have an effect though their server was left out', async () => {
    const handler = await fixture.started(
      { ghost: { command: '/no/such/program', effects: { x: 'read_only' } }, calc: sdkServer() },
      { toolEffects: { ghost__x: 'read_only', calc__add: 'read_only' } },
    );
    expect(handler.tools.find((tool) => tool.name === 'calc__add')?.effect).toBe('read_only');
  });
});

describe('a manager that several handlers share', () => {
  it('connects once, and ends with the last of them', async () => {
    const manager = new McpServerManager({ mcpServers: { raw: rawServer('plain') } });
    const handlers = [new McpToolHandler(manager), new McpToolHandler(manager)] as const;
    await Promise.all(handlers.map((handler) => handler.start(signal)));
    const [pid, same] = await Promise.all(handlers.map(async (handler) => (await callTool(handler, 'raw__pid')).data));
    expect(pid).toBe(same);
    await handlers[0].stop();
    await handlers[0].stop();
    expect((await callTool(handlers[1], 'raw__pid')).data).toBe(pid);
    await handlers[1].stop();
    expect(await isRunning(Number(pid))).toBe(false);
  });
});

describe('an agent', () => {
  it('starts though a server and a tool are broken, sees a server die, and finds it again in the next run', async () => {
    const handler = fixture.handler({ bad: rawServer('bad-tools'), ghost: { command: '/no/such' }, calc: sdkServer() });
    const model = new ScriptedModel([
      say(null, call('c1', 'calc__add', { a: 1, b: 2 }), call('c2', 'calc__die')),
      say('first'),
      say(null, call('c3', 'calc__lines')),
      say('second'),
    ]);
    const agent = new Agent(model, { handlers: [handler], middlewares: [new ToolSchemaValidationMiddleware()] });
    expect((await agent.run('one')).output).toBe('first');
    expect((await agent.run('two')).output).toBe('second');
    const results = agent.messages.filter((message) => message.role === 'tool').map((message) => message.content);
    await agent.shutdown();
    expect(results[0]).toBe('3');
    expect(JSON.parse(results[1] ?? '')).toMatchObject({
      status: 'error',
      tool: 'calc__die',
      error: expect.stringContaining('outcome unknown') as string,
    });
    expect(results[2]).toBe('one\ntwo');
  });
});

describe('lists of tools', () => {
  it('are followed over all pages', async () => {
    const handler = await fixture.started({ raw: rawServer('many-pages') });
    expect(namesOf(handler)).toEqual(['raw__t0', 'raw__t1', 'raw__t2', 'raw__t3', 'raw__t4']);
    expect(fixture.logger.warnings).toEqual([]);
  });

  it('that never end are cut after a number of pages, with a warning', async () => {
    const handler = await fixture.started({ raw: rawServer('endless-pages') }, { maxPages: 5 });
    expect(namesOf(handler)).toHaveLength(5);
    expect(fixture.logger.warnings[0]?.message).toContain('does not end');
  });

  it('that never end are cut after a number of tools, with a warning', async () => {
    const handler = await fixture.started({ raw: rawServer('endless-pages') }, { maxTools: 3 });
    expect(namesOf(handler)).toHaveLength(3);
    expect(fixture.logger.warnings[0]?.message).toContain('does not end');
  });

  it('whose cursor does not move are cut at once', async () => {
    const handler = await fixture.started({ raw: rawServer('same-cursor') });
    expect(namesOf(handler)).toEqual(['raw__echo']);
    expect(fixture.logger.warnings).toHaveLength(2);
  });

  it('keep their good tools where others have a bad name or schema, each left out with a warning', async () => {
    const handler = fixture.handler({ raw: rawServer('bad-tools') });
    const runtime = new ToolRuntime({ handlers: [handler], middlewares: [new ToolSchemaValidationMiddleware()] });
    await runtime.start(signal);
    expect(runtime.definitions.map((tool) => tool.name)).toEqual(['raw__echo']);
    expect(fixture.logger.warnings.map((warning) => warning.details['tool'])).toEqual([
      '""',
      '(none)',
      '"line\\nbreak"',
      '"no-schema"',
      '"array-schema"',
      'echo',
      '(none)',
      'dangling',
    ]);
    await runtime.stop();
  });

  it('get names that providers accept: at most 64 characters, unique, the same each time', async () => {
    const first = namesOf(await fixture.started({ raw: rawServer('long-names') }));
    const second = namesOf(await fixture.started({ raw: rawServer('long-names') }));
    expect(first).toEqual(second);
    expect(new Set(first).size).toBe(6);
    for (const name of first) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
    expect(first).toContain('raw__a_b');
    expect(first).toContain('raw__gr__e');
  });

  it('that a server has changed are seen by the next run', async () => {
    const handler = fixture.handler({ raw: rawServer('list-changed') });
    const runtime = new ToolRuntime({ handlers: [handler] });
    await runtime.start(signal);
    expect(runtime.definitions.map((tool) => tool.name)).toEqual(['raw__old', 'raw__change']);
    await callTool(handler, 'raw__change');
    expect(runtime.definitions).toHaveLength(2);
    await runtime.onTask({ agentId: 'a', runId: 'r', task: 't', signal });
    expect(runtime.definitions.map((tool) => tool.name)).toEqual(['raw__new']);
    await runtime.stop();
  });
});

describe('results of MCP tools', () => {
  it('are the texts, one below the other', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    expect((await callTool(handler, 'calc__add', { a: 1, b: 2 })).data).toBe('3');
    expect((await callTool(handler, 'calc__lines')).data).toBe('one\ntwo');
  });

  it('are the structured content as JSON where there is no text', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    expect((await callTool(handler, 'calc__table')).data).toBe('{"k":[1,2]}');
  });

  it('name what is no text by kind, media type and size', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    expect((await callTool(handler, 'calc__media')).data).toBe(
      [
        '[image image/png, 20 bytes]',
        '[audio audio/wav, 20 bytes]',
        '[resource link a file:///a.txt, text/plain]',
        '[resource file:///b.txt, text/plain, 6 bytes]',
        'inside',
        '[resource file:///c.bin, 20 bytes]',
      ].join('\n'),
    );
  });

  it('are cut where they are too large', async () => {
    const handler = await fixture.started({ raw: rawServer('plain') }, { maxResultChars: 10 });
    expect((await callTool(handler, 'raw__echo', { text: 'x'.repeat(100) })).data).toMatch(/^.{10}\n\[cut: /u);
  });

  it('are errors with the text of the server where the tool failed', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    const outcome = await callTool(handler, 'calc__fails');
    expect(outcome.data).toEqual({ status: 'error', tool: 'calc__fails', error: 'the tool said no' });
    expect(outcome.error).toBe('the tool said no');
    expect(outcome.control).toBe('continue');
  });

  it('come after the progress that was told on the way, in order', async () => {
    const handler = await fixture.started({ calc: sdkServer() });
    const updates: ToolProgressUpdate[] = [];
    const outcome = await callTool(handler, 'calc__steps', {}, { updates });
    expect(outcome.data).toBe('done');
    expect(updates).toEqual([1, 2, 3].map((n) => ({ message: `step ${n}`, data: { progress: n, total: 3 } })));
  });
});
