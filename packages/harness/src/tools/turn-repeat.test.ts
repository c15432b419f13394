import {
  completed,
  contents,
  gated,
  order,
  read,
  recordedTurn,
  settle,
  started,
  write,
} from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';

const TEXT = "tool 'w' was called with the same arguments 3 consecutive times";
const ENDED = { kind: 'ended', stopReason: 'repeated_tool_call', output: null, error: TEXT };

async function counting(options: Parameters<typeof started>[1] = {}) {
  let runs = 0;
  const runtime = await started([write('w', () => (runs += 1)), write('x', () => 'x')], options);
  return { runtime, runs: () => runs };
}

describe('the same call again and again', () => {
  it('is not executed the third time in a row, over turns; the run ends and the model has a result', async () => {
    const { runtime, runs } = await counting();
    await expect(runtime.runTurn(recordedTurn(['w']))).resolves.toEqual({ kind: 'continue' });
    await expect(runtime.runTurn(recordedTurn(['w']))).resolves.toEqual({ kind: 'continue' });
    const turn = recordedTurn(['w', 'x']);
    await expect(runtime.runTurn(turn)).resolves.toEqual(ENDED);
    expect(runs()).toBe(2);
    expect(turn.log).toEqual([
      'started c1',
      'committed c1',
      'completed c1',
      'started c2',
      'committed c2',
      'completed c2',
    ]);
    expect(contents(turn)).toEqual([
      `{"status": "error", "tool": "w", "code": "repeated_tool_call", "error": "${TEXT}"}`,
      '{"status": "cancelled", "tool": "x", "code": "cancelled_before_start", "error": "not started: run ended by c1"}',
    ]);
    expect(completed(turn)[0]?.result).toMatchObject({ control: 'continue', cancelled: false, error: TEXT });
  });

  it('inside one message keeps the results of those that ran', async () => {
    const { runtime, runs } = await counting();
    const turn = recordedTurn(['w {"n":1}', 'w', 'w', 'w', 'x']);
    await expect(runtime.runTurn(turn)).resolves.toEqual(ENDED);
    expect(runs()).toBe(3);
    expect(turn.committed.map((message) => message.toolCallId)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    expect(contents(turn).slice(0, 3)).toEqual(['1', '2', '3']);
    expect(completed(turn)[4]?.result.error).toBe('not started: run ended by c4');
  });

  it.each([
    [
      'key order and blanks',
      ['w {"a":1,"b":{"c":2,"d":[1]}}', 'w { "b": {"d":[1],"c":2}, "a": 1.0 }', 'w {"b":{"c":2,"d":[1]},"a":1}'],
    ],
    ['no text and no arguments', ['w', 'w  ', { id: 'c3', name: 'w', arguments: '' }]],
    ['text that is no JSON', ['w {"a', 'w {"a', 'w {"a']],
  ])('is recognised whatever its spelling: %s', async (_title, calls) => {
    const { runtime } = await counting();
    await expect(runtime.runTurn(recordedTurn(calls))).resolves.toMatchObject({ stopReason: 'repeated_tool_call' });
  });

  it.each([
    ['another call between', ['w', 'w', 'x', 'w', 'w']],
    ['other arguments', ['w {"n":1}', 'w {"n":2}', 'w {"n":3}']],
    ['values that only look alike', ['w {"n":"1"}', 'w {"n":1}', 'w {"n":[1]}']],
    ['arrays in another order', ['w {"n":[1,2]}', 'w {"n":[2,1]}', 'w {"n":[1,2]}']],
  ])('is not seen where there is none: %s', async (_title, calls) => {
    const { runtime } = await counting();
    await expect(runtime.runTurn(recordedTurn(calls))).resolves.toEqual({ kind: 'continue' });
  });

  it('compares what is asked, not what comes back', async () => {
    let now = 0;
    const runtime = await started([write('w', () => ({ at: (now += 1) }))]);
    await expect(runtime.runTurn(recordedTurn(['w', 'w', 'w']))).resolves.toEqual(ENDED);
  });

  it('counts unknown tools too', async () => {
    const { runtime } = await counting();
    await expect(runtime.runTurn(recordedTurn(['no', 'no', 'no']))).resolves.toMatchObject({
      stopReason: 'repeated_tool_call',
    });
  });

  it('counts each run from zero', async () => {
    const { runtime, runs } = await counting();
    for (const runId of ['one', 'two']) {
      await runtime.onTask({ agentId: 'agent', runId, task: 'go', signal: new AbortController().signal });
      await expect(runtime.runTurn(recordedTurn(['w', 'w'], { runId }))).resolves.toEqual({ kind: 'continue' });
    }
    expect(runs()).toBe(4);
  });

  it('counts from zero when a run is announced again, and when one comes unannounced', async () => {
    const { runtime } = await counting();
    const task = { agentId: 'agent', runId: 'run', task: null, signal: new AbortController().signal };
    await runtime.runTurn(recordedTurn(['w', 'w']));
    await runtime.onTask(task);
    await expect(runtime.runTurn(recordedTurn(['w', 'w']))).resolves.toEqual({ kind: 'continue' });
    await expect(runtime.runTurn(recordedTurn(['w', 'w'], { runId: 'other' }))).resolves.toEqual({ kind: 'continue' });
  });

  it('keeps the limit that the policy sets', async () => {
    const { runtime, runs } = await counting({ policy: { repeatLimit: 2 } });
    await expect(runtime.runTurn(recordedTurn(['w', 'w']))).resolves.toMatchObject({
      error: "tool 'w' was called with the same arguments 2 consecutive times",
    });
    expect(runs()).toBe(1);
  });

  it('waits in a parallel batch for those before it, whose end of the run comes first', async () => {
    const w = gated('w');
    const runtime = await started([w.tool, read('r', () => 'r')], {
      policy: { parallelToolCalls: true, repeatLimit: 2 },
    });
    const turn = recordedTurn(['w', 'w', 'r']);
    const running = runtime.runTurn(turn);
    await w.arrived(1);
    await settle();
    expect(order(turn)).toEqual(['started c1']);
    w.waiting[0]?.resolve(new StepOutcome('bye', { control: 'complete' }));
    await expect(running).resolves.toMatchObject({ stopReason: 'tool_completion' });
    expect(completed(turn).map(({ result }) => result.error)).toEqual([
      null,
      'not started: run ended by c1',
      'not started: run ended by c1',
    ]);
  });
});
