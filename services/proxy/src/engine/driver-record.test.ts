import { getEventListeners } from 'node:events';
import { Refusal } from '../domain/facts.js';
import { asked, bash, calling, recorded, signal, stage, statusOf, TOKEN, tool } from './engine.test-helper.js';

/** A listing that hangs; tells when it was asked for, and whether it was told to end. */
function hanging(): { list: (ends: AbortSignal) => Promise<never>; asked: Promise<AbortSignal> } {
  const { promise, resolve } = Promise.withResolvers<AbortSignal>();
  return {
    asked: promise,
    list: (ends) => {
      resolve(ends);
      return new Promise<never>(() => undefined);
    },
  };
}

describe('a listing', () => {
  it.each(['reply', 'cancel'] as const)('ends with its turn: %s', async (end) => {
    const { engine, tools, open } = await stage();
    const taskId = await open();
    const listing = hanging();
    tools.list = listing.list;
    const client = new AbortController();
    const own = { ...asked, signal: client.signal };
    const waits = Promise.allSettled([
      engine.tools({ ...own, taskId }),
      engine.record({ ...recorded, ...own, taskId, message: 'x' }),
    ]);
    const ends = await listing.asked;
    if (end === 'reply') await engine.reply({ token: TOKEN, taskId, error: 'x' });
    else await engine.cancel(taskId);
    const over = { status: 'rejected', reason: new Refusal(404, `no open turn '${taskId}'`) };
    expect(await waits).toEqual([over, over]);
    expect([ends.aborted, getEventListeners(client.signal, 'abort').length]).toEqual([true, 0]);
  });

  it('ends with the connection of its caller', async () => {
    const { engine, tools, open } = await stage();
    const taskId = await open();
    const listing = hanging();
    tools.list = listing.list;
    const client = new AbortController();
    const listed = engine.tools({ token: TOKEN, taskId, signal: client.signal });
    const refused = expect(listed).rejects.toMatchObject({ status: 503 });
    const ends = await listing.asked;
    client.abort();
    await refused;
    expect(ends.aborted).toBe(true);
  });

  it('that fails is told to all who wait for it, and records nothing', async () => {
    const { engine, log, tools, open } = await stage();
    const taskId = await open();
    const facts = log.kept.length;
    const why = new Refusal(502, "env server 's': it does not answer");
    tools.list = () => Promise.reject(why);
    const both = [engine.tools({ ...asked, taskId }), engine.record({ ...recorded, taskId, message: 'x' })];
    const refused = { status: 'rejected', reason: why };
    expect(await Promise.allSettled(both)).toEqual([refused, refused]);
    expect(log.kept).toHaveLength(facts);
    tools.list = () => Promise.resolve([]);
    await engine.record({ ...recorded, taskId, message: 'x' });
  });
});

describe('what a turn offers', () => {
  it('is its shell, then the tools of the servers that were there when it opened', async () => {
    const { engine, tools, open } = await stage();
    await engine.addServer({ name: 's', url: 'http://s', headers: {} });
    const taskId = await open();
    await engine.addServer({ name: 'late', url: 'http://late', headers: {} });
    await engine.removeServer('s');
    const listed = await engine.tools({ ...asked, taskId });
    expect(listed.map(({ name, server }) => [name, server])).toEqual([
      ['bash', undefined],
      ['add', 's'],
    ]);
    await engine.tools({ ...asked, taskId: await open() });
    expect(tools.opened.map((servers) => servers.map(({ name }) => name))).toEqual([['s'], ['late']]);
  });

  it('is no shell where there is none', async () => {
    const { engine, send } = await stage({ shell: false });
    const taskId = await send();
    await engine.opened(taskId, signal);
    expect((await engine.tools({ ...asked, taskId })).map(({ name }) => name)).toEqual(['add']);
  });
});

describe('a record', () => {
  it('with a usage that is no JSON is 400 and changes nothing: neither calls nor model', async () => {
    const { engine, log, observed, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: 'x', model: 'first' });
    const [facts, told] = [log.kept.length, observed.length];
    const usage = { input_tokens: Number.NaN };
    await expect(
      engine.record({ ...recorded, taskId, message: calling('ls'), model: 'second', usage }),
    ).rejects.toEqual(new Refusal(400, "the usage can't be kept: it holds a number that isn't finite"));
    expect([log.kept.length, observed.length]).toEqual([facts, told]);
    const notMade = engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') });
    await expect(notMade).rejects.toMatchObject({ status: 409 });
    await engine.reply({ token: TOKEN, taskId, texts: ['no calls are left'] });
  });

  it('with calls is taken once, however many come at once', async () => {
    const { engine, open } = await stage();
    const taskId = await open();
    const three = [1, 2, 3].map(() => engine.record({ ...recorded, taskId, message: calling('ls') }));
    expect((await Promise.allSettled(three)).map(statusOf).sort()).toEqual([200, 409, 409]);
  });

  it('whose calls no turn offers, or that lack a command, permits and blocks nothing', async () => {
    const { engine, open } = await stage();
    const taskId = await open();
    const calls = [
      { type: 'tool_use', name: 'unknown', input: {} },
      { type: 'tool_use', name: 'bash', input: { cmd: 'ls' } },
    ];
    await engine.record({ ...recorded, taskId, message: { content: calls } });
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: tool('unknown') });
    await expect(acting).rejects.toMatchObject({ status: 409 });
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
  });

  it('does not let a reply with parts pass that is decided while it is being written down', async () => {
    const { engine, log, open } = await stage();
    const taskId = await open();
    await engine.tools({ ...asked, taskId });
    await engine.record({ ...recorded, taskId, message: 'x' });
    log.before = ({ kind }) => (kind === 'recorded' ? new Promise((resolve) => setImmediate(resolve)) : undefined);
    const both = [
      engine.record({ ...recorded, taskId, message: calling('ls') }),
      engine.reply({ token: TOKEN, taskId, texts: ['x'] }),
    ];
    expect((await Promise.allSettled(both)).map(statusOf)).toEqual([200, 409]);
    expect(engine.task(taskId)?.state).toBe('working');
  });

  it('does not let an action pass that is decided while it is being written down', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: 'x' });
    log.before = ({ kind }) => (kind === 'recorded' ? new Promise((resolve) => setImmediate(resolve)) : undefined);
    const recording = engine.record({ ...recorded, taskId, message: calling('ls') });
    const acting = engine.act({ ...asked, taskId, actionId: 'a', action: bash('ls') });
    expect([await recording, (await acting).done, commands.started]).toEqual([undefined, true, ['ls']]);
  });
});
