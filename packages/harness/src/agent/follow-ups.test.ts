import { Lab, type LabOptions } from '../../test-support/lab.js';
import type { AgentRunResult } from '../result.js';
import { FollowUpDiscardedError, FollowUpRejectedError } from '../run/run-errors.js';
import { say } from '../model/scripted-model.js';
import type { FollowUpHandle } from './agent-api.js';

/** A lab whose first run asks for follow-ups while its first turn goes on. */
function withFollowUps(
  steps: ConstructorParameters<typeof Lab>[0],
  tasks: readonly string[],
  options: LabOptions = {},
) {
  const handles: FollowUpHandle[] = [];
  const lab = new Lab(steps, {
    ...options,
    onEvent: ({ payload }, { agent }) => {
      if (payload.kind !== 'turn_started' || handles.length > 0) return;
      for (const task of tasks) handles.push(agent.followUp(task));
    },
  });
  return { lab, handles };
}

describe('follow-ups', () => {
  it('run one after the other, each as a run of its own, before a direct run that waited', async () => {
    const { lab, handles } = withFollowUps([say('first'), say('second'), say('third'), say('direct')], ['a', ' b ']);
    const first = lab.agent.run('start');
    const direct = lab.agent.run('direct');
    expect((await first).output).toBe('first');
    const outputs = await Promise.all(handles.map(async (handle) => (await handle.wait()).output));
    expect(outputs).toEqual(['second', 'third']);
    expect((await direct).output).toBe('direct');
    await lab.check();
    const starts = lab.trace.filter((each) => each.startsWith('agent_started'));
    expect(starts).toEqual(['agent_started start', 'agent_started a', 'agent_started b', 'agent_started direct']);
    expect(new Set(lab.events.map(({ runId }) => runId)).size).toBe(4);
  });

  it('begin only after every sink has seen the end of the run before', async () => {
    const log: string[] = [];
    const { lab } = withFollowUps([say('first'), say('second')], ['a'], {
      sinks: [
        {
          emit: async ({ payload }) => {
            await new Promise((resolve) => setImmediate(resolve));
            if (payload.kind === 'agent_started' || payload.kind === 'agent_finished') log.push(payload.kind);
          },
        },
      ],
    });
    await lab.run();
    expect(log).toEqual(['agent_started', 'agent_finished', 'agent_started', 'agent_finished']);
  });

  it('are discarded after a run that did not complete', async () => {
    const { lab, handles } = withFollowUps([new Error('down')], ['a', 'b']);
    await lab.run();
    for (const handle of handles) {
      await expect(handle.wait()).rejects.toMatchObject({ reason: 'previous_run_not_completed' });
      await expect(handle.wait()).rejects.toBeInstanceOf(FollowUpDiscardedError);
    }
  });

  it('go on after a failure where that was asked for', async () => {
    const { lab, handles } = withFollowUps([new Error('down'), say('went on')], ['a'], {
      followUpFailurePolicy: 'continue',
    });
    await lab.run();
    expect(await handles[0]?.wait()).toMatchObject({ output: 'went on' });
  });

  it('are bounded; what has started no longer counts', async () => {
    const { lab, handles } = withFollowUps([say('1'), say('2'), say('3')], ['a', 'b', 'c'], {
      followUpQueueCapacity: 2,
    });
    await lab.run();
    expect(handles.map(({ receipt: { status, queueSize } }) => [status, queueSize])).toEqual([
      ['accepted', 1],
      ['accepted', 2],
      ['queue_full', 2],
    ]);
    await expect(handles[2]?.wait()).rejects.toBeInstanceOf(FollowUpRejectedError);
  });

  it('are refused without a run, during a compaction, and after shutdown', async () => {
    const lab = new Lab([]);
    expect(lab.agent.followUp('x').receipt).toMatchObject({ status: 'agent_idle', kind: 'follow_up', inputId: null });
    expect(() => lab.agent.followUp('  ')).toThrow(RangeError);
    await expect(lab.agent.followUp('x').wait()).rejects.toMatchObject({ code: 'follow_up_rejected' });
    await lab.agent.shutdown();
    expect(lab.agent.followUp('x').receipt.status).toBe('run_closing');
  });

  it('asked for at the very end of a run still run', async () => {
    let handle: FollowUpHandle | undefined;
    const lab = new Lab([say('one'), say('two')], {
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'agent_finished') handle ??= agent.followUp('at the end');
      },
    });
    await lab.run();
    expect(await handle?.wait()).toMatchObject({ output: 'two' });
  });

  it('go on although nobody waits any longer', async () => {
    const answer = Promise.withResolvers<ReturnType<typeof say>>();
    const { lab, handles } = withFollowUps([() => answer.promise, say('two')], ['a']);
    const run = lab.agent.run('go');
    const patience = new AbortController();
    await lab.requested(1);
    const wait = handles[0]?.wait(patience.signal);
    patience.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    answer.resolve(say('one'));
    await run;
    await lab.check();
    expect(lab.results.map(({ output }) => output)).toEqual(['one', 'two']);
  });

  it('tell of the last end only when the agent is idle', async () => {
    const { lab, handles } = withFollowUps([say('one'), say('two'), say('three')], ['a']);
    const states: unknown[] = [];
    const run = lab.agent.run('go').then(() => states.push(lab.agent.status));
    await run;
    await handles[0]?.wait();
    states.push(lab.agent.status, lab.agent.canContinue);
    expect(states).toEqual(['running', 'completed', true]);
  });

  it('stop with the run in front of them when it is aborted', async () => {
    const { lab, handles } = withFollowUps([() => new Promise(() => undefined)], ['a']);
    const run: Promise<AgentRunResult> = lab.agent.run('go');
    await lab.requested(1);
    lab.agent.abort();
    expect(await run).toMatchObject({ stopReason: 'external_abort' });
    await expect(handles[0]?.wait()).rejects.toBeInstanceOf(FollowUpDiscardedError);
    await lab.check();
  });
});
