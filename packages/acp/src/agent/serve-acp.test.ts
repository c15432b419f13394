import { jest } from '@jest/globals';
import { tmpdir } from 'node:os';
import { methods, type SetSessionConfigOptionResponse } from '@agentclientprotocol/sdk';
import { call, defineTool, type ModelAdapter, say, sayWith, type ScriptedStep, toolHandler } from '@parley/harness';
import { AgentLab, ClientLab, closeLabs, newFolder, RawLab } from './agent-lab.test-helper.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

const shown: ScriptedStep = [
  { type: 'thinking_delta', delta: 'let me ' },
  { type: 'thinking_delta', delta: 'see' },
  { type: 'text_delta', delta: 'Hel' },
  { type: 'text_delta', delta: 'lo' },
  { type: 'completed', response: sayWith({ reasoning: 'let me see' }, 'Hello') },
];

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  effect: 'read_only',
  run: () => ({ status: 'ok', output: 'a view' }),
});

describe('initialize', () => {
  it.each([1, 7])('asked for version %i answers with ours, who it is and what it can do', async (protocolVersion) => {
    const lab = new ClientLab();
    const answer = await lab.agent.request(methods.agent.initialize, { protocolVersion });
    expect(answer).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'lab', title: 'Lab', version: '1.2.3' },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: false, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
    });
    expect(answer.agentCapabilities?.sessionCapabilities).not.toHaveProperty('delete');
  });

  it('offers to delete sessions where the host can', async () => {
    const lab = new ClientLab({ deleteSession: () => Promise.resolve() });
    const answer = await lab.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(answer.agentCapabilities?.sessionCapabilities?.delete).toEqual({});
  });

  it('comes first: nothing else is done before', async () => {
    const lab = new RawLab();
    const answer = await lab.request('a', 'session/new', { cwd: tmpdir(), mcpServers: [] });
    expect(answer.error?.code).toBe(-32600);
    expect(lab.sessions).toHaveLength(0);
  });

  it('tells its authentication methods, and opens nothing before one of them worked', async () => {
    let isIn = false;
    const auth = {
      methods: [{ id: 'key', name: 'A key' }],
      isRequired: () => !isIn,
      authenticate: () => {
        isIn = true;
        return Promise.resolve();
      },
    };
    const lab = new ClientLab({ auth });
    const { authMethods } = await lab.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(authMethods).toEqual([{ id: 'key', name: 'A key' }]);
    const opening = { cwd: tmpdir(), mcpServers: [] };
    await expect(lab.agent.request(methods.agent.session.new, opening)).rejects.toMatchObject({ code: -32000 });
    await expect(lab.agent.request(methods.agent.authenticate, { methodId: 'no' })).rejects.toMatchObject({
      code: -32602,
      data: { issues: [{ path: 'methodId' }] },
    });
    await lab.agent.request(methods.agent.authenticate, { methodId: 'key' });
    expect(await lab.agent.request(methods.agent.session.new, opening)).toHaveProperty('sessionId');
  });
});

describe('a prompt', () => {
  it('is answered behind its thoughts and its text, each a message of its own', async () => {
    const lab = new ClientLab({ steps: [[shown]] });
    const id = await lab.newSession();
    expect(await lab.prompt(id, 'hi')).toEqual({ stopReason: 'end_turn' });
    const thoughts = lab.updatesOf('agent_thought_chunk');
    const texts = lab.updatesOf('agent_message_chunk');
    expect(thoughts.map(({ content }) => content)).toEqual([
      { type: 'text', text: 'let me ' },
      { type: 'text', text: 'see' },
    ]);
    expect(texts.map(({ content }) => content)).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ]);
    expect(new Set(texts.map(({ messageId }) => messageId)).size).toBe(1);
    expect(new Set([...texts, ...thoughts].map(({ messageId }) => messageId)).size).toBe(2);
  });

  it('shows what a model that cannot be heard while it speaks has said', async () => {
    const lab = new ClientLab({ steps: [[sayWith({ reasoning: 'hm' }, 'whole')]] });
    await lab.prompt(await lab.newSession(), 'hi');
    expect(lab.updatesOf('agent_thought_chunk').map(({ content }) => content)).toEqual([{ type: 'text', text: 'hm' }]);
    expect(lab.updatesOf('agent_message_chunk').map(({ content }) => content)).toEqual([
      { type: 'text', text: 'whole' },
    ]);
  });

  it('writes every update before its answer, and lets the model wait for a client that reads slowly', async () => {
    let pulled = 0;
    const text = 'x'.repeat(5_000);
    const model: ModelAdapter = {
      name: 'talkative',
      async *stream() {
        for (; pulled < 500; pulled++) yield { type: 'text_delta', delta: text };
        yield { type: 'completed', response: say(text.repeat(500)) };
      },
    };
    const lab = new RawLab({ model });
    const id = await lab.begin();
    lab.fromAgent.pause();
    lab.write({ id: 'p', method: 'session/prompt', params: { sessionId: id, prompt: [{ type: 'text', text: 'go' }] } });
    for (let turn = 0; turn < 300; turn++) await new Promise(setImmediate);
    expect(pulled).toBeGreaterThan(0);
    expect(pulled).toBeLessThan(100);
    lab.fromAgent.resume();
    await lab.answerTo('p');
    expect(lab.messages.at(-1)).toMatchObject({ id: 'p', result: { stopReason: 'end_turn' } });
    const chunks = lab.messages.filter(({ params }) => JSON.stringify({ params }).includes('agent_message_chunk'));
    expect(chunks).toHaveLength(500);
  });

  it('gives the two messages of two turns different ids', async () => {
    const lab = new ClientLab({
      steps: [[say('first I look', call('c1', 'look')), say('done')]],
      handlers: () => [toolHandler(look)],
    });
    await lab.prompt(await lab.newSession(), 'hi');
    const texts = lab.updatesOf('agent_message_chunk');
    expect(texts).toHaveLength(2);
    expect(texts[0]?.messageId).not.toBe(texts[1]?.messageId);
  });

  it('tells each call from pending to its end', async () => {
    const lab = new ClientLab({
      steps: [[say(null, call('c1', 'look', { path: 'a.txt' })), say('done')]],
      handlers: () => [toolHandler(look)],
    });
    const cwd = await newFolder();
    await lab.prompt(await lab.newSession(cwd), 'hi');
    expect(lab.updatesOf('tool_call')).toEqual([
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c1',
        name: 'look',
        title: 'look a.txt',
        kind: 'read',
        status: 'pending',
        locations: [{ path: `${cwd}/a.txt` }],
        rawInput: { path: 'a.txt' },
      },
    ]);
    expect(lab.updatesOf('tool_call_update')).toMatchObject([
      { toolCallId: 'c1', status: 'in_progress' },
      {
        toolCallId: 'c1',
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: 'a view' } }],
        rawOutput: { status: 'ok', output: 'a view' },
      },
    ]);
  });

  it('marks a call that failed, that nobody knows or that was cut off', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Breaks.',
      run: () => {
        throw new Error('no such luck');
      },
    });
    const lab = new ClientLab({
      steps: [[say(null, call('c1', 'broken'), call('c2', 'nobody'), call('c3', 'broken', '{"a":')), say('well')]],
      handlers: () => [toolHandler(broken)],
    });
    await lab.prompt(await lab.newSession(), 'hi');
    const ends = lab.updatesOf('tool_call_update').filter(({ status }) => status !== 'in_progress');
    expect(ends.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
      ['c1', 'failed'],
      ['c2', 'failed'],
      ['c3', 'failed'],
    ]);
    expect(ends[0]?.content).toEqual([{ type: 'content', content: { type: 'text', text: 'no such luck' } }]);
    expect(lab.updatesOf('tool_call')[2]?.rawInput).toBe('{"a":');
  });

  it('shows what a tool says while it works', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Takes its time.',
      run: async (_args, { progress }) => {
        await progress.report({ message: 'half' });
        return 'done';
      },
    });
    const lab = new ClientLab({
      steps: [[say(null, call('c1', 'slow')), say('ok')]],
      handlers: () => [toolHandler(slow)],
    });
    await lab.prompt(await lab.newSession(), 'hi');
    expect(lab.updatesOf('tool_call_update').map(({ content }) => content)).toContainEqual([
      { type: 'content', content: { type: 'text', text: 'half' } },
    ]);
  });

  it('tells how full the context is', async () => {
    const lab = new ClientLab({
      steps: [[say('ok')]],
      contextWindowTokens: 1_000,
      agent: { context: { policy: { budget: { windowTokens: 1_000, reserveTokens: 100, keepRecentTokens: 100 } } } },
    });
    await lab.prompt(await lab.newSession(), 'hi');
    const [usage] = lab.updatesOf('usage_update');
    expect(usage?.size).toBe(1_000);
    expect(usage?.used).toBeGreaterThan(0);
  });

  it('is refused while another one of the session is open, and that one goes on', async () => {
    const answer = Promise.withResolvers<ScriptedStep>();
    const lab = new ClientLab({ steps: [[() => answer.promise, say('second')]] });
    const id = await lab.newSession();
    const first = lab.prompt(id, 'one');
    await expect(lab.prompt(id, 'two')).rejects.toMatchObject({
      code: -32600,
      data: { reason: 'prompt_open', sessionId: id },
    });
    answer.resolve(say('first'));
    expect(await first).toEqual({ stopReason: 'end_turn' });
    expect(await lab.prompt(id, 'three')).toEqual({ stopReason: 'end_turn' });
  });

  it('does not wait for one of another session', async () => {
    const answer = Promise.withResolvers<ScriptedStep>();
    const lab = new ClientLab({ steps: [[() => answer.promise], [say('quick')]] });
    const slow = lab.prompt(await lab.newSession(), 'one');
    expect(await lab.prompt(await lab.newSession(), 'two')).toEqual({ stopReason: 'end_turn' });
    answer.resolve(say('slow'));
    expect(await slow).toEqual({ stopReason: 'end_turn' });
  });

  it('fails with the reason where the run failed, and the session can be used further', async () => {
    const lab = new ClientLab({ steps: [[new Error('the model is down'), say('up again')]] });
    const id = await lab.newSession();
    await expect(lab.prompt(id, 'one')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('the model is down') as string,
      data: { reason: 'runtime_error' },
    });
    expect(await lab.prompt(id, 'two')).toEqual({ stopReason: 'end_turn' });
  });

  it('of a skill runs with it', async () => {
    const lab = new ClientLab({
      steps: [[say('ok')]],
      commands: [{ name: 'review', description: 'Reviews.', hint: 'what' }],
    });
    const id = await lab.newSession();
    await lab.until(() => lab.updatesOf('available_commands_update').length > 0);
    expect(lab.updatesOf('available_commands_update')[0]?.availableCommands).toEqual([
      { name: 'review', description: 'Reviews.', input: { hint: 'what' } },
    ]);
    // The agent of this lab has no skills: that it was asked for one is what fails.
    await expect(lab.prompt(id, '/review this')).rejects.toMatchObject({
      message: expect.stringContaining('review') as string,
    });
    expect(await lab.prompt(id, '/other this')).toEqual({ stopReason: 'end_turn' });
  });
});

describe('settings', () => {
  const modes = {
    initial: 'ask',
    available: [
      { id: 'ask', name: 'Ask' },
      { id: 'free', name: 'Free', description: 'All' },
    ],
  };
  const configOptions = [
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      initial: 'a',
      values: [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B' },
      ],
    },
  ];

  it('of a session are its own, and the host sees them change', async () => {
    const lab = new ClientLab({ modes, configOptions });
    await lab.initialize();
    const one = await lab.agent.request(methods.agent.session.new, { cwd: tmpdir(), mcpServers: [] });
    await lab.newSession();
    expect(one.modes).toEqual({ currentModeId: 'ask', availableModes: modes.available });
    expect(one.configOptions?.map(({ id, type, category }) => [id, type, category])).toEqual([
      ['mode', 'select', 'mode'],
      ['model', 'select', 'model'],
    ]);
    await lab.agent.request(methods.agent.session.setMode, { sessionId: one.sessionId, modeId: 'free' });
    expect(lab.updatesOf('current_mode_update')).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'free' },
    ]);
    const set = { sessionId: one.sessionId, configId: 'model', value: 'b' };
    const { configOptions: now } = await lab.agent.request<SetSessionConfigOptionResponse>(
      methods.agent.session.setConfigOption,
      set,
    );
    expect(now).toMatchObject([{ currentValue: 'free' }, { currentValue: 'b' }]);
    expect(lab.sessions.map(({ mode, config }) => [mode, config])).toEqual([
      ['free', { model: 'b' }],
      ['ask', { model: 'a' }],
    ]);
  });

  it('change the mode by its option too', async () => {
    const lab = new ClientLab({ modes });
    const sessionId = await lab.newSession();
    await lab.agent.request(methods.agent.session.setConfigOption, { sessionId, configId: 'mode', value: 'free' });
    expect(lab.sessions[0]?.mode).toBe('free');
    expect(lab.updatesOf('current_mode_update')).toHaveLength(1);
  });

  it.each([
    ['session/set_mode', { modeId: 'nope' }, 'modeId'],
    ['session/set_config_option', { configId: 'nope', value: 'a' }, 'configId'],
    ['session/set_config_option', { configId: 'model', value: 'nope' }, 'value'],
    ['session/set_config_option', { configId: 'model', type: 'boolean', value: true }, 'value'],
    ['session/set_config_option', { configId: 'mode', value: 'nope' }, 'value'],
  ])('%s refuses %j', async (method, params, path) => {
    const lab = new RawLab({ modes, configOptions });
    const sessionId = await lab.begin();
    const answer = await lab.request('s', method, { sessionId, ...params });
    expect(answer.error).toMatchObject({ code: -32602, data: { issues: [{ path }] } });
  });

  it('are not told where there are none', async () => {
    const lab = new AgentLab();
    await lab.server.close();
    const other = new ClientLab();
    await other.initialize();
    const made = await other.agent.request(methods.agent.session.new, { cwd: tmpdir(), mcpServers: [] });
    expect(Object.keys(made)).toEqual(['sessionId']);
  });
});
