import { Agent, type AgentApi, type AgentOptions } from '../agent/index.js';
import { call, say, ScriptedModel, type ScriptedStep } from '../model/scripted-model.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolHandler } from '../tools/tool-handler.js';
import { InProcessSubagentProvider, type InProcessSubagentOptions } from './in-process-provider.js';
import type { SubagentRequest, SubagentResult, SubagentUpdate } from './subagent-types.js';
import { borrowHandler } from './tool-filter.js';

const signal = new AbortController().signal;

function tool(name: string): ToolHandler {
  return {
    tools: [{ name, description: name, effect: 'read_only' }],
    call: () => Promise.resolve(new StepOutcome(`${name} ran`)),
  };
}

function requestOf(more: Partial<SubagentRequest> = {}): SubagentRequest {
  return {
    label: 'test',
    prompt: [{ type: 'text', text: 'do it' }],
    parent: { agentId: 'parent', depth: 0 },
    signal,
    ...more,
  };
}

function withModel(
  steps: readonly ScriptedStep[],
  base: AgentOptions = {},
  more: Partial<InProcessSubagentOptions> = {},
): { provider: InProcessSubagentProvider; model: ScriptedModel; agents: AgentApi[] } {
  const model = new ScriptedModel(steps);
  const agents: AgentApi[] = [];
  const provider = new InProcessSubagentProvider({
    createAgent: (spec) => {
      const agent = new Agent(model, spec.apply(base));
      agents.push(agent);
      return agent;
    },
    ...more,
  });
  return { provider, model, agents };
}

async function resultOf(provider: InProcessSubagentProvider, request: SubagentRequest): Promise<SubagentResult> {
  const run = await provider.start(request);
  const result = await run.result;
  await run.dispose();
  return result;
}

describe('a child in this process', () => {
  it('gets its persona before the system prompt of the host, and the prompt as its task', async () => {
    const { provider, model } = withModel([say('ok')], { systemPrompt: 'Be brief.' });
    const prompt = [
      { type: 'text', text: 'Read this:' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
    ] as const;
    await resultOf(provider, requestOf({ persona: 'You review.', prompt }));
    expect(model.requests[0]?.messages).toMatchObject([
      { role: 'system', content: expect.stringMatching(/^You review\.\n\nBe brief\./u) as string },
      { role: 'user', content: 'Read this:\n\n[a](file:///a)' },
    ]);
  });

  it('sees and calls only the tools that its filter allows', async () => {
    const steps = [say(null, call('c1', 'write')), say('done')];
    const { provider, model } = withModel(steps, { handlers: [tool('read'), tool('write')] });
    await resultOf(provider, requestOf({ toolFilter: { include: ['read', 'write'], exclude: ['write'] } }));
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['read']);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('unknown tool') as string,
    });
  });

  it('keeps to the smaller of its own limits and those of the request', async () => {
    const endless: ScriptedStep = (request) =>
      say(null, call(`c${request.messages.length}`, 'read', { n: request.messages.length }));
    const script = Array.from({ length: 10 }, () => endless);
    const base = { handlers: [tool('read')], runtimePolicy: { maxSteps: 5, budget: { maxRequests: 4 } } };
    const asked = withModel(script, base);
    const result = await resultOf(
      asked.provider,
      requestOf({ agentOptions: { maxTurns: 2, budget: { maxRequests: 9 } } }),
    );
    expect(asked.model.requests).toHaveLength(2);
    expect(result).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining('max_steps') as string });
    const own = withModel(script, base);
    expect((await resultOf(own.provider, requestOf({ agentOptions: { maxTurns: 9 } }))).stopReason).toBe('max-tokens');
    expect(own.model.requests).toHaveLength(4);
  });

  it('begins with the history of its parent if it is forked, without the call that is going on', async () => {
    const { provider, model } = withModel([say('ok')]);
    const history = () => [
      { role: 'user', content: 'first' } as const,
      say(null, call('a', 'read')).message,
      { role: 'tool', toolCallId: 'a', content: 'x' } as const,
      say(null, call('b', 'read'), call('c', 'subagent')).message,
      { role: 'tool', toolCallId: 'b', content: 'y' } as const,
    ];
    const parent = { agentId: 'parent', depth: 0, history };
    await resultOf(provider, requestOf({ parent, agentOptions: { context: 'fork' } }));
    expect(model.requests[0]?.messages).toEqual([...history().slice(0, 3), { role: 'user', content: 'do it' }]);
  });

  it('cannot be forked from a parent without a history', async () => {
    const { provider, agents } = withModel([say('ok')], {}, { context: 'fork' });
    await expect(provider.start(requestOf())).rejects.toMatchObject({ code: 'subagent_no_history' });
    expect(agents).toEqual([]);
  });

  it('tells its turns, texts and tools', async () => {
    const { provider } = withModel([say('let me see', call('c1', 'read')), say('done')], { handlers: [tool('read')] });
    const run = await provider.start(requestOf());
    const updates: SubagentUpdate[] = [];
    for await (const update of run.updates) updates.push(update);
    expect(updates).toEqual([
      { kind: 'turn_started', turn: 1 },
      { kind: 'text', text: 'let me see' },
      { kind: 'tool_started', callId: 'c1', tool: 'read' },
      { kind: 'tool_completed', callId: 'c1', tool: 'read', failed: false },
      { kind: 'turn_started', turn: 2 },
      { kind: 'text', text: 'done' },
    ]);
  });

  it('is refused if it was made without the options of its request', async () => {
    const agent = new Agent(new ScriptedModel([say('ok')]));
    const provider = new InProcessSubagentProvider({ createAgent: () => agent });
    await expect(provider.start(requestOf())).rejects.toThrow('spec.apply');
    await expect(agent.run('x')).rejects.toMatchObject({ code: 'agent_shut_down' });
  });

  it('that is made after the request was cancelled is shut down', async () => {
    const controller = new AbortController();
    const made = Promise.withResolvers<AgentApi>();
    const agent = new Agent(new ScriptedModel([say('ok')]));
    const provider = new InProcessSubagentProvider({
      createAgent: (spec) => {
        spec.apply({});
        return made.promise;
      },
    });
    const start = provider.start(requestOf({ signal: controller.signal }));
    controller.abort();
    await expect(start).rejects.toMatchObject({ code: 'subagent_cancelled' });
    made.resolve(agent);
    await made.promise;
    await expect(agent.run('x')).rejects.toMatchObject({ code: 'agent_shut_down' });
  });

  it('does not stop handlers that it has borrowed', async () => {
    let stops = 0;
    const shared = { ...tool('read'), stop: () => Promise.resolve(void (stops += 1)) };
    const { provider } = withModel([say('ok')], { handlers: [borrowHandler(shared)] });
    await resultOf(provider, requestOf());
    expect(stops).toBe(0);
  });
});

describe('a child whose result has to fit a schema', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

  it('is told what does not fit, and hands in something better', async () => {
    const steps = [
      say(null, call('c1', 'submit_result', { n: 'secret' })),
      say(null, call('c2', 'submit_result', { n: 2 })),
    ];
    const { provider, model } = withModel(steps);
    expect(await resultOf(provider, requestOf({ outputSchema }))).toMatchObject({
      stopReason: 'completed',
      structured: { n: 2 },
      output: '{"n":2}',
    });
    const answer = String(model.requests[1]?.messages.find((message) => message.role === 'tool')?.content);
    expect(JSON.parse(answer)).toMatchObject({ errors: [{ path: '/n', keyword: 'type' }] });
    expect(answer).not.toContain('secret');
  });

  it('is reminded when it answers with plain text', async () => {
    const { provider, model } = withModel([say('plain'), say(null, call('c1', 'submit_result', { n: 1 }))]);
    expect((await resultOf(provider, requestOf({ outputSchema }))).structured).toEqual({ n: 1 });
    expect(model.requests).toHaveLength(2);
  });

  it('ends in an error if it never hands one in', async () => {
    const { provider } = withModel(Array.from({ length: 5 }, () => say('plain')));
    const result = await resultOf(provider, requestOf({ outputSchema }));
    expect(result.stopReason).toBe('error');
    expect(result).not.toHaveProperty('structured');
  });

  it('ends in an error if another tool ends its run', async () => {
    const finish: ToolHandler = {
      tools: [{ name: 'finish', description: '', effect: 'side_effecting' }],
      call: () => Promise.resolve(new StepOutcome('finished', { control: 'complete' })),
    };
    const { provider } = withModel([say(null, call('c1', 'finish'))], { handlers: [finish] });
    expect(await resultOf(provider, requestOf({ outputSchema }))).toMatchObject({
      stopReason: 'error',
      diagnostic: expect.stringContaining('fits the schema') as string,
    });
  });

  it('may be something else than an object, with references to definitions', async () => {
    const list = { type: 'array', items: { $ref: '#/$defs/item' }, $defs: { item: { type: 'integer' } } } as const;
    const steps = [
      say(null, call('c1', 'submit_result', { result: ['x'] })),
      say(null, call('c2', 'submit_result', { result: [1] })),
    ];
    const { provider } = withModel(steps);
    expect((await resultOf(provider, requestOf({ outputSchema: list }))).structured).toEqual([1]);
  });

  it('is not started for a schema that cannot be used', async () => {
    const { provider, agents } = withModel([say('ok')]);
    const broken = { type: 'object', properties: { a: { $ref: '#/nowhere' } } } as const;
    await expect(provider.start(requestOf({ outputSchema: broken }))).rejects.toMatchObject({
      code: 'subagent_schema_invalid',
    });
    expect(agents).toEqual([]);
  });
});
