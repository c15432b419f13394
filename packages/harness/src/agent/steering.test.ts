import { at, Lab, textOf } from '../../test-support/lab.js';
import { call, say } from '../model/scripted-model.js';

describe('steering', () => {
  it('during a tool is applied at the beginning of the next turn', async () => {
    const lab = new Lab([say(null, call('c1', 'write')), say('done')], {
      onEvent: at('tool_started', ({ agent }) => agent.steer('  be brief ')),
    });
    await lab.run();
    expect(lab.trace.slice(5)).toEqual([
      'turn_completed 1',
      'turn_started 2',
      'steering_applied be brief @2',
      'message_completed',
      'turn_completed 2',
      'agent_finished text_response',
    ]);
    expect(lab.model.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'be brief' });
  });

  it('during the final text makes it not final', async () => {
    let steered = false;
    const lab = new Lab([say('final?'), say('really final')], {
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'message_completed' && !steered) steered = agent.steer('more').status === 'accepted';
      },
    });
    expect(await lab.run()).toMatchObject({ output: 'really final', turns: 2 });
    expect(lab.agent.messages.map(({ content }) => content)).toEqual(['go', 'final?', 'more', 'really final']);
  });

  it('on the last step is discarded with the reason of the end', async () => {
    const lab = new Lab([say('final?')], {
      runtimePolicy: { maxSteps: 1 },
      onEvent: at('message_completed', ({ agent }) => agent.steer('too late')),
    });
    await lab.run();
    expect(lab.trace.slice(-3)).toEqual([
      'turn_completed 1',
      'steering_discarded too late max_steps',
      'agent_finished max_steps',
    ]);
  });

  it('that comes while earlier steering is shown goes into the same request', async () => {
    const lab = new Lab([say('ok')], {
      onEvent: ({ payload }, { agent }) => {
        if (textOf(payload) === 'turn_started 1') agent.steer('one');
        if (payload.kind === 'steering_applied' && payload.control.content === 'one') agent.steer('two');
      },
    });
    await lab.run();
    expect(lab.model.requests).toHaveLength(1);
    expect(lab.model.requests[0]?.messages.slice(-3).map(({ content }) => content)).toEqual(['go', 'one', 'two']);
  });

  it('that comes while the context is measured goes into the same request', async () => {
    const lab = new Lab([say('ok')], {
      context: { policy: { budget: { windowTokens: 1_000, reserveTokens: 100, keepRecentTokens: 100 } } },
      onEvent: ({ payload, sequence }, { agent }) => {
        if (payload.kind === 'context_pressure_evaluated' && sequence === 3) agent.steer('late');
      },
    });
    await lab.run();
    expect(lab.trace.slice(1, 6)).toEqual([
      'turn_started 1',
      'context_pressure_evaluated',
      'steering_applied late @1',
      'context_pressure_evaluated',
      'message_completed',
    ]);
    expect(lab.model.requests[0]?.messages.at(-1)?.content).toBe('late');
  });

  it('is bounded, first in first out, and each receipt tells how many wait', async () => {
    const receipts: unknown[] = [];
    const lab = new Lab([say(null, call('c1', 'write')), say('ok')], {
      steeringQueueCapacity: 2,
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind !== 'tool_started') return;
        for (const text of ['s0', 's1', 's2']) receipts.push(agent.steer(text));
      },
    });
    await lab.run();
    expect(receipts).toEqual([
      { status: 'accepted', kind: 'steering', inputId: expect.stringMatching(/^[0-9a-f]{32}$/), queueSize: 1 },
      { status: 'accepted', kind: 'steering', inputId: expect.stringMatching(/^[0-9a-f]{32}$/), queueSize: 2 },
      { status: 'queue_full', kind: 'steering', inputId: null, queueSize: 2 },
    ]);
    expect(lab.of('steering_applied').map(({ control }) => control.content)).toEqual(['s0', 's1']);
  });

  it('is refused without a run, for blank text, and once the run is decided', async () => {
    const late: string[] = [];
    const lab = new Lab([say('x')], {
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'turn_completed' || payload.kind === 'agent_finished') late.push(agent.steer('x').status);
      },
    });
    expect(lab.agent.steer('x')).toEqual({ status: 'agent_idle', kind: 'steering', inputId: null, queueSize: 0 });
    expect(() => lab.agent.steer(' \n ')).toThrow(RangeError);
    await lab.run();
    expect(late).toEqual(['run_closing', 'run_closing']);
    expect(lab.agent.steer('x').status).toBe('agent_idle');
  });

  it('is taken right after run() was called', async () => {
    const lab = new Lab([say('x')]);
    const run = lab.run();
    expect(lab.agent.steer('first of all').status).toBe('accepted');
    await run;
    expect(lab.agent.messages.map(({ content }) => content)).toEqual(['go', 'first of all', 'x']);
  });

  it('that an abort overtakes is discarded, not lost', async () => {
    const lab = new Lab([say('unused')], {
      onEvent: ({ payload }, { agent }) => {
        if (textOf(payload) === 'turn_started 1') agent.steer('one');
        if (textOf(payload) === 'turn_started 1') agent.steer('two');
        if (payload.kind === 'steering_applied') agent.abort('stop');
      },
    });
    await lab.run();
    expect(lab.trace.slice(2)).toEqual([
      'steering_applied one @1',
      'turn_completed 1',
      'steering_discarded two external_abort',
      'agent_finished external_abort',
    ]);
  });
});
