import { Lab } from '../../test-support/lab.js';
import type { BehaviorHook, TurnSnapshot } from '../agent/agent-options.js';
import type { Message } from '../messages.js';
import { call, say } from '../model/scripted-model.js';

const STOP = { action: 'stop', output: 'paused' } as const;
const toolTurn = (id: string): ReturnType<typeof say> => say('t1', call(id, 'write', { id }));

class Thrower implements BehaviorHook {
  afterTurn(): never {
    throw new Error('hook broke');
  }
}

describe('behavior hooks', () => {
  it('stop a run after the turn is completed, with their output', async () => {
    const lab = new Lab([toolTurn('c1')], { hooks: [{ afterTurn: () => Promise.resolve(STOP) }] });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'behavior_stop', status: 'completed', output: 'paused', turns: 1 });
    expect(lab.trace.slice(-2)).toEqual(['turn_completed 1', 'agent_finished behavior_stop']);
    expect(lab.agent.canContinue).toBe(true);
  });

  it("stop with the turn's text if they give none", async () => {
    const lab = new Lab([toolTurn('c1')], { hooks: [{ afterTurn: () => ({ action: 'stop' }) }] });
    expect(await lab.run()).toMatchObject({ output: 't1' });
  });

  it('beat the limit of steps on the last allowed turn', async () => {
    const lab = new Lab([toolTurn('c1')], { runtimePolicy: { maxSteps: 1 }, hooks: [{ afterTurn: () => STOP }] });
    expect(await lab.run()).toMatchObject({ stopReason: 'behavior_stop' });
  });

  it('are asked in order; the first stop is the last word', async () => {
    const log: string[] = [];
    const hook = (name: string, decision?: typeof STOP): BehaviorHook => ({
      afterTurn: () => {
        log.push(name);
        return decision;
      },
    });
    const lab = new Lab([toolTurn('c1')], { hooks: [hook('a'), hook('b', STOP), hook('c')] });
    await lab.run();
    expect(log).toEqual(['a', 'b']);
  });

  it('are not asked after a turn that ended the run', async () => {
    const lab = new Lab([say('final')], { hooks: [new Thrower()] });
    expect(await lab.run()).toMatchObject({ stopReason: 'text_response' });
  });

  it('that throw fail the run', async () => {
    const lab = new Lab([toolTurn('c1')], { hooks: [new Thrower()] });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'runtime_error', status: 'failed', output: null });
    expect(result.error).toBe("behavior hook 'Thrower' failed: hook broke");
  });

  it.each([['stop'], [true], [{}], [{ action: 'pause' }], [{ action: 'stop', output: 7 }]])(
    'that decide %j fail the run',
    async (decision) => {
      const lab = new Lab([toolTurn('c1')], { hooks: [{ afterTurn: () => decision as never }] });
      expect(await lab.run()).toMatchObject({ stopReason: 'runtime_error', error: expect.stringContaining('hook 1') });
    },
  );

  it('that say nothing, or null, let the run go on', async () => {
    const hooks: BehaviorHook[] = [{ afterTurn: () => undefined }, { afterTurn: () => null as never }];
    const lab = new Lab([toolTurn('c1'), say('end')], { hooks });
    expect(await lab.run()).toMatchObject({ output: 'end' });
  });

  it('that hang do not outlive an abort', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const hook: BehaviorHook = {
      afterTurn: (_snapshot, signal) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
    };
    const lab = new Lab([toolTurn('c1')], { hooks: [hook] });
    const run = lab.run();
    const signal = await asked.promise;
    lab.agent.abort('enough');
    expect(await run).toMatchObject({ stopReason: 'external_abort', error: 'enough' });
    expect(signal.aborted).toBe(true);
  });

  it('see the turn as it was, whatever comes after it', async () => {
    const snapshots: TurnSnapshot[] = [];
    const lab = new Lab([toolTurn('c1'), toolTurn('c2'), say('end')], {
      hooks: [{ afterTurn: (snapshot) => void snapshots.push(snapshot) }],
    });
    await lab.run();
    const [first] = snapshots;
    expect(first).toMatchObject({ agentId: 'lab', turn: 1, message: { content: 't1' } });
    expect(first?.toolMessages.map(({ toolCallId }) => toolCallId)).toEqual(['c1']);
    expect(first?.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    (first?.history as Message[]).length = 0;
    expect(lab.agent.messages).toHaveLength(6);
  });
});
