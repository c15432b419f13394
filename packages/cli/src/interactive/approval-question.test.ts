import { endShells, startShell } from '../../test-support/start-shell.js';

afterEach(endShells);

describe('approval', () => {
  const request = (signal = new AbortController().signal) => ({
    callId: 'c1',
    toolName: 'shell',
    arguments: { command: 'rm -rf build\necho ok' },
    signal,
  });

  async function asked(signal?: AbortSignal) {
    const started = await startShell({ task: 'long' });
    const answer = started.sessions.ports.askApproval(request(signal));
    await started.shows('allow?');
    return { ...started, answer };
  }

  it('shows in full what is to be run', async () => {
    const { io } = await asked();
    expect(io.tty.screen.all).toContain('? shell asks to run\n  command: rm -rf build\n    echo ok');
  });

  it.each([
    ['y\r', 'yes'],
    ['YES\r', 'yes'],
    ['a\r', 'always'],
    ['v\r', 'never'],
    ['n\r', 'no'],
    ['\r', 'no'],
    ['\u0004', 'no'],
  ])('%j means %s', async (keys, meaning) => {
    const { type, answer } = await asked();
    type(keys);
    expect(await answer).toBe(meaning);
  });

  it('takes no key without Enter for an answer, and no other word', async () => {
    const { type, answer, shows } = await asked();
    type('y');
    await shows(/never shell: y$/mu);
    type('ellow\r');
    await shows('answer y, n, a or v');
    type('n\r');
    expect(await answer).toBe('no');
  });

  it('keeps what was being written for later', async () => {
    const started = await startShell({ task: 'long' });
    started.type('my dra');
    const answer = started.sessions.ports.askApproval(request());
    await started.shows('allow?');
    started.type('y\r');
    expect(await answer).toBe('yes');
    started.type('ft\r');
    await started.shows('queued: my draft');
  });

  it('Ctrl-C denies and stops the run', async () => {
    const { type, answer, sessions } = await asked();
    type('\u0003');
    expect(await answer).toBe('no');
    expect(sessions.agent.asked.at(-1)).toBe('abort interrupted by the user');
    expect(sessions.agent.isShutDown).toBe(false);
  });

  it('Esc denies and lets the run go on', async () => {
    const { type, answer, sessions } = await asked();
    type('\u001b');
    expect(await answer).toBe('no');
    expect(sessions.agent.asked).toEqual(['run long']);
  });

  it('is void when the call is given up', async () => {
    const controller = new AbortController();
    const { answer, io } = await asked(controller.signal);
    controller.abort();
    expect(await answer).toBe('no');
    await io.tty.hides('allow?');
  });

  it('leaving denies', async () => {
    const { answer, io } = await asked();
    io.signals.emit('SIGTERM');
    expect(await answer).toBe('no');
  });
});
