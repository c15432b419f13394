import { jest } from '@jest/globals';
import type { Fact } from '../domain/facts.js';
import { asked, bash, calling, recorded, signal, stage, statusOf, TOKEN, until } from './engine.test-helper.js';

const OTHER = 'another-token-long-enough';
const server = { name: 's', url: 'http://s', headers: {} };
const skill = { name: 'k', description: 'd', path: '/k' };
const closing = ({ kind }: Fact): boolean => kind === 'turn_closed';

describe('ProxyEngine whose log fails', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is not claimed by a claim that could not be written down', async () => {
    const { engine, log } = await stage({ unclaimed: true });
    log.failing = true;
    const three = await Promise.allSettled([engine.claim(TOKEN), engine.claim(TOKEN), engine.claim(OTHER)]);
    expect(three.map(statusOf)).toEqual([503, 503, 503]);
    expect(engine.claimed).toBeUndefined();
    await expect(engine.next({ ...asked, after: 0 })).rejects.toMatchObject({ status: 401 });
    log.failing = false;
    await engine.claim(OTHER);
    expect(engine.claimed).toEqual({});
  });

  it('keeps the recorded calls, the model and the record as they were', async () => {
    const { engine, log, observed, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: 'x', model: 'm' });
    const told = observed.length;
    log.failing = true;
    await expect(engine.record({ ...recorded, taskId, message: calling('ls') })).rejects.toMatchObject({ status: 503 });
    log.failing = false;
    expect(observed).toHaveLength(told);
    const [turn] = (await engine.next({ ...asked, after: 0 })).turns;
    expect(turn?.pendingCalls).toEqual([]);
    await engine.reply({ token: TOKEN, taskId, texts: ['done'] });
  });

  it('changes no configuration', async () => {
    const { engine, log } = await stage();
    await engine.addServer({ ...server, name: 'old', url: 'http://old' });
    log.failing = true;
    const all = await Promise.allSettled([
      engine.configureAgent({ name: 'x' }),
      engine.addServer(server),
      engine.removeServer('old'),
      engine.addSkill(skill),
    ]);
    expect(all.map(statusOf)).toEqual([503, 503, 503, 503]);
    expect([engine.agentConfig, engine.servers.map(({ name }) => name), engine.skills]).toEqual([{}, ['old'], []]);
    log.failing = false;
    await Promise.all([engine.configureAgent({ name: 'x' }), engine.addServer(server), engine.addSkill(skill)]);
    expect([engine.agentConfig, engine.servers.length, engine.skills]).toEqual([{ name: 'x' }, 2, [skill]]);
  });

  it('gives a refused action back its recorded call and its id', async () => {
    const { engine, log, commands, open } = await stage();
    const taskId = await open();
    await engine.record({ ...recorded, taskId, message: calling('ls') });
    log.failing = true;
    const ask = { ...asked, taskId, actionId: 'a', action: bash('ls') };
    const two = await Promise.allSettled([engine.act(ask), engine.act(ask)]);
    expect([two.map(statusOf), commands.started]).toEqual([[503, 503], []]);
    await expect(engine.result({ ...asked, actionId: 'a' })).rejects.toMatchObject({ status: 404 });
    log.failing = false;
    expect((await engine.act({ ...ask, actionId: 'b' })).done).toBe(true);
  });

  it.each([
    ['before', false],
    ['after', true],
  ])('lets a message go on that waits behind one of its context that is refused %s it was taken', async (_, isLate) => {
    const { engine, log } = await stage();
    log.failing = true;
    log.fails = (fact) => fact.kind === 'turn_submitted' && fact.messageId === 'm1';
    log.before = (fact) => (isLate && log.fails(fact) ? until(() => engine.counts.keptTasks === 1) : undefined);
    const message = { contextId: 'c', message: {}, texts: ['hi'] };
    const [refused, taken] = await Promise.allSettled([
      engine.submit({ ...message, messageId: 'm1' }),
      engine.submit({ ...message, messageId: 'm2' }),
    ]);
    expect([statusOf(refused), statusOf(taken)]).toEqual([503, 200]);
    await until(() => engine.counts.openTurns === 1);
    expect(engine.counts).toMatchObject({ queuedTurns: 0, keptTasks: 1 });
  });

  it('says 503 to a message with an unsupported part, also when only its end fails; the task ends later', async () => {
    const { engine, log } = await stage();
    const message = { contextId: 'c', message: {}, texts: undefined };
    log.failing = true;
    await expect(engine.submit({ ...message, messageId: 'm1' })).rejects.toMatchObject({ status: 503 });
    expect(engine.counts.keptTasks).toBe(0);
    log.fails = closing;
    await expect(engine.submit({ ...message, messageId: 'm2' })).rejects.toMatchObject({ status: 503 });
    const [view] = [...engine.tasks()];
    expect(view?.state).toBe('working');
    await expect(engine.cancel(view?.taskId ?? '')).rejects.toMatchObject({ status: 503 });
    log.failing = false;
    expect(await engine.ended(view?.taskId ?? '', signal)).toMatchObject({ state: 'failed' });
    expect(await engine.submit({ ...message, messageId: 'm2' })).toMatchObject({ taskId: view?.taskId });
  });

  it('lets a sender cancel one whose end could not be written, which then has one end', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'Date'] });
    const { engine, log } = await stage();
    log.failing = true;
    log.fails = closing;
    let tries = 0;
    log.before = (fact) => {
      if (closing(fact)) tries += 1;
    };
    const message = { messageId: 'm', contextId: 'c', message: {}, texts: undefined };
    await expect(engine.submit(message)).rejects.toMatchObject({ status: 503 });
    const [view] = [...engine.tasks()];
    // The second try fails too; after it there is a pause.
    await until(() => tries === 2);
    await new Promise(setImmediate);
    log.failing = false;
    const taskId = view?.taskId ?? '';
    expect(await engine.cancel(taskId)).toMatchObject({ outcome: 'canceled', view: { state: 'canceled' } });
    expect(await engine.cancel(taskId)).toMatchObject({ outcome: 'ended' });
    // The try that was to come finds nothing left to do.
    await jest.advanceTimersByTimeAsync(10_000);
    await engine.close(1000);
    expect(log.kept.filter(({ fact }) => closing(fact))).toHaveLength(1);
  });

  it('opens a turn, ends an action and closes a turn once its log works again', async () => {
    const { engine, log, commands, send, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    log.failing = true;
    log.fails = ({ kind }) => kind === 'turn_opened' || kind === 'action_ended';
    const other = await send();
    commands.finish();
    expect((await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') })).done).toBe(false);
    expect((await engine.next({ ...asked, after: 0 })).turns).toHaveLength(1);
    log.failing = false;
    await engine.opened(other, signal);
    await until(async () => (await engine.result({ ...asked, actionId: 'a' })).done);
    log.failing = true;
    log.fails = closing;
    await engine.reply({ token: TOKEN, taskId, texts: ['x'] });
    expect(engine.task(taskId)?.state).toBe('working');
    log.failing = false;
    expect((await engine.ended(taskId, signal)).state).toBe('completed');
  });
});
