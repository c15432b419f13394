import { getEventListeners } from 'node:events';
import { Refusal } from '../domain/facts.js';
import { asked, bash, calling, recorded, signal, stage, statusOf, TOKEN } from './engine.test-helper.js';

describe('ProxyEngine', () => {
  it('lets one of ten replies at once win, and its turn is left out at once', async () => {
    const { engine, open } = await stage();
    const taskId = await open();
    const ten = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => engine.reply({ token: TOKEN, taskId, texts: [`${n}`] })),
    );
    expect(ten.map(statusOf).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
    expect((await engine.next({ ...asked, after: 0 })).turns).toEqual([]);
    expect(await engine.ended(taskId, signal)).toMatchObject({ state: 'completed', end: { texts: ['0'] } });
  });

  it('runs an action once however often it is asked for at once', async () => {
    const { engine, commands, open } = await stage();
    const taskId = await open();
    const ask = { ...asked, taskId, actionId: 'a', action: bash('echo') };
    const five = await Promise.all(Array.from({ length: 5 }, () => engine.act(ask)));
    expect(five.every(({ done }) => done)).toBe(true);
    expect(commands.started).toEqual(['echo']);
    await expect(engine.act({ ...ask, action: bash('other') })).rejects.toMatchObject({ status: 409 });
  });

  it('stops an action whose turn is answered, and decides between reply and cancel', async () => {
    const { engine, open, observed } = await stage({ longPollMs: 5000 });
    const taskId = await open();
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    const stopped = expect(acting).rejects.toEqual(new Refusal(404, "action 'a' was stopped: its turn is over"));
    const [replied, cancelled] = await Promise.allSettled([
      engine.reply({ token: TOKEN, taskId, texts: ['x'] }),
      engine.cancel(taskId),
    ]);
    await stopped;
    expect(statusOf(replied)).toBe(200);
    expect(cancelled).toMatchObject({ value: { outcome: 'ended', view: { state: 'completed' } } });
    expect(observed.slice(-2)).toMatchObject([{ kind: 'action_ended', cause: 'turn_over' }, { kind: 'turn_closed' }]);
    await expect(engine.result({ ...asked, actionId: 'a' })).rejects.toEqual(new Refusal(404, "no action 'a'"));
  });

  it('holds actions, records and replies to the last recorded call', async () => {
    const { engine, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: calling('ls') });
    const notRun = new Refusal(409, "the last recorded model call's calls to ['bash'] haven't run");
    await expect(engine.record({ ...recorded, taskId, message: 'x' })).rejects.toEqual(notRun);
    await expect(engine.reply({ token: TOKEN, taskId, texts: ['x'] })).rejects.toEqual(notRun);
    const act = (actionId: string, command: string) =>
      engine.act({ ...asked, taskId, actionId, action: bash(command) });
    const notMade = new Refusal(409, "the last recorded model call didn't make this call to 'bash'");
    await expect(act('a', 'pwd')).rejects.toEqual(notMade);
    expect((await act('a', 'ls')).done).toBe(true);
    await expect(act('b', 'ls')).rejects.toEqual(notMade);
    await engine.record({ ...recorded, taskId, message: 'x' });
    await expect(
      engine.record({ ...recorded, taskId: 'none', message: { role: 'user' }, token: 'bad' }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(engine.record({ ...recorded, taskId: 'none', message: 'x', token: 'bad' })).rejects.toMatchObject({
      status: 401,
    });
    await expect(engine.record({ ...recorded, taskId: 'none', message: 'x' })).rejects.toMatchObject({ status: 404 });
  });

  it('changes nothing when its log fails, and says 503', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: calling('ls') });
    log.failing = true;
    const ask = { ...asked, taskId, actionId: 'a', action: bash('ls') };
    const all = await Promise.allSettled([
      engine.act(ask),
      engine.reply({ token: TOKEN, taskId, error: 'x' }),
      engine.cancel(taskId),
      engine.submit({ messageId: 'lost', contextId: 'c', message: {}, texts: ['x'] }),
    ]);
    expect([all.map(statusOf), commands.started]).toEqual([[503, 503, 503, 503], []]);
    log.failing = false;
    expect((await engine.act(ask)).done).toBe(true);
  });

  it('leaves nothing of 500 waits whose clients went', async () => {
    const { engine } = await stage({ longPollMs: 60_000 });
    const leaving = new AbortController();
    const waits = Array.from({ length: 500 }, () => engine.next({ token: TOKEN, after: 9, signal: leaving.signal }));
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(500);
    leaving.abort();
    await Promise.all(waits);
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0);
  });

  it('tells all who wait of a turn that opens, and of one that closes', async () => {
    const { engine, open } = await stage({ longPollMs: 60_000 });
    const opening = [1, 2].map(() => engine.next({ ...asked, after: 0 }));
    const taskId = await open();
    const [first, second] = await Promise.all(opening);
    expect([first?.version, second?.turns.length]).toEqual([1, 1]);
    const closing = [1, 99].map((after) => engine.next({ ...asked, after }));
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    for (const answer of await Promise.all(closing)) expect(answer).toEqual({ version: 2, turns: [] });
  });

  it('is claimed by one of six at once, and again by the same', async () => {
    const { engine, log } = await stage({ unclaimed: true });
    const tokens = Array.from({ length: 6 }, (_, n) => `${n}-${TOKEN}`);
    const six = await Promise.allSettled(tokens.map((token) => engine.claim(token)));
    expect(six.map(statusOf)).toEqual([200, 409, 409, 409, 409, 409]);
    await engine.claim(tokens[0] ?? '');
    await expect(engine.claim('too short')).rejects.toMatchObject({ status: 400 });
    expect(log.kept.filter(({ fact }) => fact.kind === 'claimed')).toHaveLength(1);
  });

  it('frees a claim only with the agreement it was made under; turns stay', async () => {
    const { engine, log, open } = await stage();
    await engine.release('agr');
    await expect(engine.claim('another-token-long-enough')).rejects.toMatchObject({ status: 409 });
    const leased = await stage({ unclaimed: true });
    await leased.engine.claim(TOKEN, { agreementId: 'agr' });
    const taskId = await leased.open();
    await leased.engine.release('other');
    expect(leased.engine.claimed).toEqual({ agreementId: 'agr' });
    await leased.engine.release('agr');
    await expect(leased.engine.next({ ...asked, after: 0 })).rejects.toMatchObject({ status: 401 });
    const again = await stage({ kept: leased.log.kept, unclaimed: true });
    expect(again.engine.claimed).toBeUndefined();
    await again.engine.claim('another-token-long-enough');
    await again.engine.reply({ token: 'another-token-long-enough', taskId, texts: ['x'] });
    expect([log.failing, await open()]).toEqual([false, expect.any(String)]);
  });

  it('keeps to its bound, and forgets no open turn', async () => {
    const { engine, log, open } = await stage({ limits: { maxKeptTasks: 4 } });
    const first = await open();
    for (let n = 0; n < 12; n += 1) {
      const taskId = await open();
      await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
      await engine.ended(taskId, signal);
    }
    await engine.next({ ...asked, after: 1_000_000 });
    expect([engine.counts.keptTasks, engine.task(first)?.state, log.removed.length]).toEqual([4, 'working', 9]);
  });

  it('keeps the task that made the present version, so that the next life tells a higher one', async () => {
    const limits = { maxKeptTasks: 1 };
    const { engine, log, open } = await stage({ limits });
    await open();
    const taskId = await open();
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    await engine.ended(taskId, signal);
    const told = (await engine.next({ ...asked, after: 0 })).version;
    const next = await stage({ kept: log.kept, limits });
    expect((await next.engine.next({ ...asked, after: 0 })).version).toBeGreaterThan(told);
  });
});
