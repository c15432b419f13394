import { jest } from '@jest/globals';
import { event, FakeAgent, toolCall, toolResult } from '../../test-support/fake-agent.js';
import { FakeInput, FakePipe, fakeIo } from '../../test-support/fake-io.js';
import { OutputWriter } from './output-writer.js';
import { PrintRun } from './print-run.js';
import { NO_INPUT, readInput } from './read-input.js';
import { readTask } from './read-task.js';

function start(isJson = false) {
  const io = fakeIo({ isTty: false });
  const run = new PrintRun(io, isJson);
  const emitted: Promise<void>[] = [];
  const agent = new FakeAgent((one) => emitted.push(run.onEvent(one)));
  const exitCode = run.run({ ref: 'one', agent, notices: ['the last run was cut off'] }, 'do it');
  const started = new Promise<void>((resolve) => setImmediate(resolve));
  return { io, run, agent, exitCode, started };
}

describe('PrintRun', () => {
  it('prints the answer and nothing else', async () => {
    const { io, agent, exitCode, started } = start();
    await started;
    expect(agent.asked).toEqual(['run do it']);
    agent.finish({ output: 'the\tanswer\u001b[2J\n\n' });
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('the\tanswer␛[2J\n');
    expect(io.err.text).toBe('parley: the last run was cut off\n');
    expect(agent.isShutDown).toBe(true);
    expect(io.signals.eventNames()).toEqual([]);
  });

  it('ends with 1 and the reason when the task failed', async () => {
    const { io, agent, exitCode, started } = start();
    await started;
    agent.finish({ status: 'failed', stopReason: 'max_steps', output: null, error: 'limit of 3' });
    expect(await exitCode).toBe(1);
    expect(io.out.text).toBe('');
    expect(io.err.text).toContain('not completed: failed (max_steps): limit of 3\n');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('stops the run on %s and ends with %s', async (signal, code) => {
    const { io, agent, exitCode, started } = start();
    await started;
    io.signals.emit(signal);
    expect(agent.asked.at(-1)).toBe('abort interrupted by the user');
    agent.finishAborted();
    expect(await exitCode).toBe(code);
    expect(agent.isShutDown).toBe(true);
  });

  it('ends with 130 when the run was aborted otherwise', async () => {
    const { agent, exitCode, started } = start();
    await started;
    agent.finishAborted();
    expect(await exitCode).toBe(130);
  });

  it('says which tools were not run', async () => {
    const { io, agent, exitCode, started } = start();
    await started;
    const result = toolResult('{"status":"rejected","tool":"shell","reason":"not allowed"}');
    agent.emit({ kind: 'tool_completed', turn: 1, toolCall: toolCall('shell', {}), result });
    agent.finish();
    await exitCode;
    expect(io.err.text).toContain('parley: shell was not run: --allow or --yes let it\n');
  });

  it('waits for nothing after a second signal', async () => {
    const { io, agent, exitCode, started } = start();
    await started;
    agent.shutdownWork = new Promise(() => undefined);
    io.signals.emit('SIGINT');
    io.signals.emit('SIGINT');
    expect(await exitCode).toBe(130);
  });

  it('prints every event as a line of JSON that no terminal obeys', async () => {
    const { io, agent, exitCode, started } = start(true);
    await started;
    agent.emit({ kind: 'assistant_text_delta', turn: 1, delta: 'a\u009b2J\n' });
    agent.finish();
    expect(await exitCode).toBe(0);
    const lines = io.out.text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).payload.kind)).toEqual([
      'agent_started',
      'turn_started',
      'assistant_text_delta',
      'agent_finished',
    ]);
    expect(JSON.parse(lines[2] ?? '').payload.delta).toBe('a\u009b2J\n');
    expect(io.out.text).not.toContain('\u009b');
  });

  it('stops the run when nobody reads any more', async () => {
    const { io, agent, exitCode, started } = start(true);
    await started;
    io.out.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(agent.asked.at(-1)).toBe('abort interrupted by the user');
    agent.finishAborted();
    expect(await exitCode).toBe(141);
  });

  it('waits for a slow reader', async () => {
    const { io, run } = start(true);
    io.out.isFull = true;
    let isWritten = false;
    const written = run.onEvent(event({ kind: 'turn_started', turn: 1 })).then(() => (isWritten = true));
    await new Promise(setImmediate);
    expect(isWritten).toBe(false);
    io.out.emit('drain');
    await written;
  });
});

describe('OutputWriter', () => {
  it('leaves no listener behind that waited', async () => {
    const pipe = new FakePipe();
    const writer = new OutputWriter(pipe);
    pipe.isFull = true;
    for (let at = 0; at < 20; at += 1) {
      const written = writer.write('x');
      pipe.emit('drain');
      await written;
    }
    expect(pipe.listenerCount('error')).toBe(1);
    expect(pipe.eventNames()).toEqual(['error']);
  });

  it('writes nothing to a reader that has left', async () => {
    const pipe = new FakePipe();
    let lost = 0;
    const writer = new OutputWriter(pipe, () => (lost += 1));
    pipe.emit('error', new Error('EPIPE'));
    pipe.emit('error', new Error('EPIPE'));
    await writer.write('late');
    expect([pipe.text, lost]).toEqual(['', 1]);
  });
});

describe('readInput', () => {
  it('reads to the end, whatever the pieces', async () => {
    const input = new FakeInput();
    const text = readInput(input);
    const bytes = Buffer.from('héllo');
    input.emit('data', bytes.subarray(0, 2));
    input.emit('data', bytes.subarray(2));
    input.emit('end');
    expect(await text).toBe('héllo');
    expect(input.eventNames()).toEqual([]);
  });

  it('refuses more than any model takes', async () => {
    const input = new FakeInput();
    const text = readInput(input);
    input.emit('data', Buffer.alloc(4_000_001, 'x'));
    await expect(text).rejects.toThrow('4000000 characters');
  });

  it('waits no longer for the first byte than it was told', async () => {
    const input = new FakeInput();
    expect(await readInput(input, 5)).toBe(NO_INPUT);
    expect(input.eventNames()).toEqual([]);
  });

  it('waits as long as it takes once something came', async () => {
    const input = new FakeInput();
    const text = readInput(input, 5);
    input.emit('data', Buffer.from('a'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    input.emit('end');
    expect(await text).toBe('a');
  });
});

describe('readTask', () => {
  const warnings: string[] = [];
  const warn = (message: string): Promise<void> => {
    warnings.push(message);
    return Promise.resolve();
  };

  it('puts the input below the task', async () => {
    const input = new FakeInput();
    const task = readTask({ task: 'explain', readsInput: false }, input, warn);
    input.emit('data', Buffer.from('log line\n'));
    input.emit('end');
    expect(await task).toBe('explain\n\nlog line\n');
  });

  it('does not read a terminal', async () => {
    const input = Object.assign(new FakeInput(), { isTTY: true });
    expect(await readTask({ task: 'explain', readsInput: false }, input, warn)).toBe('explain');
    expect(input.eventNames()).toEqual([]);
  });

  it('goes on without an input that was left open, and says so', async () => {
    jest.useFakeTimers();
    try {
      const task = readTask({ task: 'explain', readsInput: false }, new FakeInput(), warn);
      await jest.advanceTimersByTimeAsync(3_000);
      expect(await task).toBe('explain');
      expect(warnings.at(-1)).toContain('within 3 s');
    } finally {
      jest.useRealTimers();
    }
  });

  it('waits for an input that was asked for', async () => {
    const input = new FakeInput();
    const task = readTask({ task: 'explain', readsInput: true }, input, warn);
    input.emit('data', Buffer.from('log'));
    input.emit('end');
    expect(await task).toBe('explain\n\nlog');
  });

  it('needs one of them', async () => {
    const input = new FakeInput();
    const task = readTask({ task: undefined, readsInput: false }, input, warn);
    input.emit('end');
    await expect(task).rejects.toThrow('a task is needed');
  });
});
