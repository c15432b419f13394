import { getEventListeners } from 'node:events';
import { Refusal } from '../domain/facts.js';
import { asked, bash, recorded, stage, statusOf, TOKEN, tool, until } from './engine.test-helper.js';

const stopping = new Refusal(503, 'the proxy is shutting down');
const long = { longPollMs: 60_000 };

describe('closing the engine', () => {
  it('answers every caller that waits, and leaves nothing of their waits', async () => {
    const { engine, tools, open, send } = await stage(long);
    const taskId = await open('c');
    const queued = await send({ contextId: 'c' });
    const client = new AbortController();
    const own = { token: TOKEN, signal: client.signal };
    let hasBegun: () => void = () => undefined;
    const listing = new Promise<void>((resolve) => (hasBegun = resolve));
    tools.list = () => {
      hasBegun();
      return new Promise<never>(() => undefined);
    };
    const { version } = await engine.next({ ...asked, after: 0 });
    const waits = [
      engine.next({ ...own, after: version }),
      engine.act({ ...own, taskId, actionId: 'a', action: bash('hold') }),
      engine.act({ ...own, taskId, actionId: 'a', action: bash('hold') }),
      engine.ended(taskId, client.signal),
      engine.opened(queued, client.signal),
      engine.tools({ ...own, taskId }),
      engine.record({ ...recorded, ...own, taskId, message: 'x' }),
    ];
    await listing;
    await until(() => engine.counts.runningActions > 0);
    await engine.close(2000);
    const [next, first, second, end, opening, listed, record] = await Promise.allSettled(waits);
    expect(next).toMatchObject({ value: { version, turns: [{ taskId }] } });
    for (const answer of [first, second]) {
      expect(answer).toMatchObject({ status: 'fulfilled', value: { done: expect.any(Boolean) as boolean } });
    }
    expect([end, opening]).toMatchObject([{ value: { state: 'working' } }, { value: { state: 'working' } }]);
    expect([listed, record]).toEqual([
      { status: 'rejected', reason: stopping },
      { status: 'rejected', reason: stopping },
    ]);
    expect(getEventListeners(client.signal, 'abort')).toEqual([]);
  });

  it('ends running actions as lost, written down, and closes sessions; turns stay open', async () => {
    const { engine, log, commands, tools, observed, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    await engine.act({ ...asked, taskId, actionId: 'b', action: tool('hold') });
    await engine.close(2000);
    const causes = log.kept.flatMap(({ fact }) => (fact.kind === 'action_ended' ? [fact.cause] : []));
    expect(causes).toEqual(['lost', 'lost']);
    expect(observed.some(({ kind }) => kind === 'turn_ending' || kind === 'turn_closed')).toBe(false);
    expect([tools.closedTurns, tools.isClosed, commands.closedWithin !== undefined]).toEqual([1, true, true]);
    expect(engine.task(taskId)?.state).toBe('working');
  });

  it('takes no longer than its grace over a command that does not end, and gives what is left of it to the runner', async () => {
    const { engine, commands, open } = await stage(long);
    const taskId = await open();
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('stuck') });
    await until(() => commands.started.length > 0);
    const before = performance.now();
    await engine.close(60);
    const took = performance.now() - before;
    expect([took > 50, took < 1_000]).toEqual([true, true]);
    expect(commands.closedWithin).toBeLessThan(20);
    expect([commands.endAsked, await acting]).toEqual([['stuck'], { done: false }]);
  });

  it('does not wait for a log that fails', async () => {
    const { engine, log, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    log.failing = true;
    const before = performance.now();
    await engine.close(50);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(log.kept.some(({ fact }) => fact.kind === 'action_ended')).toBe(false);
  });

  it('refuses whatever comes after, and is the same stop when it is asked for again', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    await Promise.all([engine.close(1000), engine.close(1000)]);
    const facts = log.kept.length;
    const all = await Promise.allSettled([
      engine.claim(TOKEN),
      engine.next({ ...asked, after: 0 }),
      engine.tools({ ...asked, taskId }),
      engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') }),
      engine.result({ ...asked, actionId: 'a' }),
      engine.record({ ...recorded, taskId, message: 'x' }),
      engine.reply({ token: TOKEN, taskId, texts: ['x'] }),
      engine.submit({ messageId: 'm', message: {}, texts: ['x'] }),
      engine.configureAgent({ name: 'x' }),
    ]);
    expect(all.map(statusOf)).toEqual(all.map(() => 503));
    expect([log.kept.length, commands.started]).toEqual([facts, []]);
  });

  it('runs no action whose start was still being written down', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    const writing = Promise.withResolvers<undefined>();
    const isWriting = new Promise<void>((resolve) => {
      log.before = ({ kind }) => {
        if (kind !== 'action_started') return;
        resolve();
        return writing.promise;
      };
    });
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    await isWriting;
    const closing = engine.close(2000);
    writing.resolve(undefined);
    await Promise.all([closing, acting]);
    expect(commands.started).toEqual([]);
    expect(log.kept.at(-1)?.fact).toMatchObject({ kind: 'action_ended', cause: 'lost' });
  });
});
