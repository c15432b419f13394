import { completed, contents, read, recordedTurn, started, write } from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';
import type { ToolCallContext } from './tool-handler.js';
import { ToolRuntime } from './tool-runtime.js';

async function single(run: (args: Record<string, unknown>, context: ToolCallContext) => unknown, args = '{}') {
  const runtime = await started([write('w', run)]);
  const turn = recordedTurn([{ id: 'c1', name: 'w', arguments: args }]);
  const outcome = await runtime.runTurn(turn);
  return { outcome, result: completed(turn)[0]?.result, content: contents(turn)[0], turn };
}

function failed(error: string): string {
  return `{"status": "error", "tool": "w", "error": ${JSON.stringify(error)}}`;
}

describe('arguments', () => {
  it.each([
    ['{"a', 'tool arguments are not valid JSON (at character 3)'],
    ['{"secret": hunter2}', 'tool arguments are not valid JSON'],
    ['{"a": 1', 'tool arguments are not valid JSON (at character 7)'],
    ['[1]', 'tool arguments must be a JSON object'],
    ['"text"', 'tool arguments must be a JSON object'],
    ['null', 'tool arguments must be a JSON object'],
    ["{'a': 1}", 'tool arguments are not valid JSON (at character 1)'],
  ])('refuses %s', async (args, error) => {
    let runs = 0;
    const { outcome, result, content } = await single(() => (runs += 1), args);
    expect(outcome).toEqual({ kind: 'continue' });
    expect(runs).toBe(0);
    expect(content).toBe(failed(error));
    expect(result).toMatchObject({ control: 'continue', cancelled: false, error });
  });

  it.each(['', '  \n', '{}'])('takes %j as no arguments', async (args) => {
    const { content } = await single((given) => given, args);
    expect(content).toBe('{}');
  });

  it('does not let a key reach a prototype', async () => {
    const { content } = await single(
      (given) => ({ own: Object.keys(given), polluted: 'x' in {} }),
      '{"__proto__": {"x": 1}}',
    );
    expect(content).toBe('{"own": ["__proto__"], "polluted": false}');
  });

  it('takes nesting that no recursion survives', async () => {
    const depth = 20_000;
    const { outcome, content } = await single(() => 'ok', `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect([outcome, content]).toEqual([{ kind: 'continue' }, 'ok']);
  });
});

describe('a tool that fails', () => {
  it('gives the model an error and the run goes on', async () => {
    const { outcome, result, content } = await single(() => {
      throw new Error('kaboom');
    });
    expect(outcome).toEqual({ kind: 'continue' });
    expect(content).toBe(failed('kaboom'));
    expect(result).toMatchObject({ control: 'continue', cancelled: false, error: 'kaboom' });
  });

  it.each([
    ['a string', 'plain text', 'plain text'],
    ['undefined', undefined, 'the tool failed without an error'],
    ['null', null, 'the tool failed without an error'],
    [
      'an AbortError of its own',
      new DOMException('This operation was aborted', 'AbortError'),
      'This operation was aborted',
    ],
    ['an error without a message', new TypeError(''), 'TypeError'],
    ['an object without a text', Object.create(null), 'the tool failed with an unreadable error'],
    ['lone surrogates', new Error('a\ud800b'), 'a\ufffdb'],
  ])('by throwing %s', async (_title, thrown, error) => {
    const { outcome, result, content } = await single(() => {
      throw thrown;
    });
    expect(outcome).toEqual({ kind: 'continue' });
    expect(content).toBe(failed(error));
    expect(result?.error).toBe(error);
  });

  it('synchronously, in a handler that is not async, does too', async () => {
    const runtime = new ToolRuntime({
      handlers: [
        {
          tools: [{ name: 'w', description: '', effect: 'read_only' }],
          call: () => {
            throw new Error('at once');
          },
        },
      ],
    });
    await runtime.start(new AbortController().signal);
    const turn = recordedTurn(['w']);
    await runtime.runTurn(turn);
    expect(contents(turn)).toEqual([failed('at once')]);
  });

  it('with a text without end has it cut', async () => {
    const { result, content } = await single(() => {
      throw new Error('x'.repeat(1_000_000));
    });
    expect(result?.error).toHaveLength(16_385);
    expect(JSON.parse(content ?? '')).toMatchObject({ error: `${'x'.repeat(16_384)}…` });
  });

  it('with a control that does not exist is an error, not an end', async () => {
    const { outcome, result } = await single(() => new StepOutcome('x', { control: 'finish' as 'complete' }));
    expect(outcome).toEqual({ kind: 'continue' });
    expect(result?.error).toBe('the tool gave back a control that does not exist');
  });

  it('as data shows its error in the event and its data to the model', async () => {
    const { result, content } = await single(() => new StepOutcome({ exit: 1 }, { error: 'exit code 1' }));
    expect([content, result?.error]).toEqual(['{"exit": 1}', 'exit code 1']);
  });

  it('in the middle of a parallel batch leaves the others alone', async () => {
    const boom = read('boom', () => Promise.reject(new Error('kaboom')));
    const runtime = await started([boom, read('r', () => 'r')], { policy: { parallelToolCalls: true } });
    const turn = recordedTurn(['r', 'boom', 'r']);
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'continue' });
    expect(contents(turn)).toEqual(['r', '{"status": "error", "tool": "boom", "error": "kaboom"}', 'r']);
  });
});

describe('a tool that nobody offers', () => {
  it('is answered with the names of all that there are', async () => {
    const runtime = await started([write('w', () => 'w'), read('a', () => 'a')]);
    const turn = recordedTurn(['nope']);
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'continue' });
    expect(completed(turn)[0]?.result.error).toBe("unknown tool 'nope'; available tools: a, w");
    expect(contents(turn)[0]).toBe(
      `{"status": "error", "tool": "nope", "error": "unknown tool 'nope'; available tools: a, w"}`,
    );
  });

  it('may have any name', async () => {
    const runtime = await started([]);
    const turn = recordedTurn([
      { id: 'c1', name: `__proto__\ud800${'x'.repeat(1_000_000)}`, arguments: '{}' },
      'constructor',
    ]);
    await runtime.runTurn(turn);
    expect(contents(turn)[0]?.length).toBeLessThan(1_000);
    expect(completed(turn)[1]?.result.error).toBe("unknown tool 'constructor'; available tools: none");
  });
});

describe('results', () => {
  it('are strings as they are, nothing as null', async () => {
    expect((await single(() => 'plain "text"')).content).toBe('plain "text"');
    expect((await single(() => undefined)).content).toBe('null');
  });

  it('are cut at the limit of the runtime', async () => {
    const runtime = await started([write('w', () => 'x'.repeat(2_000))], { maxResultBytes: 1_000 });
    const turn = recordedTurn(['w']);
    await runtime.runTurn(turn);
    expect(contents(turn)[0]).toMatch(/^x+\n\[truncated: the result is larger than 1000 bytes\]$/u);
    expect(Buffer.byteLength(contents(turn)[0] ?? '')).toBe(1_000);
  });
});

describe('what a tool is told', () => {
  it('is the call, its run and its arguments', async () => {
    let seen: ToolCallContext | undefined;
    const { turn } = await single((_args, context) => void (seen = context), '{"n": 1}');
    expect(seen).toMatchObject({
      agentId: 'agent',
      runId: 'run',
      turn: turn.turn,
      callId: 'c1',
      arguments: { n: 1 },
      tool: { name: 'w', effect: 'side_effecting' },
    });
    expect(seen?.signal.aborted).toBe(false);
  });
});
