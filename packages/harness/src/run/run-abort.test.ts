import { at, Lab } from '../../test-support/lab.js';
import { LabTools } from '../../test-support/lab-tools.js';
import { call, say } from '../model/scripted-model.js';

describe('an abort', () => {
  it('during a call settles it and all that follow', async () => {
    const lab = new Lab([say(null, call('c1', 'hang'), call('c2', 'write'), call('c3', 'read_a'))]);
    const receipts: unknown[] = [];
    const run = lab.run();
    await whenStarted(lab, 'hang');
    receipts.push(lab.agent.abort('stopped by user'), lab.agent.abort());
    receipts.push(lab.agent.steer('x').status, lab.agent.followUp('y').receipt.status);
    const result = await run;
    expect(receipts).toEqual([true, false, 'run_closing', 'run_closing']);
    expect(result).toMatchObject({ stopReason: 'external_abort', status: 'cancelled', error: 'stopped by user' });
    expect(lab.trace.slice(3)).toEqual([
      'tool_started c1',
      'tool_completed c1 cancelled',
      'tool_started c2',
      'tool_completed c2 cancelled',
      'tool_started c3',
      'tool_completed c3 cancelled',
      'turn_completed 1',
      'agent_finished external_abort',
    ]);
  });

  it('keeps the real result of a call that had ended in a parallel batch', async () => {
    const lab = new Lab([say(null, call('c1', 'read_hang'), call('c2', 'read_b'), call('c3', 'write'))], {
      runtimePolicy: { parallelToolCalls: true },
    });
    const run = lab.run();
    await whenStarted(lab, 'read_b');
    lab.agent.abort('now');
    await run;
    expect(lab.trace.slice(3, 9)).toEqual([
      'tool_started c1',
      'tool_started c2',
      'tool_completed c1 cancelled',
      'tool_completed c2',
      'tool_started c3',
      'tool_completed c3 cancelled',
    ]);
  });

  it('keeps the real result of a call that finishes in spite of it', async () => {
    const release = Promise.withResolvers<string>();
    const stubborn = new LabTools({ stubborn: () => release.promise });
    const lab = new Lab([say(null, call('c1', 'stubborn'))], { handlers: [stubborn] });
    const run = lab.run();
    await whenStarted(lab, 'stubborn', stubborn);
    lab.agent.abort('now');
    release.resolve('charged the card');
    expect(await run).toMatchObject({ stopReason: 'external_abort' });
    expect(lab.agent.messages.at(-1)).toEqual({ role: 'tool', toolCallId: 'c1', content: 'charged the card' });
    expect(lab.trace).toContain('tool_completed c1');
  });

  it('during the request ends it without a message', async () => {
    const lab = new Lab([() => new Promise(() => undefined)]);
    const run = lab.run();
    await lab.requested(1);
    lab.agent.abort();
    const result = await run;
    expect(lab.trace).toEqual([
      'agent_started go',
      'turn_started 1',
      'turn_completed 1',
      'agent_finished external_abort',
    ]);
    expect(result.error).toBe('the run was aborted');
    expect(lab.agent.messages).toHaveLength(1);
  });

  it('in the middle of a stream keeps what has come in the result', async () => {
    const lab = new Lab(
      [
        [
          { type: 'text_delta', delta: 'so far' },
          { type: 'text_delta', delta: '!' },
        ],
      ],
      {
        onEvent: ({ payload }, { agent }) => {
          if (payload.kind === 'assistant_text_delta') agent.abort('enough');
        },
      },
    );
    expect(await lab.run()).toMatchObject({ stopReason: 'external_abort', partial: 'so far', error: 'enough' });
    expect(lab.trace.filter((each) => each.startsWith('assistant'))).toEqual(['assistant_text_delta so far']);
  });

  it('while message_completed is shown settles the calls of that message', async () => {
    const lab = new Lab([say(null, call('c1', 'write'), call('c2', 'write')), say('second run')], {
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'message_completed' && payload.message.toolCalls.length > 0) agent.abort('in between');
      },
    });
    expect(await lab.run()).toMatchObject({ stopReason: 'external_abort', error: 'in between' });
    expect(lab.tools.log).toEqual([]);
    expect(lab.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
    expect(await lab.run('again')).toMatchObject({ output: 'second run' });
  });

  it('while the last message is shown makes an abort of the run', async () => {
    const lab = new Lab([say('final')], {
      onEvent: at('message_completed', ({ agent }) => agent.abort()),
    });
    expect(await lab.run()).toMatchObject({ stopReason: 'external_abort', output: null });
  });

  it('comes too late once the result is decided', async () => {
    const aborted: boolean[] = [];
    const lab = new Lab([say('final')], {
      onEvent: at('agent_finished', ({ agent }) => aborted.push(agent.abort())),
    });
    expect(await lab.run()).toMatchObject({ stopReason: 'text_response' });
    expect(aborted).toEqual([false]);
  });

  it("by the caller's signal takes the same path, in a tool as before the start", async () => {
    const lab = new Lab([say(null, call('c1', 'write'), call('c2', 'hang'), call('c3', 'write')), say('unused')]);
    const caller = new AbortController();
    const run = lab.run('go', { signal: caller.signal });
    await whenStarted(lab, 'hang');
    caller.abort(new Error('caller left'));
    expect(await run).toMatchObject({ stopReason: 'external_abort', error: 'caller left' });
    expect(lab.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
    expect(await lab.run('again', { signal: caller.signal })).toMatchObject({ stopReason: 'external_abort', turns: 0 });
    expect(lab.lastTrace).toEqual(['agent_started again', 'agent_finished external_abort']);
    expect(lab.model.requests).toHaveLength(1);
  });

  it('gives tools, hooks and the model a signal whose reason tells why', async () => {
    const reasons: unknown[] = [];
    const lab = new Lab([
      (_request, signal) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise(() => undefined);
      },
    ]);
    const run = lab.run();
    await lab.requested(1);
    lab.agent.abort('because');
    await run;
    expect(reasons).toEqual([expect.objectContaining({ name: 'AgentCancelledError', message: 'because' })]);
  });

  it('of nothing is false', async () => {
    const lab = new Lab([say('x')]);
    expect(lab.agent.abort()).toBe(false);
    await lab.run();
    expect(lab.agent.abort()).toBe(false);
  });
});

async function whenStarted(lab: Lab, tool: string, tools: LabTools = lab.tools): Promise<void> {
  while (!tools.log.includes(tool)) await new Promise((resolve) => setImmediate(resolve));
}
