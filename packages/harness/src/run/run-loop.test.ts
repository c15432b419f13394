import { Lab, textOf } from '../../test-support/lab.js';
import { call, say, sayWith, usageOf } from '../model/scripted-model.js';
import { ModelProviderError } from '../model/model-errors.js';

const ONE_TOOL_TURN = [
  'turn_started 1',
  'message_completed',
  'tool_started c1',
  'tool_completed c1',
  'turn_completed 1',
];

describe('a run without tools', () => {
  it('shows one turn and ends with the text', async () => {
    const lab = new Lab([say('hello')]);
    const result = await lab.run('hi');
    expect(lab.trace).toEqual([
      'agent_started hi',
      'turn_started 1',
      'message_completed',
      'turn_completed 1',
      'agent_finished text_response',
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'hello', turns: 1, error: null });
    expect(result.usage).toMatchObject({ totalTokens: 10, requestCount: 1, reportedRequestCount: 1 });
    expect(lab.agent).toMatchObject({ status: 'completed', canContinue: true, lastResult: result });
  });

  it('shows deltas before the message', async () => {
    const lab = new Lab([
      [
        { type: 'thinking_delta', delta: 'hm' },
        { type: 'text_delta', delta: 'he' },
        { type: 'text_delta', delta: 'y' },
        { type: 'completed', response: say('hey') },
      ],
    ]);
    const result = await lab.run();
    expect(lab.trace.slice(2, 6)).toEqual([
      'assistant_thinking_delta hm',
      'assistant_text_delta he',
      'assistant_text_delta y',
      'message_completed',
    ]);
    expect(result.partial).toBeUndefined();
  });

  it('takes a single blank for text, and an empty task for a task', async () => {
    const lab = new Lab([say(' ')]);
    expect(await lab.run('')).toMatchObject({ stopReason: 'text_response', output: ' ' });
    expect(lab.agent.messages[0]).toEqual({ role: 'user', content: '' });
  });

  it.each([[null], ['']])('fails for an answer without text and calls (%p), and can be continued', async (text) => {
    const lab = new Lab([say(text), say('better')]);
    const result = await lab.run();
    expect(result).toMatchObject({ status: 'failed', stopReason: 'empty_response', output: null });
    expect(result.error).not.toBeNull();
    expect(await lab.agent.continueRun()).toMatchObject({ stopReason: 'text_response', output: 'better' });
    await lab.check();
  });

  it('numbers turns and events anew in each run and keeps the history', async () => {
    const lab = new Lab([say('one'), say('two')]);
    await lab.run('first');
    await lab.run('second');
    expect(lab.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    expect(new Set(lab.events.map(({ runId }) => runId)).size).toBe(2);
    expect(lab.model.requests[1]?.messages.filter(({ role }) => role !== 'system')).toHaveLength(3);
  });
});

describe('a run with tools', () => {
  it('runs the call and asks again', async () => {
    const lab = new Lab([say('let me look', call('c1', 'write')), say('done')]);
    const result = await lab.run();
    expect(lab.trace).toEqual([
      'agent_started go',
      ...ONE_TOOL_TURN,
      'turn_started 2',
      'message_completed',
      'turn_completed 2',
      'agent_finished text_response',
    ]);
    expect(lab.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(result).toMatchObject({ turns: 2, output: 'done' });
  });

  it('starts and completes one call after the other by default', async () => {
    const lab = new Lab([say(null, call('c1', 'read_a'), call('c2', 'read_b')), say('ok')]);
    await lab.run();
    expect(callEvents(lab)).toEqual(['tool_started c1', 'tool_completed c1', 'tool_started c2', 'tool_completed c2']);
  });

  it('completes parallel read-only calls in source order', async () => {
    const lab = new Lab([say(null, call('c1', 'read_a'), call('c2', 'read_b')), say('ok')], {
      runtimePolicy: { parallelToolCalls: true },
    });
    await lab.run();
    expect(callEvents(lab)).toEqual(['tool_started c1', 'tool_started c2', 'tool_completed c1', 'tool_completed c2']);
  });

  it('shows progress between start and end of a call', async () => {
    const lab = new Lab([say(null, call('c1', 'report')), say('ok')]);
    await lab.run();
    expect(callEvents(lab)).toEqual([
      'tool_started c1',
      'tool_progressed c1 half',
      'tool_progressed c1 full',
      'tool_completed c1',
    ]);
  });

  it('goes on after a tool that throws, and after one that nobody offers', async () => {
    const lab = new Lab([say(null, call('c1', 'boom'), call('c2', 'nope')), say('saw it')]);
    const result = await lab.run();
    expect(result.stopReason).toBe('text_response');
    expect(lab.of('tool_completed').map(({ result: { control, error } }) => [control, error !== null])).toEqual([
      ['continue', true],
      ['continue', true],
    ]);
  });

  it.each([
    ['finish', 'tool_completion', 'completed', '{"done": true}', null],
    ['refuse', 'tool_rejected', 'rejected', 'no', 'tool execution was rejected'],
    ['giveup', 'tool_cancelled', 'cancelled', 'stop', 'tool execution was cancelled'],
  ])('ends when %s says so, with every other call settled', async (tool, stopReason, status, output, error) => {
    const lab = new Lab([say('bye', call('c1', tool), call('c2', 'write'), call('c3', 'read_a')), say('again')]);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason, status, output, error, turns: 1 });
    expect(lab.tools.log).toEqual([tool]);
    expect(lab.trace.slice(2)).toEqual([
      'message_completed',
      'tool_started c1',
      'tool_completed c1',
      'tool_started c2',
      'tool_completed c2 cancelled',
      'tool_started c3',
      'tool_completed c3 cancelled',
      'turn_completed 1',
      `agent_finished ${stopReason}`,
    ]);
    expect(lab.agent.canContinue).toBe(stopReason === 'tool_completion');
    expect(await lab.run('again')).toMatchObject({ stopReason: 'text_response' });
  });

  it('fails at the third equal call in a row and keeps what ran', async () => {
    const steps = ['c1', 'c2', 'c3'].map((id) => say(null, call(id, 'write', { a: 1 })));
    const lab = new Lab(steps);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'repeated_tool_call', status: 'failed', turns: 3 });
    expect(result.error).toContain("'write'");
    expect(lab.tools.log).toEqual(['write', 'write']);
    expect(lab.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
    expect(lab.agent.continueRejectionReason).toBe('unsupported_stop_reason');
  });

  it('gives a call whose id is taken another one, in the message and across the history', async () => {
    const lab = new Lab([
      say(null, call('c1', 'write'), call('c1', 'read_a'), call('', 'read_b')),
      say(null, call('c1', 'write', { again: true })),
      say('ok'),
    ]);
    await lab.run();
    const ids = lab.of('message_completed').flatMap(({ message }) => message.toolCalls.map(({ id }) => id));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('c1');
    expect(lab.tools.log).toEqual(['write', 'read_a', 'read_b', 'write']);
  });
});

describe('limits of a run', () => {
  it('stops after the last allowed turn', async () => {
    const lab = new Lab(
      ['c1', 'c2', 'c3'].map((id) => say(null, call(id, 'write', { id }))),
      { runtimePolicy: { maxSteps: 3 } },
    );
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'max_steps', status: 'failed', turns: 3 });
    expect(result.error).toContain("'lab'");
    expect(result.error).toContain('3');
    expect(lab.trace.slice(-2)).toEqual(['turn_completed 3', 'agent_finished max_steps']);
    expect(lab.agent.canContinue).toBe(true);
  });

  it('checks the budget before the next request and lets tools of an expensive turn run', async () => {
    const big = { usage: usageOf(50, 10) };
    const steps = ['c1', 'c2', 'c3'].map((id) => sayWith(big, null, call(id, 'write', { id })));
    const lab = new Lab(steps, { runtimePolicy: { budget: { maxTotalTokens: 100 } } });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'token_budget_exceeded', turns: 2 });
    expect(result.error).toMatch(/120.*100/);
    expect(lab.tools.log).toEqual(['write', 'write']);
    expect(lab.agent.canContinue).toBe(true);
  });

  it('completes with a text that overshoots the budget', async () => {
    const lab = new Lab([sayWith({ usage: usageOf(400, 100) }, 'long answer')]);
    const result = await lab.run('go', { budget: { maxTotalTokens: 100 } });
    expect(result).toMatchObject({ stopReason: 'text_response', usage: { totalTokens: 500 } });
  });

  it('does not take unknown usage for none', async () => {
    const lab = new Lab([sayWith({ usage: null }, null, call('c1', 'write'))]);
    const result = await lab.run('go', { budget: { maxTotalTokens: 1_000_000 } });
    expect(result).toMatchObject({ stopReason: 'usage_unavailable', status: 'failed' });
    expect(lab.tools.log).toEqual(['write']);
  });

  it('lets a budget of the run replace that of the policy', async () => {
    const lab = new Lab([say(null, call('c1', 'write')), say('ok')], { runtimePolicy: { budget: { maxRequests: 1 } } });
    expect(await lab.run('go', { budget: { maxRequests: 2 } })).toMatchObject({ stopReason: 'text_response' });
  });

  it('refuses a budget or policy that makes no sense', async () => {
    const lab = new Lab([]);
    await expect(lab.agent.run('go', { budget: { maxRequests: 0 } })).rejects.toThrow(RangeError);
    expect(() => new Lab([], { runtimePolicy: { maxSteps: 0 } })).toThrow(RangeError);
    expect(() => new Lab([], { runtimePolicy: { modelTimeoutMs: 0 } })).toThrow(RangeError);
    expect(() => new Lab([], { steeringQueueCapacity: 0 })).toThrow(RangeError);
  });
});

describe('an explicit finish', () => {
  const policy = { runtimePolicy: { requireExplicitFinish: true } };

  it('fails after three plain answers in a row, each but the last followed by a reminder in one request', async () => {
    const lab = new Lab([say('a'), say('b'), say('c')], policy);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'max_no_tool_responses', status: 'failed', turns: 3 });
    expect(lab.model.requests.map(({ messages }) => messages.at(-1)?.role)).toEqual(['user', 'system', 'system']);
    const prompts = lab.model.requests.map(({ messages }) => messages.filter(({ role }) => role === 'system').length);
    expect(prompts).toEqual([2, 3, 3]);
    expect(lab.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'assistant']);
    expect(lab.agent.canContinue).toBe(true);
  });

  it('completes by a tool', async () => {
    const lab = new Lab([say('a'), say(null, call('c1', 'finish'))], policy);
    expect(await lab.run()).toMatchObject({ stopReason: 'tool_completion', output: '{"done": true}' });
  });

  it('counts from zero after a tool call', async () => {
    const lab = new Lab([say('a'), say('b'), say(null, call('c1', 'write')), say('c'), say('d'), say('e')], policy);
    expect(await lab.run()).toMatchObject({ stopReason: 'max_no_tool_responses', turns: 6 });
    expect(lab.model.requests[3]?.messages.at(-1)?.role).toBe('tool');
  });

  it('counts from zero after applied steering', async () => {
    const lab = new Lab([say('a'), say('b'), say('c'), say('d'), say('e')], {
      ...policy,
      onEvent: ({ payload }, { agent }) => {
        if (textOf(payload) === 'turn_completed 2') agent.steer('go on');
      },
    });
    expect(await lab.run()).toMatchObject({ stopReason: 'max_no_tool_responses', turns: 5 });
    expect(lab.model.requests[2]?.messages.at(-1)).toEqual({ role: 'user', content: 'go on' });
  });
});

describe('an answer that the provider did not finish', () => {
  it('runs no call of a message that was cut off, and lets the model try again', async () => {
    const cut = sayWith(
      { finishReason: 'length' },
      'wri',
      call('c1', 'write', '{"path": "/et'),
      call('c2', 'write', {}),
    );
    const lab = new Lab([cut, say('shorter')]);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'text_response', output: 'shorter' });
    expect(lab.tools.log).toEqual([]);
    expect(callEvents(lab)).toEqual(['tool_started c1', 'tool_completed c1', 'tool_started c2', 'tool_completed c2']);
    for (const { result: each } of lab.of('tool_completed')) {
      expect(each.message.content).toContain('"status": "error"');
      expect(each.error).toContain('cut off');
    }
  });

  it('fails for a text that was cut off, keeps it, and can be continued from it', async () => {
    const lab = new Lab([sayWith({ finishReason: 'length' }, 'half of'), say(' the answer')]);
    const result = await lab.run();
    expect(result).toMatchObject({
      stopReason: 'output_truncated',
      status: 'failed',
      output: null,
      partial: 'half of',
    });
    expect(lab.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'half of' });
    expect(await lab.agent.continueRun()).toMatchObject({ output: ' the answer' });
  });

  it('fails for a text that was filtered', async () => {
    const lab = new Lab([sayWith({ finishReason: 'content_filter' }, 'I can')]);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'content_filtered', status: 'failed', output: null, partial: 'I can' });
    expect(lab.agent.canContinue).toBe(false);
  });

  it('runs no call of a message that was filtered', async () => {
    const lab = new Lab([sayWith({ finishReason: 'content_filter' }, null, call('c1', 'write'))]);
    expect(await lab.run()).toMatchObject({ stopReason: 'content_filtered', turns: 1 });
    expect(lab.tools.log).toEqual([]);
    expect(callEvents(lab)).toEqual(['tool_started c1', 'tool_completed c1']);
  });
});

describe('a model that fails', () => {
  it('completes the turn without a message', async () => {
    const lab = new Lab([new ModelProviderError('provider_error', 'provider down')]);
    const result = await lab.run();
    expect(lab.trace).toEqual([
      'agent_started go',
      'turn_started 1',
      'turn_completed 1',
      'agent_finished runtime_error',
    ]);
    expect(result).toMatchObject({ status: 'failed', error: 'provider down', turns: 1, output: null });
    expect(result.usage).toMatchObject({ requestCount: 1, reportedRequestCount: 0 });
    expect(lab.agent.continueRejectionReason).toBe('unsupported_stop_reason');
  });

  it.each([
    ['ends early', []],
    ['breaks', [new ModelProviderError('provider_error', 'reset')]],
  ])('keeps the text of a stream that %s in the result, not in the history', async (_name, tail) => {
    const lab = new Lab([[{ type: 'text_delta', delta: 'half' }, ...tail]]);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'runtime_error', partial: 'half', output: null });
    expect(lab.trace).toEqual([
      'agent_started go',
      'turn_started 1',
      'assistant_text_delta half',
      'turn_completed 1',
      'agent_finished runtime_error',
    ]);
    expect(lab.agent.messages).toEqual([{ role: 'user', content: 'go' }]);
  });

  it('does not fail a good answer for its odd usage', async () => {
    const odd = { ...usageOf(5, 3), reasoningTokens: 10 };
    const lab = new Lab([sayWith({ usage: odd }, 'good')]);
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'text_response', usage: { reportedRequestCount: 0 } });
    expect(lab.of('message_completed')[0]?.usage).toBeNull();
    expect(lab.warnings).toHaveLength(1);
  });

  it('leaves an agent that can be used', async () => {
    const lab = new Lab([new Error('down'), say('up')]);
    await lab.run();
    expect(await lab.run('again')).toMatchObject({ stopReason: 'text_response' });
  });
});

function callEvents(lab: Lab): readonly string[] {
  return lab.trace.filter((each) => each.startsWith('tool_'));
}
