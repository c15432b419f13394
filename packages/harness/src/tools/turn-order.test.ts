import { StepOutcome } from './step-outcome.js';
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

const parallel = { policy: { parallelToolCalls: true, maxParallelToolCalls: 2 } };

describe('order of calls', () => {
  it('runs calls one after the other by default, each stored before it is shown', async () => {
    const runtime = await started([read('a', () => ({ v: 'a' })), read('b', () => ({ v: 'b' }))]);
    const turn = recordedTurn(['a', 'b']);
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'continue' });
    expect(turn.log).toEqual([
      'started c1',
      'committed c1',
      'completed c1',
      'started c2',
      'committed c2',
      'completed c2',
    ]);
    expect(contents(turn)).toEqual(['{"v": "a"}', '{"v": "b"}']);
  });

  it('tells results of a parallel batch in source order though the second ended first', async () => {
    const a = gated('a');
    const b = gated('b');
    const runtime = await started([a.tool, b.tool], parallel);
    const turn = recordedTurn(['a', 'b']);
    const running = runtime.runTurn(turn);
    await b.arrived(1);
    b.waiting[0]?.resolve('late');
    await settle();
    expect(order(turn)).toEqual(['started c1', 'started c2']);
    a.waiting[0]?.resolve('early');
    await running;
    expect(order(turn)).toEqual(['started c1', 'started c2', 'completed c1', 'completed c2']);
    expect(contents(turn)).toEqual(['early', 'late']);
    expect(turn.committed.map((message) => message.toolCallId)).toEqual(['c1', 'c2']);
  });

  it('stores results that are there together in one commit', async () => {
    const a = gated('a');
    const b = gated('b');
    const runtime = await started([a.tool, b.tool], parallel);
    const turn = recordedTurn(['a', 'b']);
    const running = runtime.runTurn(turn);
    await b.arrived(1);
    b.waiting[0]?.resolve(1);
    await settle();
    a.waiting[0]?.resolve(2);
    await running;
    expect(turn.log.filter((line) => line.startsWith('committed'))).toEqual(['committed c1 c2']);
  });

  it('starts the next read as soon as any of the running ones has ended, never more than the limit', async () => {
    const a = gated('a');
    const b = gated('b');
    const runtime = await started([a.tool, b.tool], parallel);
    const turn = recordedTurn(['a', 'b', 'b {"n":2}', 'b {"n":3}']);
    const running = runtime.runTurn(turn);
    await b.arrived(1);
    await settle();
    expect([a.arrivals, b.arrivals]).toEqual([1, 1]);
    b.waiting[0]?.resolve(1);
    await b.arrived(2);
    await settle();
    expect([a.arrivals, b.arrivals]).toEqual([1, 2]);
    b.waiting[1]?.resolve(2);
    await b.arrived(3);
    b.waiting[2]?.resolve(3);
    a.waiting[0]?.resolve(0);
    await running;
    expect(order(turn)).toEqual([
      'started c1',
      'started c2',
      'started c3',
      'started c4',
      'completed c1',
      'completed c2',
      'completed c3',
      'completed c4',
    ]);
    expect(contents(turn)).toEqual(['0', '1', '2', '3']);
  });

  it('runs eight at the same time if no number is given', async () => {
    const a = gated('a');
    const runtime = await started([a.tool], { policy: { parallelToolCalls: true, repeatLimit: 100 } });
    const running = runtime.runTurn(recordedTurn(Array.from({ length: 12 }, () => 'a')));
    await a.arrived(8);
    await settle();
    expect(a.arrivals).toBe(8);
    for (let index = 0; index < 12; index += 1) {
      await a.arrived(index + 1);
      a.waiting[index]?.resolve(null);
    }
    await running;
  });

  it('treats a call with side effects as a barrier on both sides', async () => {
    const log: string[] = [];
    const tool = (name: string) => async () => {
      log.push(`${name}+`);
      await settle();
      log.push(`${name}-`);
    };
    const runtime = await started([read('a', tool('a')), read('b', tool('b')), write('w', tool('w'))], parallel);
    const turn = recordedTurn(['a', 'b', 'w', 'b', 'a']);
    await runtime.runTurn(turn);
    expect(log).toEqual(['a+', 'b+', 'a-', 'b-', 'w+', 'w-', 'b+', 'a+', 'b-', 'a-']);
    expect(order(turn)).toEqual([
      'started c1',
      'started c2',
      'completed c1',
      'completed c2',
      'started c3',
      'completed c3',
      'started c4',
      'started c5',
      'completed c4',
      'completed c5',
    ]);
  });

  it('treats an unknown tool as a barrier of its own', async () => {
    const runtime = await started([read('a', () => 'a'), read('b', () => 'b')], parallel);
    const turn = recordedTurn(['a', 'nope', 'b', 'a']);
    await runtime.runTurn(turn);
    expect(order(turn)).toEqual([
      'started c1',
      'completed c1',
      'started c2',
      'completed c2',
      'started c3',
      'started c4',
      'completed c3',
      'completed c4',
    ]);
  });

  it('lets no other event come between a commit and its event', async () => {
    const runtime = await started(
      [
        read('a', async (_args, { progress }) => {
          await progress.report({ message: 'one' });
        }),
        read('b', async (_args, { progress }) => {
          for (let step = 0; step < 20; step += 1) await progress.report({ message: 'two' });
        }),
      ],
      parallel,
    );
    const turn = recordedTurn(['a', 'b'], { onCommit: settle });
    await runtime.runTurn(turn);
    expect(turn.log.indexOf('completed c1')).toBe(turn.log.indexOf('committed c1') + 1);
    expect(completed(turn)).toHaveLength(2);
  });
});

describe('a call that ends the run', () => {
  it.each([
    ['complete', { stopReason: 'tool_completion', output: '{"v": 1}', error: null }],
    ['reject', { stopReason: 'tool_rejected', output: '{"v": 1}', error: 'tool execution was rejected' }],
    ['cancel', { stopReason: 'tool_cancelled', output: '{"v": 1}', error: 'tool execution was cancelled' }],
  ] as const)('settles the calls after it: %s', async (control, ending) => {
    let writes = 0;
    const runtime = await started([
      write('end', () => new StepOutcome({ v: 1 }, { control })),
      write('w', () => (writes += 1)),
      read('r', () => (writes += 1)),
    ]);
    const turn = recordedTurn(['end', 'w', 'r']);
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'ended', ...ending });
    expect(writes).toBe(0);
    expect(turn.log.filter((line) => !line.endsWith('c1'))).toEqual([
      'started c2',
      'committed c2',
      'completed c2',
      'started c3',
      'committed c3',
      'completed c3',
    ]);
    expect(completed(turn).map(({ result }) => [result.control, result.cancelled, result.error])).toEqual([
      [control, false, null],
      ['continue', true, 'not started: run ended by c1'],
      ['continue', true, 'not started: run ended by c1'],
    ]);
    expect(contents(turn)[1]).toBe(
      '{"status": "cancelled", "tool": "w", "code": "cancelled_before_start", "error": "not started: run ended by c1"}',
    );
  });

  it('lets peers of its batch finish, and settles the rest of the batch and the write behind it', async () => {
    const peer = gated('peer');
    let writes = 0;
    const runtime = await started(
      [read('end', () => new StepOutcome('bye', { control: 'complete' })), peer.tool, write('w', () => (writes += 1))],
      parallel,
    );
    const turn = recordedTurn(['end', 'peer', 'peer {"n":1}', 'w']);
    const running = runtime.runTurn(turn);
    await peer.arrived(1);
    await settle();
    peer.waiting[0]?.resolve('peer');
    await expect(running).resolves.toMatchObject({ kind: 'ended', stopReason: 'tool_completion', output: 'bye' });
    expect([peer.arrivals, writes]).toEqual([1, 0]);
    expect(completed(turn).map(({ result }) => result.cancelled)).toEqual([false, false, true, true]);
    expect(contents(turn)[1]).toBe('peer');
    expect(completed(turn)[3]?.result.error).toBe('not started: run ended by c1');
  });

  it('starts nothing more once any call of the batch has ended the run, and the first in source order wins', async () => {
    const slow = gated('slow');
    const runtime = await started(
      [slow.tool, read('end', () => new StepOutcome('second', { control: 'complete' })), read('r', () => 'r')],
      parallel,
    );
    const turn = recordedTurn(['slow', 'end', 'r']);
    const running = runtime.runTurn(turn);
    await slow.arrived(1);
    await settle();
    expect(order(turn)).toEqual(['started c1', 'started c2']);
    slow.waiting[0]?.resolve(new StepOutcome('first', { control: 'reject' }));
    await expect(running).resolves.toMatchObject({ stopReason: 'tool_rejected', output: 'first' });
    expect(completed(turn).map(({ result }) => result.error)).toEqual([null, null, 'not started: run ended by c1']);
  });
});

describe('calls that cannot be told apart', () => {
  it('runs the first of two calls with one id and refuses the second', async () => {
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))]);
    const call = { id: 'c1', name: 'w', arguments: '{}' };
    const turn = recordedTurn([call, call]);
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'continue' });
    expect(runs).toBe(1);
    expect(contents(turn)[1]).toContain('"code": "duplicate_id"');
  });
});

describe('refuseAll', () => {
  it('gives every call an error result and runs none', async () => {
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))]);
    const turn = recordedTurn(['w', 'nope {"half']);
    await runtime.refuseAll(turn, 'the answer was cut off');
    expect(runs).toBe(0);
    expect(turn.log).toEqual([
      'started c1',
      'committed c1',
      'completed c1',
      'started c2',
      'committed c2',
      'completed c2',
    ]);
    expect(contents(turn)).toEqual([
      '{"status": "error", "tool": "w", "error": "the answer was cut off"}',
      '{"status": "error", "tool": "nope", "error": "the answer was cut off"}',
    ]);
    expect(completed(turn)[0]?.result).toMatchObject({
      control: 'continue',
      cancelled: false,
      error: 'the answer was cut off',
    });
  });
});
