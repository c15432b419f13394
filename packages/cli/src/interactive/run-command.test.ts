import { endShells, startShell } from '../../test-support/start-shell.js';

afterEach(endShells);

describe('commands', () => {
  it('/help lists commands and keys', async () => {
    const { type, shows } = await startShell();
    type('/help\r');
    await shows(/\/resume \[ID\] +go on with a stored session/u);
    await shows(/Ctrl-C +stop the task/u);
  });

  it('knows no other command, and says how to send such a task', async () => {
    const { type, shows, sessions } = await startShell();
    type('/etc/passwd is what?\r');
    await shows('no such command: /etc/passwd is what?');
    type(' /etc/passwd is what?\r');
    await shows('> /etc/passwd is what?');
    expect(sessions.agent.asked).toEqual(['run /etc/passwd is what?']);
  });

  it('completes a command with Tab', async () => {
    const { type, shows } = await startShell();
    type('/he\t\r');
    await shows('commands and keys');
  });

  it('/status and /usage tell how things are', async () => {
    const { type, shows, sessions } = await startShell();
    type('/usage\r');
    await shows('no run yet');
    type('go\r');
    sessions.agent.finish();
    type('go\r');
    sessions.agent.finish();
    type('/usage\r');
    await shows('last run: input 10 · output 5 · total 15 · read from cache unknown');
    await shows(/2 runs, 2 requests\): input 20 · output 10 ·/u);
    type('/status\r');
    await shows(/session +one/u);
    await shows(/last run +completed \(text_response\)/u);
    await shows(/model +fake/u);
  });

  it('/continue goes on, or says why it cannot', async () => {
    const { type, shows, sessions } = await startShell();
    sessions.agent.continueRejectionReason = 'no_previous_run';
    type('/continue\r');
    await shows('cannot continue: no_previous_run');
    sessions.agent.continueRejectionReason = null;
    type('/continue\r');
    await shows('(continues)');
    expect(sessions.agent.asked).toEqual(['continue']);
  });

  it('/compact can be stopped', async () => {
    const { type, sessions } = await startShell();
    type('/compact\r');
    await new Promise(setImmediate);
    type('\u0003');
    expect(sessions.agent.asked).toContain('compaction aborted');
  });

  it.each(['/new', '/resume old', '/fork', '/compact', '/continue'])('%s has to wait for a run', async (command) => {
    const { type, shows, sessions } = await startShell({ task: 'long' });
    type(`${command}\r`);
    await shows('has to wait');
    expect(sessions.agents).toHaveLength(1);
    expect(sessions.agent.asked).toEqual(['run long']);
  });

  it('/resume shows what was said, and gives the old agent up', async () => {
    const { type, shows, sessions } = await startShell();
    type('/resume old\r');
    await shows('> what was before');
    await shows('an answer of before');
    await shows('session old, resumed');
    expect(sessions.agents[0]?.isShutDown).toBe(true);
    type('\u001b[A\r');
    await shows('working');
    expect(sessions.agent.asked).toEqual(['run what was before']);
  });

  it('/resume without an id offers a choice', async () => {
    const { type, shows } = await startShell();
    type('/resume\r');
    await shows(/1 +old +2026-11-30 00:00 +2 messages +about old/u);
    await shows('which one (1-1');
    type('7\r');
    await shows('a number from 1 to 1');
    type('1\r');
    await shows('session old, resumed');
  });

  it('/resume stays where it is when nothing is chosen or nothing is there', async () => {
    const { type, shows, sessions } = await startShell();
    type('/resume\r');
    await shows('which one');
    type('\r');
    await shows('nothing chosen');
    type('/resume nowhere\r');
    await shows('no session nowhere');
    expect(sessions.agents).toHaveLength(1);
  });

  it('/fork goes on with a copy', async () => {
    const { type, shows } = await startShell();
    type('/resume old\r');
    await shows('session old, resumed');
    type('/fork\r');
    await shows('session old@fork, resumed');
  });

  it('/sessions lists what is stored, /new begins anew', async () => {
    const { type, shows } = await startShell();
    type('/sessions\r');
    await shows(/old +2026-11-30 00:00 +2 messages/u);
    type('/new\r');
    await shows('session new2');
  });
});
