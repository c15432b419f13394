import { jest } from '@jest/globals';
import { asked, bash, signal, stage, TOKEN, until } from './engine.test-helper.js';

describe('the end of a turn', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('comes in time although a command of it does not end; that is on record', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'Date'] });
    const { engine, log, commands, open } = await stage({ longPollMs: 60_000 });
    const taskId = await open();
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('stuck') });
    const stopped = expect(acting).rejects.toMatchObject({ status: 404 });
    await until(() => commands.started.length > 0);
    const replied = engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    await stopped;
    expect(engine.task(taskId)?.state).toBe('working');
    await jest.advanceTimersByTimeAsync(10_000);
    await replied;
    expect(await engine.ended(taskId, signal)).toMatchObject({ state: 'completed', toolCallCount: 1 });
    expect(log.kept.slice(-2).map(({ fact }) => fact)).toMatchObject([
      { kind: 'action_ended', cause: 'turn_over', result: { exitCode: -15 } },
      { kind: 'turn_closed' },
    ]);
    commands.finish();
    await new Promise(setImmediate);
    expect(log.kept.at(-1)?.fact.kind).toBe('turn_closed');
  });

  it('ends what finished commands left behind, and says how many', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') });
    await engine.act({ ...asked, taskId, actionId: 'b', action: bash('hold') });
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    await engine.ended(taskId, signal);
    expect(commands.endAsked.toSorted()).toEqual(['hold', 'ls']);
    expect(log.kept.at(-1)?.fact).toMatchObject({ kind: 'turn_closed', survivors: 1, toolCallCount: 2 });
  });
});
