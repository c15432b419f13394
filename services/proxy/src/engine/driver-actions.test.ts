import { Refusal } from '../domain/facts.js';
import { asked, bash, calling, recorded, signal, stage, statusOf, TOKEN, tool, until } from './engine.test-helper.js';

describe('an action', () => {
  it('is written down as started before it runs, and as ended before its result is told', async () => {
    const { engine, log, commands, tools, open } = await stage();
    const taskId = await open();
    const seen: unknown[] = [];
    log.before = async ({ kind }) => {
      // Whoever would not wait for it comes first.
      await new Promise(setImmediate);
      seen.push([kind, [...commands.started, ...tools.called], engine.counts.runningActions]);
    };
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') });
    await engine.act({ ...asked, taskId, actionId: 'b', action: tool('add') });
    expect(seen).toEqual([
      ['action_started', [], 1],
      ['action_ended', ['ls'], 1],
      ['action_started', ['ls'], 1],
      ['action_ended', ['ls', 'add'], 1],
    ]);
  });

  it('does not begin when it is cancelled while its start is being written down', async () => {
    const { engine, log, commands, tools, open } = await stage({ longPollMs: 5000 });
    const taskId = await open();
    const writing = Promise.withResolvers<undefined>();
    log.before = ({ kind }) => (kind === 'action_started' ? writing.promise : undefined);
    const acts = [
      engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') }),
      engine.act({ ...asked, taskId, actionId: 'b', action: tool('hold') }),
    ];
    const cancels = ['a', 'b'].map((actionId) => engine.cancelAction({ ...asked, actionId }));
    writing.resolve(undefined);
    const answers = await Promise.all(acts);
    expect(answers).toMatchObject([
      { done: true, result: { exitCode: -15 } },
      { done: true, result: { isError: true } },
    ]);
    expect(await Promise.all(cancels)).toEqual(answers);
    expect([commands.started, tools.called]).toEqual([[], []]);
  });

  it('is cancelled alone: its result says so, and the turn goes on', async () => {
    const { engine, log, commands, tools, open } = await stage({ longPollMs: 5000 });
    const taskId = await open();
    const waits = [
      engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') }),
      engine.act({ ...asked, taskId, actionId: 'b', action: tool('hold') }),
    ];
    await until(() => commands.started.length + tools.called.length === 2);
    const command = await engine.cancelAction({ ...asked, actionId: 'a' });
    const call = await engine.cancelAction({ ...asked, actionId: 'b' });
    expect(command.result).toMatchObject({ stderr: 'error: the command was stopped: the driver cancelled it\n' });
    expect(call.result).toMatchObject({
      isError: true,
      content: [{ text: 'error: the tool call was stopped: the driver cancelled it' }],
    });
    expect(await Promise.all(waits)).toEqual([command, call]);
    expect(await engine.cancelAction({ ...asked, actionId: 'a' })).toEqual(command);
    expect(log.kept.flatMap(({ fact }) => (fact.kind === 'action_ended' ? [fact.cause] : []))).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect([commands.endAsked, engine.counts.runningActions]).toEqual([['hold'], 0]);
    await expect(engine.cancelAction({ ...asked, actionId: 'none' })).rejects.toEqual(
      new Refusal(404, "no action 'none'"),
    );
    expect((await engine.act({ ...asked, taskId, actionId: 'c', action: bash('ls') })).done).toBe(true);
  });

  it('tells its output bit by bit to whoever asks for what comes after', async () => {
    const { engine, commands, open } = await stage({ longPollMs: 5000 });
    const taskId = await open();
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    await until(() => commands.started.length > 0);
    const waiting = engine.result({ ...asked, actionId: 'a', after: 0 });
    commands.write({ stream: 'stdout', text: 'one' });
    expect(await waiting).toEqual({ done: false, output: { stdout: 'one', stderr: '', next: 3 } });
    commands.write({ stream: 'stderr', text: 'two' });
    commands.write({ stream: 'stdout', text: '!' });
    expect(await engine.result({ ...asked, actionId: 'a', after: 3 })).toEqual({
      done: false,
      output: { stdout: '!', stderr: 'two', next: 7 },
    });
    const last = engine.result({ ...asked, actionId: 'a', after: 7 });
    commands.finish();
    expect(await last).toMatchObject({ done: true, output: { stdout: '', stderr: '', next: 7 } });
    expect(await acting).not.toHaveProperty('output');
    expect(await engine.result({ ...asked, actionId: 'a', after: 0 })).toMatchObject({
      output: { stdout: 'one!', stderr: 'two', next: 7 },
    });
  });

  it('is refused beyond the bound of its turn; finished ones count too', async () => {
    const { engine, commands, open } = await stage({ limits: { maxActionsPerTurn: 2 } });
    const taskId = await open();
    const act = (actionId: string) => engine.act({ ...asked, taskId, actionId, action: bash('ls') });
    await act('a');
    await act('b');
    await expect(act('c')).rejects.toEqual(new Refusal(429, 'the turn has had 2 actions, and may have no more'));
    expect((await act('a')).done).toBe(true);
    expect(commands.started).toHaveLength(2);
  });

  it('waits its turn when too many commands run, and can be cancelled while it waits', async () => {
    const { engine, commands, open } = await stage({ limits: { maxRunningCommands: 1 } });
    const taskId = await open();
    const act = (actionId: string, command: string) =>
      engine.act({ ...asked, taskId, actionId, action: bash(command) });
    await act('a', 'hold');
    expect(await Promise.all([act('b', 'never'), act('c', 'last')])).toEqual([{ done: false }, { done: false }]);
    expect((await engine.act({ ...asked, taskId, actionId: 't', action: tool('add') })).done).toBe(true);
    expect((await engine.cancelAction({ ...asked, actionId: 'b' })).done).toBe(true);
    commands.finish();
    await until(async () => (await engine.result({ ...asked, actionId: 'c' })).done);
    expect(commands.started).toEqual(['hold', 'last']);
  });

  it('has an id of its own among open turns, which is free again when its turn is over', async () => {
    const { engine, commands, open } = await stage();
    const [taskId, other] = [await open(), await open()];
    const ask = { ...asked, actionId: 'a', action: bash('ls') };
    await engine.act({ ...ask, taskId });
    await expect(engine.act({ ...ask, taskId: other })).rejects.toEqual(
      new Refusal(409, "action 'a' is another turn's"),
    );
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    expect((await engine.act({ ...ask, taskId: other })).done).toBe(true);
    expect(commands.started).toHaveLength(2);
  });

  it('needs an id of 1 to 128 characters and a time-out over 0; nothing of a refused one stays', async () => {
    const { engine, log, open } = await stage();
    const taskId = await open();
    const facts = log.kept.length;
    const act = (actionId: string, timeoutSeconds?: number) =>
      engine.act({
        ...asked,
        taskId,
        actionId,
        action: { ...bash('ls'), ...(timeoutSeconds !== undefined && { timeoutSeconds }) },
      });
    const bad = [act(''), act('x'.repeat(129)), act('a', 0), act('a', -1), act('a', Number.NaN)];
    expect((await Promise.allSettled(bad)).map(statusOf)).toEqual([400, 400, 400, 400, 400]);
    const deep = engine.act({ ...asked, taskId, actionId: 'a', action: tool('add', { n: Number.POSITIVE_INFINITY }) });
    await expect(deep).rejects.toMatchObject({ status: 400 });
    expect(log.kept).toHaveLength(facts);
    expect((await act('🙂'.repeat(128), Number.POSITIVE_INFINITY)).done).toBe(true);
  });

  it('is no command where there is no shell', async () => {
    const { engine, send } = await stage({ shell: false });
    const taskId = await send();
    await engine.opened(taskId, signal);
    await expect(engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') })).rejects.toEqual(
      new Refusal(409, 'this proxy works in no sandbox, so it runs no commands'),
    );
    expect((await engine.act({ ...asked, taskId, actionId: 'a', action: tool('add') })).done).toBe(true);
  });

  it('hears at once that its turn is over, also from a wait for its result', async () => {
    const { engine, open } = await stage({ longPollMs: 60_000 });
    const taskId = await open();
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: tool('hold') });
    await until(() => engine.counts.runningActions > 0);
    const waits = [
      acting,
      engine.result({ ...asked, actionId: 'a' }),
      engine.result({ ...asked, actionId: 'a', after: 0 }),
    ];
    const all = Promise.allSettled(waits);
    await engine.cancel(taskId);
    const stopped = new Refusal(404, "action 'a' was stopped: its turn is over");
    expect(await all).toEqual(waits.map(() => ({ status: 'rejected', reason: stopped })));
  });

  it('takes up one recorded call, however many ask for it at once', async () => {
    const { engine, commands, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: calling('ls') });
    const five = ['a', 'b', 'c', 'd', 'e'].map((actionId) =>
      engine.act({ ...asked, taskId, actionId, action: bash('ls') }),
    );
    expect((await Promise.allSettled(five)).map(statusOf).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(commands.started).toEqual(['ls']);
  });
});
