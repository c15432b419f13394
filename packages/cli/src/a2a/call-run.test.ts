import { jest } from '@jest/globals';
import type { A2aUpdate } from '@parley/agent';
import {
  artifact,
  card,
  failure,
  FakeConnection,
  message,
  status,
  task,
  text,
} from '../../test-support/fake-connection.js';
import { fakeIo, type FakeIoOptions } from '../../test-support/fake-io.js';
import type { CallMode, ConnectSettings } from './a2a-settings.js';
import { CallRun } from './call-run.js';

interface StartOptions extends FakeIoOptions {
  readonly mode?: CallMode;
  readonly connect?: Partial<ConnectSettings>;
  readonly taskId?: string;
  readonly agent?: FakeConnection;
  readonly errIsTty?: boolean;
}

function start(options: StartOptions = {}) {
  const { mode = 'stream', connect, taskId, agent = new FakeConnection() } = options;
  const io = fakeIo({ isTty: false, now: () => 0, ...options });
  Object.assign(io.err, { isTTY: options.errIsTty === true });
  const settings = {
    connect: { url: 'http://a', binding: undefined, headers: {}, timeoutMs: undefined, isJson: false, ...connect },
    message: { capability: undefined, parameters: {}, contextId: undefined, taskId },
    mode,
  };
  const exitCode = new CallRun(io, settings, () => Promise.resolve(agent)).run([text('hello')]);
  // A rejection that a test waits for later is not unhandled.
  exitCode.catch(() => undefined);
  return { io, agent, exitCode };
}

/** Lets everything happen that waits for nothing. */
async function settle(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await Promise.resolve();
}

const working = (): A2aUpdate => ({ kind: 'task', task: task('working') });

afterEach(() => jest.useRealTimers());

describe('a call', () => {
  it('prints artifacts on the standard output and how it goes on the standard error', async () => {
    const { io, agent, exitCode } = start();
    agent.tell(
      { kind: 'task', task: task('submitted') },
      status('working', 'reading\nfiles'),
      status('working', 'reading files'),
      artifact([text('one ')], { name: 'review.md', lastChunk: false }),
      artifact([text('two')], { append: true }),
      status('completed', 'two findings'),
      'end',
    );
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('one two\n');
    expect(io.err.text).toBe(
      'submitted\nworking: reading files\nartifact review.md\ncompleted: two findings\ntask t1 · context c1 · 0.0 s\n',
    );
    expect(agent.isClosed).toBe(true);
    expect(io.signals.eventNames()).toEqual([]);
  });

  it('writes text as soon as it comes', async () => {
    const { io, agent, exitCode } = start();
    agent.tell(working(), artifact([text('one ')], { lastChunk: false }));
    await io.out.shows('one ');
    agent.tell(status('completed'), 'end');
    expect(await exitCode).toBe(0);
  });

  it('prints what a completed task says if it made nothing else', async () => {
    const { io, agent, exitCode } = start();
    agent.tell(working(), status('completed', 'forty-two'), 'end');
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('forty-two\n');
    expect(io.err.text).toContain('completed\ntask t1');
  });

  it('prints an answer without a task', async () => {
    const { io, agent, exitCode } = start();
    agent.tell({ kind: 'message', message: message('hi') }, 'end');
    expect(await exitCode).toBe(0);
    expect([io.out.text, io.err.text]).toEqual(['hi\n', 'answered · context c1 · 0.0 s\n']);
  });

  it.each([
    ['failed', 1],
    ['rejected', 1],
    ['canceled', 1],
    ['input_required', 3],
    ['auth_required', 3],
  ] as const)('that ends %s ends with %i and what the agent says', async (state, code) => {
    const { io, agent, exitCode } = start();
    agent.tell(working(), status(state, 'because'), 'end');
    expect(await exitCode).toBe(code);
    expect(io.out.text).toBe('');
    expect(io.err.text).toContain(`${state.replace('_', '-')}: because\n`);
    expect(io.err.text.includes('answer: parley call http://a --task t1 TEXT')).toBe(code === 3);
  });

  it('is an error when nothing settles the task', async () => {
    const { agent, exitCode } = start();
    agent.tell(working(), 'end');
    await expect(exitCode).rejects.toThrow('nothing more came while the task was working: task t1');
  });

  it('sends no command to a terminal, whatever the agent says, wherever it is cut', async () => {
    const { io, agent, exitCode } = start();
    agent.tell(
      status('working', 'a\u001b[2Jb'),
      artifact([text('x\u001b')], { name: 'n\u009b1m\nfailed: x', lastChunk: false }),
      artifact([text('[2J\u0007 \ud83d')], { append: true, lastChunk: false }),
      artifact([text('\ude00'), { kind: 'url', url: 'http://u\u001b]0;t\u0007' }], { append: true }),
      status('failed', '\u202eno\u001b[31m'),
      'end',
    );
    expect(await exitCode).toBe(1);
    expect(io.out.text + io.err.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
    expect(io.err.text).toContain('artifact n<9b>1m failed: x\n');
    expect(io.out.text).toContain('😀');
    expect(io.out.text).toContain('x␛[2J␇ ');
  });

  it('takes up an artifact where it was when a task is told as a whole', async () => {
    const { io, agent, exitCode } = start();
    const whole = { artifactId: 'a1', name: '', parts: [text('one '), text('two')] };
    agent.tell(
      working(),
      artifact([text('one ')], { lastChunk: false }),
      { kind: 'task', task: task('completed', { artifacts: [whole] }) },
      'end',
    );
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('one two\n');
  });

  it('mentions what is no text, and shows data only where it is all there is', async () => {
    const { io, agent, exitCode } = start();
    const bytes = new Uint8Array(1_500);
    agent.tell(
      artifact([text('report'), { kind: 'data', data: { n: 1 } }], { artifactId: 'a' }),
      artifact([{ kind: 'bytes', bytes, name: 'p.png', mediaType: 'image/png' }], { artifactId: 'b' }),
      artifact([{ kind: 'data', data: { n: 2 } }], { artifactId: 'c' }),
      status('completed'),
      'end',
    );
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('report\n{"n":2}\n');
    expect(io.err.text).toContain('data (7 B): --json shows it\n');
    expect(io.err.text).toContain('file p.png (image/png, 1.5 kB): --json shows it\n');
  });

  it('prints every update as a line of JSON and nothing else', async () => {
    const { io, agent, exitCode } = start({ connect: { isJson: true } });
    agent.tell(
      working(),
      artifact([{ kind: 'bytes', bytes: Uint8Array.of(1, 2), name: 'x' }, text('\u009b')]),
      status('input_required', 'which?'),
      'end',
    );
    expect(await exitCode).toBe(3);
    const lines = io.out.text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['task', 'artifact', 'status']);
    expect(JSON.parse(lines[1] ?? '').artifact.parts[0].bytes).toBe('AQI=');
    expect(io.out.text).not.toContain('\u009b');
    expect(io.err.text).toBe('');
  });

  it.each([
    ['a terminal', true, {}, true],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a pipe', false, {}, false],
  ])('on %s is coloured or not', async (_where, errIsTty, env, isColoured) => {
    const { io, agent, exitCode } = start({ env, errIsTty });
    agent.tell(working(), artifact([text('made')]), status('completed'), 'end');
    await exitCode;
    expect(io.err.text.includes('\u001b[2mworking\u001b[22m\n')).toBe(isColoured);
    expect(io.err.text.includes('\u001b')).toBe(isColoured);
    expect(io.out.text).toBe('made\n');
  });

  it('begins no line about how it goes in the middle of a text on the same screen', async () => {
    const { io, agent, exitCode } = start({ isTty: true, errIsTty: true, env: { NO_COLOR: '1' } });
    const onScreen: string[] = [];
    for (const output of [io.tty, io.err]) {
      const write = output.write.bind(output);
      output.write = (piece) => {
        onScreen.push(piece);
        return write(piece);
      };
    }
    agent.tell(artifact([text('one')]), status('working', 'more'), artifact([text('two')], { append: true }));
    agent.tell(status('completed'), 'end');
    await exitCode;
    expect(onScreen.join('')).toBe('one\nworking: more\ntwo\ncompleted\ntask t1 · context c1 · 0.0 s\n');
  });

  it('sends ids, capability and parameters along', async () => {
    const agent = new FakeConnection();
    const io = fakeIo({ isTty: false });
    const connect = { url: 'http://a', binding: undefined, headers: {}, timeoutMs: undefined, isJson: false };
    const message = { capability: 'sum', parameters: { n: 3 }, contextId: 'c9', taskId: 't9' };
    const exitCode = new CallRun(io, { connect, message, mode: 'stream' }, () => Promise.resolve(agent)).run([
      text('x'),
    ]);
    agent.tell(status('completed'), 'end');
    await exitCode;
    expect(agent.sent).toMatchObject({
      parts: [{ kind: 'text', text: 'x' }],
      options: { contextId: 'c9', taskId: 't9', metadata: { capability: 'sum', parameters: { n: 3 } } },
    });
  });
});

describe('a call without a stream', () => {
  it('asks until the task is settled', async () => {
    const { io, agent, exitCode } = start({ mode: 'poll' });
    const made = { artifactId: 'a1', name: '', parts: [text('done')] };
    agent.tasks = [task('working'), task('completed', { artifacts: [made] })];
    expect(await exitCode).toBe(0);
    expect(agent.sent?.options).toMatchObject({ returnImmediately: true });
    expect(agent.asked).toEqual(['send', 'get t1', 'get t1']);
    expect(io.out.text).toBe('done\n');
  });

  it('is what an agent gets that has no streams', async () => {
    const agent = new FakeConnection();
    agent.card = { ...card, capabilities: { ...card.capabilities, extensions: [], streaming: false } };
    agent.answer = { kind: 'task', task: task('completed', { message: message('ok') }) };
    const { io, exitCode } = start({ agent });
    expect(await exitCode).toBe(0);
    expect([agent.asked, io.out.text]).toEqual([['send'], 'ok\n']);
  });

  it('prints the id of the task and leaves when it was detached', async () => {
    const { io, agent, exitCode } = start({ mode: 'detach' });
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('t1\n');
    expect(agent.sent?.options).toMatchObject({ returnImmediately: true });
    expect(agent.asked).toEqual(['send']);
  });
});

describe('a call that is interrupted', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('%s cancels the remote task, waits for its end and ends with %i', async (signal, code) => {
    const { io, agent, exitCode } = start();
    agent.tell(working());
    await settle();
    io.signals.emit(signal);
    await settle();
    expect(agent.asked).toEqual(['stream', 'cancel t1']);
    agent.tell(artifact([text('put in order')]), status('canceled', 'as you wish'), 'end');
    expect(await exitCode).toBe(code);
    expect(io.out.text).toBe('put in order\n');
    expect(io.err.text).toContain('canceling\ncanceled: as you wish\n');
    expect(io.signals.eventNames()).toEqual([]);
  });

  it('leaves at the second signal', async () => {
    const { io, agent, exitCode } = start();
    agent.onCancel = () => new Promise(() => undefined);
    agent.tell(working());
    await settle();
    io.signals.emit('SIGINT');
    io.signals.emit('SIGINT');
    expect(await exitCode).toBe(130);
    expect(agent.isClosed).toBe(true);
  });

  it('cancels as soon as the agent has named the task', async () => {
    const { io, agent, exitCode } = start();
    await settle();
    io.signals.emit('SIGINT');
    await settle();
    expect(agent.asked).toEqual(['stream']);
    agent.tell(working());
    await settle();
    expect(agent.asked).toEqual(['stream', 'cancel t1']);
    agent.tell(status('canceled'), 'end');
    expect(await exitCode).toBe(130);
  });

  it('waits for no agent that never names a task', async () => {
    jest.useFakeTimers();
    const { io, exitCode } = start();
    await settle();
    io.signals.emit('SIGINT');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await exitCode).toBe(130);
    expect(io.err.text).toContain('the agent named no task: it may go on\n');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('waits for no end that does not come', async () => {
    jest.useFakeTimers();
    const { io, agent, exitCode } = start();
    agent.onCancel = () => task('working');
    agent.tell(working());
    await settle();
    io.signals.emit('SIGINT');
    await jest.advanceTimersByTimeAsync(29_000);
    expect(agent.isClosed).toBe(false);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await exitCode).toBe(130);
    expect(io.err.text).toContain('task t1 may go on\n');
  });

  it('leaves soon when the end is certain and no news of it comes', async () => {
    jest.useFakeTimers();
    const { io, agent, exitCode } = start();
    agent.tell(working());
    await settle();
    io.signals.emit('SIGINT');
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await exitCode).toBe(130);
    expect(agent.isClosed).toBe(true);
  });

  it('says why a task was not cancelled', async () => {
    jest.useFakeTimers();
    const { io, agent, exitCode } = start();
    agent.onCancel = () => Promise.reject(failure('task_not_cancelable', 'Too late'));
    agent.tell(working());
    await settle();
    io.signals.emit('SIGINT');
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await exitCode).toBe(130);
    expect(io.err.text).toContain('it was not canceled: Too late (TASK_NOT_CANCELABLE)\n');
  });

  it('cancels when nobody reads any more', async () => {
    const { io, agent, exitCode } = start();
    agent.tell(working(), artifact([text('x')], { lastChunk: false }));
    await io.out.shows('x');
    io.out.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await settle();
    expect(agent.asked).toContain('cancel t1');
    agent.tell(status('canceled'), 'end');
    expect(await exitCode).toBe(141);
  });

  it('leaves no timer behind when it ends in time', async () => {
    jest.useFakeTimers();
    const { agent, exitCode } = start({ connect: { timeoutMs: 2_000 } });
    agent.tell(status('completed'), 'end');
    await jest.advanceTimersByTimeAsync(0);
    expect(await exitCode).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('cancels when its time is over, and ends with 1', async () => {
    jest.useFakeTimers();
    const { io, agent, exitCode } = start({ connect: { timeoutMs: 2_000 } });
    agent.tell(working());
    await jest.advanceTimersByTimeAsync(2_000);
    expect(agent.asked).toEqual(['stream', 'cancel t1']);
    agent.tell(status('canceled'), 'end');
    await jest.advanceTimersByTimeAsync(0);
    expect(await exitCode).toBe(1);
    expect(io.err.text).toContain('no end within 2 seconds\n');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves at once while there is no connection', async () => {
    const io = fakeIo({ isTty: false });
    const connect = { url: 'http://a', binding: undefined, headers: {}, timeoutMs: undefined, isJson: false };
    const message = { capability: undefined, parameters: {}, contextId: undefined, taskId: undefined };
    let signal: AbortSignal | undefined;
    const run = new CallRun(io, { connect, message, mode: 'stream' }, (_settings, given) => {
      signal = given;
      return new Promise(() => undefined);
    });
    const exitCode = run.run([text('x')]);
    io.signals.emit('SIGINT');
    expect(await exitCode).toBe(130);
    expect(signal?.aborted).toBe(true);
  });
});
