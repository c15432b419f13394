import { getEventListeners } from 'node:events';
import { Agent, type AgentOptions } from '../agent/index.js';
import type { JsonObject } from '../json.js';
import { call, say, ScriptedModel, type ScriptedStep } from '../model/scripted-model.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolHandler } from '../tools/tool-handler.js';
import type { ToolProgressUpdate } from '../tools/tool-progress.js';
import { InProcessSubagentProvider } from './in-process-provider.js';
import { SubagentRegistry } from './subagent-registry.js';
import { subagentTool, type SubagentTool, type SubagentToolOptions } from './subagent-tool.js';
import type { SubagentProvider, SubagentRequest, SubagentResult, SubagentRun } from './subagent-types.js';
import { UpdateChannel } from './update-channel.js';

const NONE = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false };
const ALL = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true };

/** A provider whose runs are settled by the test. */
class FakeProvider implements SubagentProvider {
  readonly requests: SubagentRequest[] = [];
  readonly results: PromiseWithResolvers<SubagentResult>[] = [];
  readonly updates = new UpdateChannel();
  disposals = 0;
  ignoresCancel = false;

  constructor(readonly capabilities = NONE) {}

  start(request: SubagentRequest): Promise<SubagentRun> {
    this.requests.push(request);
    const result = Promise.withResolvers<SubagentResult>();
    this.results.push(result);
    if (!this.ignoresCancel) {
      request.signal.addEventListener('abort', () => result.resolve({ stopReason: 'aborted', output: '' }), {
        once: true,
      });
    }
    const run: SubagentRun = {
      id: 'x',
      result: result.promise,
      updates: this.updates,
      cancel: () => undefined,
      dispose: () => {
        this.disposals += 1;
        return Promise.resolve();
      },
    };
    return Promise.resolve(run);
  }

  settle(result: SubagentResult): void {
    this.results.at(-1)?.resolve(result);
  }
}

function setup(
  provider: SubagentProvider,
  options: SubagentToolOptions = {},
): { registry: SubagentRegistry; tool: SubagentTool } {
  const registry = new SubagentRegistry();
  registry.register('fake', provider);
  return { registry, tool: subagentTool(registry, options) };
}

function callTool(
  tool: SubagentTool,
  args: JsonObject,
  more: { signal?: AbortSignal; updates?: ToolProgressUpdate[] } = {},
): Promise<StepOutcome> {
  const definition = tool.tools[0] ?? { name: 'subagent', description: '', effect: 'side_effecting' };
  return tool.call({
    agentId: 'parent',
    runId: 'r',
    turn: 1,
    callId: 'c',
    tool: definition,
    arguments: args,
    signal: more.signal ?? new AbortController().signal,
    progress: {
      report: (update) => {
        more.updates?.push(update);
        return Promise.resolve();
      },
    },
  });
}

describe('the tool subagent', () => {
  it('gives the answer of the child, or its value, and disposes of it', async () => {
    const provider = new FakeProvider(ALL);
    const { tool } = setup(provider);
    const text = callTool(tool, { task: 'do it', label: 'work' });
    provider.settle({ stopReason: 'completed', output: 'done' });
    expect((await text).data).toBe('done');
    const value = callTool(tool, { task: 'do it', output_schema: { type: 'object' } });
    provider.settle({ stopReason: 'completed', output: '{"n":1}', structured: { n: 1 } });
    expect((await value).data).toEqual({ n: 1 });
    expect(provider.disposals).toBe(2);
    expect(provider.requests[0]).toMatchObject({
      label: 'work',
      prompt: [{ type: 'text', text: 'do it' }],
      parent: { agentId: 'parent', runId: 'r', depth: 0 },
      maxDepth: 1,
    });
  });

  it('says that no child has started where none has', async () => {
    const { tool } = setup(new FakeProvider(NONE));
    for (const args of [
      { task: 'x', provider: 'nope' },
      { task: 'x', persona: 'p' },
      { task: ' ' },
      { task: 'x', tools: ['a'] },
    ]) {
      const outcome = await callTool(tool, args);
      expect(outcome.data).toMatchObject({ status: 'error', tool: 'subagent', started: false });
      expect(outcome.error).not.toContain('outcome unknown');
    }
  });

  it('says that the outcome is unknown where a child had started and did not complete', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider);
    const outcome = callTool(tool, { task: 'x' });
    provider.settle({ stopReason: 'max-tokens', output: 'half', diagnostic: 'too long' });
    expect((await outcome).data).toEqual({
      status: 'error',
      tool: 'subagent',
      started: true,
      provider: 'fake',
      stop_reason: 'max-tokens',
      error: 'too long; outcome unknown: the subagent had started and may have acted',
      output: 'half',
    });
  });

  it('cancels the child with its own call, waits until it is gone and leaves no listener', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider);
    const controller = new AbortController();
    const outcome = callTool(tool, { task: 'x' }, { signal: controller.signal });
    await Promise.resolve();
    controller.abort(new Error('stop'));
    await expect(outcome).rejects.toThrow('stop');
    expect(provider.requests[0]?.signal.aborted).toBe(true);
    expect(provider.disposals).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('cancels a child that takes too long, and does not wait for ever for one that does not stop', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider, { timeoutMs: 20, cancelGraceMs: 20 });
    expect((await callTool(tool, { task: 'x' })).data).toMatchObject({
      started: true,
      stop_reason: 'aborted',
      error: expect.stringMatching(/took too long; outcome unknown/u) as string,
    });
    provider.ignoresCancel = true;
    const outcome = await callTool(tool, { task: 'x' });
    expect(outcome.data).toMatchObject({ started: true, error: expect.stringContaining('did not stop') as string });
    expect(provider.disposals).toBe(2);
  });

  it('does not wait for ever for a child that does not start, and disposes of it when it comes', async () => {
    const late = Promise.withResolvers<SubagentRun>();
    const provider: SubagentProvider = { capabilities: NONE, start: () => late.promise };
    const { tool } = setup(provider, { timeoutMs: 20, cancelGraceMs: 20 });
    const outcome = await callTool(tool, { task: 'x' });
    expect(outcome.data).toMatchObject({ started: false, error: expect.stringContaining('outcome unknown') as string });
    const fake = new FakeProvider();
    late.resolve(await fake.start({ ...requestBase(), signal: new AbortController().signal }));
    await new Promise(setImmediate);
    expect(fake.disposals).toBe(1);
  });

  it('ends its children when it stops', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider);
    const outcome = callTool(tool, { task: 'x' });
    await Promise.resolve();
    await tool.stop();
    expect((await outcome).data).toMatchObject({ started: true, stop_reason: 'aborted' });
    expect(provider.disposals).toBe(1);
  });

  it('starts no more children at the same time than allowed', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider, { maxConcurrent: 1 });
    const first = callTool(tool, { task: 'x' });
    expect((await callTool(tool, { task: 'y' })).data).toMatchObject({ started: false });
    provider.settle({ stopReason: 'completed', output: 'ok' });
    await first;
    expect(provider.requests).toHaveLength(1);
  });

  it('reports what the child does as progress', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider);
    const updates: ToolProgressUpdate[] = [];
    const outcome = callTool(tool, { task: 'x', label: 'work' }, { updates });
    provider.updates.push({ kind: 'tool_started', callId: 'c', tool: 'read' });
    await new Promise(setImmediate);
    provider.settle({ stopReason: 'completed', output: 'ok' });
    await outcome;
    expect(updates).toEqual([{ message: 'work: read' }]);
  });

  it('hands limits on, the smaller of its own and those that the model asks for', async () => {
    const provider = new FakeProvider();
    const { tool } = setup(provider, { maxTurns: 5, budget: { maxRequests: 7 } });
    for (const max_turns of [3, 9]) {
      const outcome = callTool(tool, { task: 'x', max_turns });
      provider.settle({ stopReason: 'completed', output: 'ok' });
      await outcome;
    }
    expect(provider.requests.map((request) => request.agentOptions)).toEqual([
      { maxTurns: 3, budget: { maxRequests: 7 } },
      { maxTurns: 5, budget: { maxRequests: 7 } },
    ]);
  });

  it('names the providers, and is not offered where there are none or the agent is too deep', () => {
    const registry = new SubagentRegistry();
    const tool = subagentTool(registry);
    expect(tool.tools).toEqual([]);
    const unregister = registry.register('a', new FakeProvider());
    const offered = tool.tools;
    expect(JSON.stringify(offered[0]?.parameters)).toContain('"enum":["a"]');
    expect(tool.tools).toBe(offered);
    expect(subagentTool(registry, { depth: 1 }).tools).toEqual([]);
    unregister();
    expect(tool.tools).toEqual([]);
  });
});

describe('children of children in this process', () => {
  const write: ToolHandler = {
    tools: [{ name: 'write', description: '', effect: 'side_effecting' }],
    call: () => Promise.resolve(new StepOutcome('written')),
  };

  /** Every agent has the same handlers: a tool and `subagent`. Models are given by depth. */
  function family(models: readonly ScriptedModel[], options: SubagentToolOptions): Agent {
    const registry = new SubagentRegistry();
    const base: AgentOptions = { handlers: [write, subagentTool(registry, options)] };
    const modelAt = (depth: number): ScriptedModel => models[depth] ?? new ScriptedModel([]);
    const createAgent = (spec: { depth: number; apply(base: AgentOptions): AgentOptions }): Agent =>
      new Agent(modelAt(spec.depth), spec.apply(base));
    registry.register('in-process', new InProcessSubagentProvider({ createAgent }));
    return new Agent(modelAt(0), base);
  }

  const delegate = (args: JsonObject = {}): ScriptedStep =>
    say(null, call('c1', 'subagent', { task: 'go on', ...args }));
  const toolsOf = (model: ScriptedModel | undefined): string[] =>
    model?.requests[0]?.tools.map(({ name }) => name) ?? [];

  it('go as deep as allowed: the deepest is not offered the tool', async () => {
    const models = [
      new ScriptedModel([delegate(), say('top')]),
      new ScriptedModel([delegate(), say('middle')]),
      new ScriptedModel([say('bottom')]),
    ];
    const agent = family(models, { maxDepth: 2 });
    expect((await agent.run('begin')).output).toBe('top');
    await agent.shutdown();
    expect(models.map(toolsOf)).toEqual([['write', 'subagent'], ['write', 'subagent'], ['write']]);
    expect(models[1]?.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'bottom' });
  });

  it('have no tools that their parent was not allowed', async () => {
    const models = [
      new ScriptedModel([delegate({ tools: ['subagent'] }), say('top')]),
      new ScriptedModel([delegate({ tools: ['write'] }), say('middle')]),
      new ScriptedModel([say('bottom')]),
    ];
    const agent = family(models, { maxDepth: 3 });
    await agent.run('begin');
    await agent.shutdown();
    expect(models.map(toolsOf)).toEqual([['write', 'subagent'], ['subagent'], []]);
  });

  it('are aborted with the first of them', async () => {
    const begun = Promise.withResolvers<undefined>();
    const aborted = Promise.withResolvers<undefined>();
    const hang: ScriptedStep = (_request, signal) => {
      signal.addEventListener('abort', () => aborted.resolve(undefined), { once: true });
      begun.resolve(undefined);
      return new Promise<never>(() => undefined);
    };
    const models = [new ScriptedModel([delegate()]), new ScriptedModel([delegate()]), new ScriptedModel([hang])];
    const agent = family(models, { maxDepth: 2 });
    const run = agent.run('begin');
    await begun.promise;
    agent.abort('stop all');
    await aborted.promise;
    expect(await run).toMatchObject({ status: 'cancelled', stopReason: 'external_abort' });
    await agent.shutdown();
  });

  it('can begin with the history of the agent above, at every depth', async () => {
    const models = [
      new ScriptedModel([delegate(), say('top')]),
      new ScriptedModel([delegate({ context: 'fork' }), say('middle')]),
      new ScriptedModel([say('bottom')]),
    ];
    const agent = family(models, { maxDepth: 2 });
    await agent.run('begin');
    await agent.shutdown();
    expect(models[2]?.requests[0]?.messages.filter((message) => message.role === 'user')).toMatchObject([
      { content: 'go on' },
      { content: 'go on' },
    ]);
  });
});

function requestBase(): Omit<SubagentRequest, 'signal'> {
  return { label: 'l', prompt: [], parent: { agentId: 'a', depth: 0 } };
}
