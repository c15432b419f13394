import { jest } from '@jest/globals';
import { endShells, HISTORY, startShell } from '../../test-support/start-shell.js';

afterEach(endShells);

describe('Ctrl-C and leaving', () => {
  it('stops what runs, and leaves with a second press', async () => {
    const { type, sessions, shows, exitCode } = await startShell({ task: 'long' });
    type('\u0003');
    await shows('stopping');
    expect(sessions.agent.asked).toEqual(['run long', 'abort interrupted by the user']);
    expect(sessions.agent.isShutDown).toBe(false);
    type('\u0003');
    expect(await exitCode).toBe(0);
    expect(sessions.agent.isShutDown).toBe(true);
  });

  it('does not leave when the second press comes late', async () => {
    let now = 1_000;
    const { type, sessions, shows } = await startShell({ task: 'long', now: () => now });
    type('\u0003');
    sessions.agent.finishAborted();
    await shows('aborted: interrupted by the user');
    now += 2_000;
    type('\u0003');
    await shows('as do Ctrl-D and /quit');
    expect(sessions.agent.isShutDown).toBe(false);
  });

  it('clears the line when nothing runs, and leaves with a second press', async () => {
    const { type, sessions, shows, exitCode, io } = await startShell();
    type('half a thought');
    await shows('half a thought');
    type('\u0003');
    await shows('as do Ctrl-D and /quit');
    await io.tty.hides('half a thought');
    type('\u0003');
    expect(await exitCode).toBe(0);
    expect(sessions.agent.asked).toEqual([]);
  });

  it('stops with Esc, and never leaves with it', async () => {
    const { type, sessions, shows } = await startShell({ task: 'long' });
    type('\u001b');
    await shows('stopping');
    expect(sessions.agent.asked.at(-1)).toBe('abort interrupted by the user');
    expect(sessions.agent.isShutDown).toBe(false);
  });

  it.each(['\u0004', '/quit\r'])('leaves with %j and waits for the agent', async (keys) => {
    const { type, sessions, shows, exitCode } = await startShell({ task: 'long' });
    const shutdown = Promise.withResolvers<undefined>();
    sessions.agent.shutdownWork = shutdown.promise;
    type(keys);
    await shows('leaving');
    let hasLeft = false;
    void exitCode.then(() => (hasLeft = true));
    await new Promise(setImmediate);
    expect(hasLeft).toBe(false);
    shutdown.resolve(undefined);
    expect(await exitCode).toBe(0);
  });

  it('waits no longer when Ctrl-C is pressed again', async () => {
    const { type, sessions, shows, exitCode } = await startShell({ task: 'long' });
    sessions.agent.shutdownWork = new Promise(() => undefined);
    type('\u0004');
    await shows('leaving');
    type('\u0003');
    expect(await exitCode).toBe(0);
  });

  it('does not wait for ever for an agent that does not stop', async () => {
    const { sessions, io, exitCode } = await startShell({ task: 'long' });
    sessions.agent.shutdownWork = new Promise(() => undefined);
    jest.useFakeTimers();
    try {
      io.signals.emit('SIGTERM');
      await jest.advanceTimersByTimeAsync(7_000);
      expect(await exitCode).toBe(143);
    } finally {
      jest.useRealTimers();
    }
  });

  it('Ctrl-D with text in the line does not leave', async () => {
    const { type, shows, sessions } = await startShell();
    type('ab\u0001\u0004\r');
    await shows('> b');
    expect(sessions.agent.asked).toEqual(['run b']);
  });

  it('says how to come back', async () => {
    const { type, sessions, io, exitCode } = await startShell();
    sessions.agent.messages = HISTORY;
    type('\u0004');
    await exitCode;
    expect(io.tty.screen.text).toContain('parley run --resume one');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('stops the agent and gives the terminal back on %s', async (signal, code) => {
    const { io, sessions, exitCode } = await startShell({ task: 'long' });
    io.signals.emit(signal);
    expect(await exitCode).toBe(code);
    expect(sessions.agent.isShutDown).toBe(true);
    expect(io.tty.isRaw).toBe(false);
  });

  it.each(['uncaughtExceptionMonitor', 'exit'])('gives the terminal back on %s', async (happening) => {
    const { io } = await startShell({ task: 'long' });
    io.signals.emit(happening);
    expect(io.tty).toMatchObject({ isRaw: false, screen: { isPasteMode: false, isCursorShown: true } });
  });

  it('leaves when the terminal has gone', async () => {
    const { io, sessions, exitCode } = await startShell({ task: 'long' });
    io.tty.isDeaf = true;
    io.tty.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(await exitCode).toBe(129);
    expect(sessions.agent.isShutDown).toBe(true);
  });

  it('Ctrl-Z gives the terminal back, and takes it again when the process goes on', async () => {
    const { type, io, shows } = await startShell();
    type('draft');
    await shows('> draft');
    type('\u001a');
    expect(io.stops).toBe(1);
    expect(io.tty.isRaw).toBe(false);
    io.signals.emit('SIGCONT');
    expect(io.tty.isRaw).toBe(true);
    await shows('> draft');
  });
});
