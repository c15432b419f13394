import type { Fact } from '../domain/facts.js';
import { asked, bash, calling, type Kept, recorded, signal, stage, TOKEN, tool, until } from './engine.test-helper.js';

const factsOf = <K extends Fact['kind']>(kept: readonly Kept[], kind: K): Extract<Fact, { kind: K }>[] =>
  kept.map(({ fact }) => fact).filter((fact) => fact.kind === kind) as Extract<Fact, { kind: K }>[];

/** One of each: two recorded commands, a tool call, an answer; a message that waited, and one that was cancelled. */
async function life(): Promise<{ kept: Kept[]; answered: string; waiting: string; cancelled: string }> {
  const { engine, log, open, send } = await stage();
  await engine.addServer({ name: 's', url: 'http://s', headers: {} });
  const answered = await open('ctx');
  const waiting = await send({ contextId: 'ctx' });
  const cancelled = await open('other');
  const addCall = { content: [{ type: 'tool_use', id: 't', name: 'add', input: { a: 1 } }] };
  await engine.record({ ...recorded, taskId: answered, message: calling('ls') });
  await engine.act({ ...asked, taskId: answered, actionId: 'a', action: bash('ls') });
  await engine.record({ ...recorded, taskId: answered, message: addCall });
  await engine.act({ ...asked, taskId: answered, actionId: 'b', action: tool('add', { a: 1 }) });
  await engine.act({ ...asked, taskId: cancelled, actionId: 'x', action: tool('hold') });
  await engine.cancel(cancelled);
  await engine.record({ ...recorded, taskId: answered, message: calling('hold') });
  await engine.act({ ...asked, taskId: answered, actionId: 'c', action: bash('hold') });
  await engine.reply({ token: TOKEN, taskId: answered, texts: ['bye'] });
  await engine.ended(answered, signal);
  await engine.opened(waiting, signal);
  return { kept: [...log.kept], answered, waiting, cancelled };
}

describe('ProxyEngine after a restart at any fact', () => {
  it('runs nothing twice, loses no call, keeps every decision, and can still answer', async () => {
    const { kept: all, answered, waiting, cancelled } = await life();
    expect(all.length).toBeGreaterThan(20);
    for (let cut = 1; cut <= all.length; cut += 1) {
      const kept = all.slice(0, cut);
      const told = kept.map(({ fact }) => ('version' in fact ? (fact.version ?? 0) : 0));
      const { engine, commands, tools } = await stage({ kept: [...kept] });
      const { version } = await engine.next({ ...asked, after: 0 });
      expect(version).toBeGreaterThan(Math.max(...told));
      const decided = new Map(factsOf(kept, 'turn_ending').map(({ taskId, end }) => [taskId, end.state]));
      const open = factsOf(kept, 'turn_submitted').filter(({ taskId }) => !decided.has(taskId));
      for (const { taskId } of open) {
        // A message that waits for another of its context opens once that one is over.
        if (taskId === waiting && open.some((other) => other.taskId === answered)) continue;
        await engine.opened(taskId, signal);
      }
      for (const { taskId, actionId, action } of factsOf(kept, 'action_started')) {
        if (decided.has(taskId)) continue;
        expect((await engine.act({ ...asked, taskId, actionId, action })).done).toBe(true);
      }
      const turns = new Map((await engine.next({ ...asked, after: 0 })).turns.map((turn) => [turn.taskId, turn]));
      if (open.some(({ taskId }) => taskId === answered)) {
        const calls = factsOf(kept, 'recorded').length;
        const ran = factsOf(kept, 'action_started').filter(({ taskId }) => taskId === answered).length;
        expect(turns.get(answered)?.pendingCalls).toHaveLength(calls - ran);
      }
      for (const { taskId } of open) {
        await engine.opened(taskId, signal);
        await engine.reply({ token: TOKEN, taskId, error: 'gave up' });
        expect((await engine.ended(taskId, signal)).state).toBe('failed');
      }
      for (const [taskId, state] of decided) expect((await engine.ended(taskId, signal)).state).toBe(state);
      expect(decided.get(cancelled) ?? 'canceled').toBe('canceled');
      expect([commands.started, tools.called, engine.counts.openTurns]).toEqual([[], [], 0]);
    }
  });

  it('says of what ran that it is lost, once, and that it was told before', async () => {
    const { engine, log, open } = await stage();
    const taskId = await open();
    await engine.act({ ...asked, taskId, actionId: 'a', action: bash('hold') });
    await engine.act({ ...asked, taskId, actionId: 'b', action: tool('hold') });
    const earlier = log.kept.length;
    const second = await stage({ kept: log.kept });
    const third = await stage({ kept: second.log.kept });
    expect(factsOf(third.log.kept, 'action_ended').map(({ actionId, cause }) => [actionId, cause])).toEqual([
      ['a', 'lost'],
      ['b', 'lost'],
    ]);
    expect([second.replayed.length, third.replayed.length]).toEqual([earlier, earlier + 3]);
    expect((await third.engine.result({ ...asked, actionId: 'a' })).result).toMatchObject({
      kind: 'bash',
      exitCode: -9,
    });
    expect((await third.engine.result({ ...asked, actionId: 'b' })).result).toMatchObject({
      kind: 'tool',
      isError: true,
    });
    const [turn] = (await third.engine.next({ ...asked, after: 0 })).turns;
    expect(turn?.actions).toMatchObject([
      { actionId: 'a', done: true },
      { actionId: 'b', done: true },
    ]);
  });

  it('knows the message ids of an earlier life, what is configured, and in which order turns opened', async () => {
    const { engine, log, open, send } = await stage();
    await engine.configureAgent({ system_prompt: 'be brief' });
    await engine.addSkill({ name: 'k', description: 'd', path: '/k' });
    const message = { messageId: 'twice', contextId: 'c', message: {}, texts: ['hi'] };
    const { taskId } = await engine.submit(message);
    await engine.opened(taskId, signal);
    const first = await open('d');
    const waited = await send({ contextId: 'd' });
    const order = [taskId, await open(), waited];
    await engine.reply({ token: TOKEN, taskId: first, texts: ['x'] });
    await engine.opened(waited, signal);
    const next = await stage({ kept: log.kept });
    expect((await next.engine.submit(message)).taskId).toBe(taskId);
    expect((await next.engine.next({ ...asked, after: 0 })).turns.map((turn) => turn.taskId)).toEqual(order);
    expect([next.engine.agentConfig, next.engine.skills.length]).toEqual([{ system_prompt: 'be brief' }, 1]);
  });

  it('forgets for good what was being forgotten', async () => {
    const { engine, log, send } = await stage();
    const taskId = await send({ texts: undefined });
    await send({ texts: undefined });
    log.kept.push({ stream: taskId, fact: { kind: 'turn_forgotten', taskId, at: Date.now() } });
    const next = await stage({ kept: log.kept });
    expect([next.engine.task(taskId), next.log.removed, engine.counts.keptTasks]).toEqual([undefined, [taskId], 2]);
  });
});

describe('ProxyEngine after a restart with facts that were written although the log refused them', () => {
  it('tells the recorder once, what took effect', async () => {
    const { engine, log, commands, observed, open } = await stage();
    const taskId = await open();
    const again = async (kind: Fact['kind'], work: () => Promise<unknown>): Promise<void> => {
      log.failing = 'late';
      log.fails = (fact) => fact.kind === kind;
      await expect(work()).rejects.toMatchObject({ status: 503 });
      log.failing = false;
      await work();
    };
    const ask = { ...asked, taskId, actionId: 'a', action: bash('hold') };
    await again('recorded', () => engine.record({ ...recorded, taskId, message: 'hm' }));
    await again('recorded', () => engine.record({ ...recorded, taskId, message: calling('hold') }));
    await again('action_started', () => engine.act(ask));
    log.failing = 'late';
    log.fails = ({ kind }) => kind === 'action_ended';
    commands.finish();
    expect((await engine.result({ ...asked, actionId: 'a' })).done).toBe(false);
    log.failing = false;
    await until(async () => (await engine.result({ ...asked, actionId: 'a' })).done);
    await again('turn_ending', () => engine.reply({ token: TOKEN, taskId, texts: ['x'] }));
    await engine.ended(taskId, signal);
    const spans = factsOf(log.kept, 'recorded').map(({ spanId }) => spanId);
    expect(new Set(spans).size).toBe(2);
    const own = (facts: readonly Fact[]): readonly Fact[] =>
      facts.filter((fact) => 'taskId' in fact && fact.taskId === taskId);
    expect(own(log.kept.map(({ fact }) => fact))).toHaveLength(own(observed).length + 5);
    const next = await stage({ kept: [...log.kept] });
    expect(own(next.replayed)).toEqual(own(observed));
  });

  it('plays a message once that was refused and sent again', async () => {
    const { engine, log } = await stage();
    const message = { messageId: 'm', contextId: 'c', message: {}, texts: ['hi'] };
    log.failing = 'late';
    await expect(engine.submit(message)).rejects.toMatchObject({ status: 503 });
    log.failing = false;
    const { taskId } = await engine.submit(message);
    expect(factsOf(log.kept, 'turn_submitted')).toHaveLength(2);
    const next = await stage({ kept: log.kept });
    expect([...next.engine.tasks()].map((view) => view.taskId)).toEqual([taskId]);
    expect(next.log.removed).toHaveLength(1);
  });

  it('belongs to the driver whose claim was accepted', async () => {
    const { engine, log } = await stage({ unclaimed: true });
    log.failing = 'late';
    await expect(engine.claim('another-token-long-enough')).rejects.toMatchObject({ status: 503 });
    log.failing = false;
    await engine.claim(TOKEN);
    const next = await stage({ kept: log.kept, unclaimed: true });
    expect((await next.engine.next({ ...asked, after: 0 })).version).toBe(1);
  });
});
