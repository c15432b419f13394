import { event, runResult, toolCall, toolResult } from '../../test-support/fake-agent.js';
import { endShells, startShell } from '../../test-support/start-shell.js';

afterEach(endShells);

describe('tasks', () => {
  it('runs a line, streams the answer, and is ready for the next one', async () => {
    const { type, shows, sessions } = await startShell();
    type('say hello\r');
    await shows('> say hello');
    await shows('working');
    sessions.agent.emit({ kind: 'assistant_thinking_delta', turn: 1, delta: 'let me think' });
    sessions.agent.emit({ kind: 'assistant_text_delta', turn: 1, delta: 'hello ' });
    sessions.agent.emit({ kind: 'assistant_text_delta', turn: 1, delta: 'there' });
    await shows('let me think');
    await shows('hello there');
    sessions.agent.finish();
    await shows('1 turn · 15 tokens');
    type('again\r');
    await shows('> again');
    expect(sessions.agent.asked).toEqual(['run say hello', 'run again']);
  });

  it('starts with the task of the command line', async () => {
    const { sessions, shows } = await startShell({ task: 'from the shell' });
    await shows('> from the shell');
    expect(sessions.agent.asked).toEqual(['run from the shell']);
  });

  it('sends nothing for an empty line', async () => {
    const { type, sessions, shows } = await startShell();
    type('  \r');
    type('x\r');
    await shows('> x');
    expect(sessions.agent.asked).toEqual(['run x']);
  });

  it('sends a paste of several lines as one task, and only with Enter', async () => {
    const { type, sessions, shows } = await startShell();
    type('\u001b[200~line one\nline two\u001b[201~');
    await shows('line two');
    expect(sessions.agent.asked).toEqual([]);
    type('\r');
    await shows('working');
    expect(sessions.agent.asked).toEqual(['run line one\nline two']);
  });

  it('shows a running tool with its latest report, then a card', async () => {
    const { type, sessions, shows, io } = await startShell();
    type('go\r');
    const call = toolCall('shell', { command: 'make all' });
    sessions.agent.emit({ kind: 'tool_started', turn: 1, toolCall: call });
    sessions.agent.emit({ kind: 'tool_progressed', turn: 1, toolCall: call, update: { message: 'step 1' } });
    await shows(/◌ shell \d+\.\d s {2}make all {2}step 1/u);
    sessions.agent.emit({ kind: 'tool_completed', turn: 1, toolCall: call, result: toolResult('built') });
    await shows(/✓ shell \d+\.\d s {2}make all\n {2}│ built/u);
    await io.tty.hides('◌');
  });

  it('tells what goes wrong with a run that gives no result', async () => {
    const { type, sessions, shows } = await startShell();
    type('go\r');
    sessions.agent.fail(new Error('the agent was shut down'));
    await shows('the agent was shut down');
  });
});

describe('steering', () => {
  it('shows a text as queued until it was applied', async () => {
    const { type, sessions, shows, io } = await startShell({ task: 'long' });
    await shows('working');
    type('use tabs\r');
    await shows('queued: use tabs');
    expect(sessions.agent.asked).toEqual(['run long', 'steer use tabs']);
    const control = { inputId: 'id of use tabs', kind: 'steering', content: 'use tabs' } as const;
    sessions.agent.emit({ kind: 'steering_applied', control, targetTurn: 2 });
    await shows('> use tabs\n  (steering)');
    await io.tty.hides('queued:');
  });

  it('tells when it was not applied, and has it ready to be sent again', async () => {
    const { type, sessions, shows } = await startShell({ task: 'long' });
    await shows('working');
    type('use tabs\r');
    const control = { inputId: 'id of use tabs', kind: 'steering', content: 'use tabs' } as const;
    sessions.agent.emit({ kind: 'steering_discarded', control, reason: 'external_abort' });
    sessions.agent.finishAborted();
    await shows('not applied (external_abort): use tabs');
    type('\u001b[A\r');
    await shows('> use tabs');
    expect(sessions.agent.asked.at(-1)).toBe('run use tabs');
  });

  it.each(['run_closing', 'queue_full'] as const)('gives a text back when the answer is %s', async (status) => {
    const { type, sessions, shows } = await startShell({ task: 'long' });
    sessions.agent.steerStatus = status;
    type('one more\r');
    await shows('press Enter again');
    await shows('> one more');
    sessions.agent.finish();
    await shows('1 turn');
    type('\r');
    await shows('working');
    expect(sessions.agent.asked.at(-1)).toBe('run one more');
  });

  it('waits with /followup', async () => {
    const { type, sessions, shows } = await startShell({ task: 'long' });
    type('/followup then this\r');
    await shows('follow-up 1: then this');
    expect(sessions.agent.asked).toEqual(['run long', 'followUp then this']);
  });

  it('runs a follow-up at once when there is nothing to follow', async () => {
    const { type, sessions, shows } = await startShell();
    type('/followup now\r');
    await shows('> now');
    expect(sessions.agent.asked).toEqual(['followUp now', 'run now']);
  });
});

describe('the screen', () => {
  it('shows nothing that a terminal would obey, whatever the agent says', async () => {
    const { sessions, shows, io } = await startShell({ task: 'long' });
    // The screen of the test throws on any sequence that the program does not write itself.
    sessions.agent.emit({ kind: 'assistant_text_delta', turn: 1, delta: 'a\u001b]0;title\u0007\u001b[5' });
    sessions.agent.emit({ kind: 'assistant_text_delta', turn: 1, delta: 'n\u009b6n end' });
    await shows('a␛]0;title␇␛[5n<9b>6n end');
    const call = { ...toolCall('shell', { command: '\u001b[2J' }), name: 'sh\u001b[1mell' };
    sessions.agent.emit({ kind: 'tool_started', turn: 1, toolCall: call });
    sessions.agent.emit({ kind: 'tool_progressed', turn: 1, toolCall: call, update: { message: '\u001b[H' } });
    await shows('␛[H');
    void sessions.ports.askApproval({
      callId: 'c',
      toolName: 'x\u001b[2J',
      arguments: { p: '\u001b[2J' },
      signal: new AbortController().signal,
    });
    await shows('p: ␛[2J');
    sessions.ports.warn('bad\u001b[2J');
    await shows('bad␛[2J');
    expect(io.tty.written).not.toContain('\u001b]');
  });

  it('is drawn for the new size when the window changes', async () => {
    const { type, shows, io } = await startShell();
    type('x'.repeat(60));
    await shows('x'.repeat(60));
    io.tty.screen.columns = 40;
    io.tty.emit('resize');
    await shows(new RegExp(`> x{37}\\n {2}x{23}$`, 'mu'));
  });

  it('Ctrl-L clears it', async () => {
    const { type, io } = await startShell();
    type('draft\u000c');
    await io.tty.until(() => io.tty.screen.text === '> draft', 'a cleared screen');
  });

  it('has no colour with NO_COLOR, and some without', async () => {
    const plain = await startShell();
    await plain.shows('parley test');
    expect(plain.io.tty.written).not.toContain('\u001b[2m');
    const coloured = await startShell({ env: {} });
    await coloured.shows('parley test');
    expect(coloured.io.tty.written).toContain('\u001b[2mparley test');
  });

  it('ignores events that come after the end', async () => {
    const { type, sessions, exitCode, io } = await startShell();
    type('\u0004');
    await exitCode;
    const { written } = io.tty;
    await sessions.ports.onEvent(event({ kind: 'agent_finished', result: runResult() }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(io.tty.written).toBe(written);
  });
});
