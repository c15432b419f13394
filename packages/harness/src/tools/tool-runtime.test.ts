import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { contents, recordedTurn, settle } from './recorded-turn.test-helper.js';
import type { ToolDefinition } from './tool-definition.js';
import { ToolDefinitionError } from './tool-definition-error.js';
import type { TaskContext, ToolHandler, ToolMiddleware } from './tool-handler.js';
import { ToolRuntime } from './tool-runtime.js';

const never = new AbortController().signal;
const task: TaskContext = { agentId: 'agent', runId: 'run', task: 'go', signal: never };

function tool(name: string): ToolDefinition {
  return { name, description: '', effect: 'read_only' };
}

function handler(name: string, log: string[], parts: Partial<ToolHandler> = {}): ToolHandler {
  return {
    tools: [tool(name)],
    start: async () => void log.push(`${name} start`),
    stop: async () => void log.push(`${name} stop`),
    onTask: () => void log.push(`${name} task`),
    call: async () => name,
    ...parts,
  };
}

function middleware(name: string, log: string[], parts: Partial<ToolMiddleware> = {}): ToolMiddleware {
  return {
    start: (tools) => void log.push(`${name} start ${tools.map((each) => each.name).join(',')}`),
    stop: async () => void log.push(`${name} stop`),
    onTask: () => void log.push(`${name} task`),
    handle: (context, next) => next(context),
    ...parts,
  };
}

const failing = (text: string) => () => Promise.reject(new Error(text));

describe('life of a tool runtime', () => {
  it('starts handlers, then middlewares with all tools, and stops them the other way round', async () => {
    const log: string[] = [];
    const runtime = new ToolRuntime({
      handlers: [handler('a', log), handler('b', log)],
      middlewares: [middleware('m', log), middleware('n', log)],
    });
    expect(runtime.definitions).toEqual([]);
    await Promise.all([runtime.start(never), runtime.start(never)]);
    await runtime.onTask(task);
    expect(runtime.definitions.map((each) => each.name)).toEqual(['a', 'b']);
    await runtime.stop();
    await runtime.stop();
    expect(log).toEqual([
      'a start',
      'b start',
      'm start a,b',
      'n start a,b',
      'a task',
      'b task',
      'm task',
      'n task',
      'n stop',
      'm stop',
      'b stop',
      'a stop',
    ]);
    expect(runtime.definitions).toEqual([]);
  });

  it('finds tools that a handler finds while it starts', async () => {
    const found: ToolDefinition[] = [];
    const runtime = new ToolRuntime({
      handlers: [{ tools: found, start: async () => void found.push(tool('late')), call: async () => 'late' }],
    });
    await runtime.start(never);
    expect(runtime.definitions.map((each) => each.name)).toEqual(['late']);
  });

  it('takes back a start that fails, gives the first error, and can be tried again', async () => {
    const log: string[] = [];
    let broken = true;
    const start = () => (broken ? failing('no socket')() : Promise.resolve());
    const runtime = new ToolRuntime({
      handlers: [
        handler('a', log, { stop: failing('a cannot stop') }),
        handler('b', log),
        handler('c', log, { start }),
        handler('d', log),
      ],
      logger: { warn: (message) => log.push(message) },
    });
    await expect(runtime.start(never)).rejects.toThrow('no socket');
    expect(log).toEqual(['a start', 'b start', 'b stop', 'a tool handler or middleware did not stop well']);
    expect(runtime.definitions).toEqual([]);
    broken = false;
    await runtime.start(never);
    expect(runtime.definitions).toHaveLength(4);
  });

  it('takes handlers back if a middleware cannot start', async () => {
    const log: string[] = [];
    const runtime = new ToolRuntime({
      handlers: [handler('a', log)],
      middlewares: [
        middleware('m', log),
        middleware('n', log, {
          start: () => {
            throw new Error('bad schema');
          },
        }),
      ],
    });
    await expect(runtime.start(never)).rejects.toThrow('bad schema');
    expect(log).toEqual(['a start', 'm start a', 'm stop', 'a stop']);
  });

  it('does not start with a name twice, or a tool that cannot be offered', async () => {
    const log: string[] = [];
    const twice = new ToolRuntime({ handlers: [handler('a', log), handler('a', log)] });
    await expect(twice.start(never)).rejects.toThrow(new ToolDefinitionError('name', 'tool "a" is offered twice'));
    expect(log.slice(2)).toEqual(['a stop', 'a stop']);
    const wrong = new ToolRuntime({ handlers: [handler('a b', [])] });
    await expect(wrong.start(never)).rejects.toMatchObject({ field: 'name' });
  });

  it('gives up a start that is aborted, and undoes what still starts afterwards', async () => {
    const log: string[] = [];
    const slow = Promise.withResolvers<undefined>();
    const runtime = new ToolRuntime({
      handlers: [handler('a', log), handler('b', log, { start: () => slow.promise })],
    });
    const controller = new AbortController();
    const starting = runtime.start(controller.signal);
    await settle();
    controller.abort(new Error('not needed'));
    await expect(starting).rejects.toThrow('not needed');
    expect(log).toEqual(['a start', 'a stop']);
    slow.resolve(undefined);
    await settle();
    expect(log).toEqual(['a start', 'a stop', 'b stop']);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await expect(runtime.start(controller.signal)).rejects.toThrow('not needed');
    expect(log).toHaveLength(3);
  });

  it('stops everything though some fail, and gives the first error', async () => {
    const log: string[] = [];
    const runtime = new ToolRuntime({
      handlers: [handler('a', log), handler('b', log, { stop: failing('second') })],
      middlewares: [middleware('m', log, { stop: failing('first') })],
      logger: { warn: (_message, details) => log.push(`warned: ${String(details?.['error'])}`) },
    });
    await runtime.start(never);
    log.length = 0;
    await expect(runtime.stop()).rejects.toThrow('first');
    expect(log).toEqual(['warned: first', 'warned: second', 'a stop']);
  });

  it('does not wait for ever for a stop', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const log: string[] = [];
    const runtime = new ToolRuntime({
      handlers: [handler('a', log), handler('b', log, { stop: () => new Promise(() => undefined) })],
      stopTimeoutMs: 100,
    });
    await runtime.start(never);
    const stopping = expect(runtime.stop()).rejects.toMatchObject({ code: 'stop_timeout' });
    await jest.advanceTimersByTimeAsync(100);
    await stopping;
    expect(log).toContain('a stop');
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('waits for a start that is under way before it stops', async () => {
    const log: string[] = [];
    const runtime = new ToolRuntime({ handlers: [handler('a', log)] });
    const starting = runtime.start(never);
    await runtime.stop();
    await starting;
    expect(log).toEqual(['a start', 'a stop']);
  });

  it('passes on what a hook throws, and does not wait for one after the run was aborted', async () => {
    const broken = new ToolRuntime({ handlers: [handler('a', [], { onTask: failing('hook') })] });
    await expect(broken.onTask(task)).rejects.toThrow('hook');
    const hanging = new ToolRuntime({
      middlewares: [middleware('m', [], { onTask: () => new Promise(() => undefined) })],
    });
    const controller = new AbortController();
    const telling = hanging.onTask({ ...task, signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(telling).rejects.toThrow('stop');
  });

  it('offers a list that a handler has replaced from the next run on', async () => {
    const warnings: string[] = [];
    const changing = { tools: [tool('old')], call: async () => 'called' };
    const runtime = new ToolRuntime({
      handlers: [changing, handler('other', [])],
      logger: { warn: (message) => warnings.push(message) },
    });
    await runtime.start(never);
    const before = runtime.definitions;
    changing.tools = [tool('new')];
    expect(runtime.definitions).toBe(before);
    await runtime.onTask(task);
    expect(runtime.definitions.map((each) => each.name)).toEqual(['new', 'other']);
    const turn = recordedTurn(['new', 'old']);
    await runtime.runTurn(turn);
    expect(contents(turn)[0]).toBe('called');
    expect(contents(turn)[1]).toContain('unknown tool');
    changing.tools = [tool('other')];
    await runtime.onTask(task);
    expect(runtime.definitions.map((each) => each.name)).toEqual(['new', 'other']);
    expect(warnings).toEqual(['a changed list of tools was not taken over']);
  });

  it.each([
    ['repeatLimit', { repeatLimit: 0 }],
    ['maxParallelToolCalls', { maxParallelToolCalls: 0 }],
    ['maxParallelToolCalls', { maxParallelToolCalls: NaN }],
    ['toolTimeoutMs', { toolTimeoutMs: 0 }],
    ['abortGraceMs', { abortGraceMs: -1 }],
  ])('refuses a policy whose %s is out of range', (field, policy) => {
    expect(() => new ToolRuntime({ policy })).toThrow(new RegExp(`^${field} must be at least`, 'u'));
  });

  it('refuses a result size in which no mark would fit', () => {
    expect(() => new ToolRuntime({ maxResultBytes: 255 })).toThrow(RangeError);
  });
});
