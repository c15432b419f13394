import { Refusal } from '../domain/facts.js';
import { asked, bash, signal, stage, statusOf, TOKEN, tool, until } from './engine.test-helper.js';

const kindsOf = (facts: readonly { readonly kind: string }[]): readonly string[] => facts.map(({ kind }) => kind);

describe('cancelling a task', () => {
  it('takes one that waits out of its queue: it never becomes a turn, and the version does not move', async () => {
    const { engine, observed, open, send } = await stage();
    const first = await open('c');
    const second = await send({ contextId: 'c' });
    const third = await send({ contextId: 'c' });
    const { version } = await engine.next({ ...asked, after: 0 });
    const waits = [engine.opened(second, signal), engine.ended(second, signal)];
    expect(await engine.cancel(second)).toMatchObject({ outcome: 'canceled', view: { state: 'canceled' } });
    for (const view of await Promise.all(waits)) expect(view.state).toBe('canceled');
    expect([(await engine.next({ ...asked, after: 0 })).version, engine.counts.queuedTurns]).toEqual([version, 1]);
    await engine.reply({ token: TOKEN, taskId: first, texts: ['x'] });
    await engine.opened(third, signal);
    const own = observed.filter((fact) => 'taskId' in fact && fact.taskId === second);
    expect(kindsOf(own)).toEqual(['turn_submitted', 'turn_closed']);
    expect(await engine.cancel(second)).toMatchObject({ outcome: 'ended', view: { state: 'canceled' } });
    expect(await engine.cancel('none')).toEqual({ outcome: 'unknown' });
  });

  it('ends what runs and seals the record before anybody sees the state', async () => {
    const { engine, commands, log, observed, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    await engine.act({ ...asked, taskId, actionId: 'b', action: tool('hold') });
    const seen: unknown[] = [];
    log.before = (fact) => {
      seen.push([fact.kind, engine.task(taskId)?.state]);
    };
    const ended = engine.ended(taskId, signal).then((view) => [view.state, observed.at(-1)?.kind]);
    const cancelled = await engine.cancel(taskId);
    expect(cancelled).toMatchObject({ outcome: 'canceled', view: { state: 'canceled', toolCallCount: 2 } });
    expect(await ended).toEqual(['canceled', 'turn_closed']);
    expect(seen.slice(0, 4)).toEqual([
      ['turn_ending', 'working'],
      ['action_ended', 'working'],
      ['action_ended', 'working'],
      ['turn_closed', 'working'],
    ]);
    expect(commands.endAsked).toEqual(['hold']);
    expect(log.kept.flatMap(({ fact }) => (fact.kind === 'action_ended' ? [fact.cause] : []))).toEqual([
      'turn_over',
      'turn_over',
    ]);
  });

  it('opens the next of its context, and is one cancel however often it is asked for at once', async () => {
    const { engine, open, send } = await stage();
    const first = await open('c');
    const second = await send({ contextId: 'c' });
    const three = await Promise.all([engine.cancel(first), engine.cancel(first), engine.cancel(first)]);
    expect(three.map(({ outcome }) => outcome).sort()).toEqual(['canceled', 'ended', 'ended']);
    await engine.opened(second, signal);
    expect((await engine.next({ ...asked, after: 0 })).turns).toMatchObject([{ taskId: second }]);
    await expect(engine.reply({ token: TOKEN, taskId: first, texts: ['x'] })).rejects.toEqual(
      new Refusal(404, `no open turn '${first}'`),
    );
  });
});

describe('turns of contexts', () => {
  it('are open one at a time in a context, in order of arrival, and beside each other in several', async () => {
    const { engine, send } = await stage();
    const one = [await send({ contextId: 'c' }), await send({ contextId: 'c' }), await send({ contextId: 'c' })];
    const other = await send({ contextId: 'd' });
    const openNow = async (): Promise<readonly string[]> =>
      (await engine.next({ ...asked, after: 0 })).turns.map(({ taskId }) => taskId);
    await engine.opened(other, signal);
    for (const taskId of one) {
      await engine.opened(taskId, signal);
      expect((await openNow()).toSorted()).toEqual([taskId, other].sort());
      await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
      await engine.ended(taskId, signal);
    }
    expect(await openNow()).toEqual([other]);
  });

  it('wait beyond the bound of open turns, and are refused beyond those of waiting ones', async () => {
    const limits = { maxOpenTurns: 1, maxQueuedPerContext: 2, maxQueued: 3 };
    const { engine, open, send } = await stage({ limits });
    const first = await open('a');
    const wait = [await send({ contextId: 'b' }), await send({ contextId: 'b' })];
    await expect(send({ contextId: 'b' })).rejects.toEqual(
      new Refusal(429, "context 'b' has 2 messages waiting already"),
    );
    await send({ contextId: 'c' });
    await expect(send({ contextId: 'd' })).rejects.toEqual(new Refusal(429, '3 messages are waiting already'));
    expect(engine.counts).toMatchObject({ openTurns: 1, queuedTurns: 3, keptTasks: 4 });
    await engine.reply({ token: TOKEN, taskId: first, texts: ['x'] });
    await engine.opened(wait[0] ?? '', signal);
    expect(await send({ contextId: 'd' })).toEqual(expect.any(String));
  });
});

describe('sending a message', () => {
  it('gives the same task for a message id seen before in the same context, also at once', async () => {
    const { engine } = await stage();
    const message = { messageId: 'twice', contextId: 'c', message: { a: 1 }, texts: ['hi'] };
    const five = await Promise.all(Array.from({ length: 5 }, () => engine.submit(message)));
    expect(new Set(five.map(({ taskId }) => taskId)).size).toBe(1);
    const elsewhere = await engine.submit({ ...message, contextId: 'd' });
    const other = await engine.submit({ ...message, messageId: 'once' });
    expect(new Set([five[0]?.taskId, elsewhere.taskId, other.taskId]).size).toBe(3);
    expect(engine.counts.keptTasks).toBe(3);
  });

  it('remembers message ids only as long as their tasks', async () => {
    const { engine } = await stage({ limits: { maxKeptTasks: 2 } });
    const send = async (messageId: string): Promise<string> => {
      const view = await engine.submit({ messageId, contextId: 'c', message: {}, texts: undefined });
      return view.taskId;
    };
    const first = await send('m0');
    expect(await send('m0')).toBe(first);
    for (let n = 1; n <= 4; n += 1) await send(`m${n}`);
    await until(() => engine.task(first) === undefined);
    expect(await send('m0')).not.toBe(first);
  });

  it('takes the trace of its caller, or begins one', async () => {
    const { observed, send } = await stage();
    const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await send({ traceparent: `00-${trace}-${span}-01` });
    await send({ traceparent: 'no such thing' });
    const [given, own] = observed.filter((fact) => fact.kind === 'turn_submitted');
    expect(given).toMatchObject({
      traceId: trace,
      parentSpanId: span,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/u),
    });
    expect(given?.spanId).not.toBe(span);
    expect(own?.traceId).toMatch(/^[0-9a-f]{32}$/u);
    expect(own).not.toHaveProperty('parentSpanId');
  });

  it('refuses what could not be kept as JSON', async () => {
    const { engine, log, send } = await stage();
    const facts = log.kept.length;
    await expect(send({ message: { n: Number.NaN } })).rejects.toMatchObject({ status: 400 });
    expect([log.kept.length, engine.counts.keptTasks]).toEqual([facts, 0]);
  });

  it('fails a message with a part that is not text: no turn, and the version does not move', async () => {
    const { engine, observed } = await stage();
    const view = await engine.submit({ messageId: 'm', message: {}, texts: undefined });
    expect(view).toMatchObject({ state: 'failed', end: { errorCode: 'proxy.unsupported_part' } });
    expect((await engine.next({ ...asked, after: 0 })).version).toBe(0);
    expect(kindsOf(observed.slice(-2))).toEqual(['turn_submitted', 'turn_closed']);
    expect(statusOf((await Promise.allSettled([engine.ended('none', signal)]))[0] as never)).toBe(404);
  });
});
