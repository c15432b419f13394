import { jest } from '@jest/globals';
import { AppError } from '@parley/service-kit';
import { asTask, callBy, echo, saidBy, sending, stateIn, testEngine, words } from '../../../test-support/a2a-engine.js';
import { createMemoryTaskStore } from '../stores/index.js';

const call = callBy();

describe('limits', () => {
  it('of running tasks refuse what may be sent again later, and count from the first moment', async () => {
    const { handler, engine, executor } = testEngine({ limits: { maxRunningTasks: 2 } });
    const answers = [1, 2].map(() => handler.sendMessage(sending('x'), call));
    const refusal = await handler.sendMessage(sending('x'), call).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ reason: 'unavailable', code: 'too_many_tasks', retryAfterSeconds: 1 });
    expect(engine.running).toBe(2);
    (await executor.work(0)).end();
    (await executor.work(1)).end();
    await Promise.all(answers);
    const again = handler.sendMessage(sending('x'), call);
    (await executor.work(2)).end();
    expect(stateIn(asTask(await again))).toBe('COMPLETED');
  });

  it('let one message follow the other where one task may run', async () => {
    const { handler } = testEngine({ work: echo, limits: { maxRunningTasks: 1 } });
    for (let index = 0; index < 50; index += 1) {
      expect(stateIn(asTask(await handler.sendMessage(sending('x'), call)))).toBe('COMPLETED');
      await expect(handler.sendMessage(sending('x', { taskId: 'nowhere' }), call)).rejects.toThrow('Task not found');
    }
  });

  it('of time make a failed task, close its streams and stop its executor, even one that does not heed', async () => {
    const { handler, executor, engine } = testEngine({ limits: { taskDeadlineMs: 30 } });
    executor.heedsAbort = false;
    const stream = words(handler.sendMessageStream(sending('x'), call));
    const { request, end } = await executor.work();
    const other = words(handler.resubscribe({ tenant: '', id: request.taskId }, call));
    const text = 'FAILED(The task took longer than it may.)';
    expect([(await stream).at(-1), (await other).at(-1)]).toEqual([text, text]);
    expect(request.signal.reason).toMatchObject({ reason: 'deadline_exceeded' });
    expect(stateIn(await handler.getTask({ tenant: '', id: request.taskId }, call))).toBe('FAILED');
    end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.running).toBe(0);
  });

  it('of time hold for an executor that has said nothing yet', async () => {
    const executor = { execute: () => new Promise<void>(() => undefined), cancelTask: () => Promise.resolve() };
    const { handler } = testEngine({ executor, limits: { taskDeadlineMs: 10 } });
    const task = asTask(await handler.sendMessage(sending('x'), call));
    expect([stateIn(task), saidBy(task)]).toEqual(['FAILED', 'The task took longer than it may.']);
  });

  it('leave no timer and no listener behind', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const { handler } = testEngine({ work: echo });
      await words(handler.sendMessageStream(sending('x'), call));
      await handler.sendMessage(sending('x', { immediately: true }), call);
      await new Promise((resolve) => setImmediate(resolve));
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('closing', () => {
  it('ends what runs as failed, with the reason, and closes every stream', async () => {
    const { handler, executor, engine } = testEngine();
    const waiting = handler.sendMessage(sending('asks'), call);
    (await executor.work(0)).end({ state: 'input_required' });
    const idle = handler.resubscribe({ tenant: '', id: asTask(await waiting).id }, call);
    await idle.next();
    const running = words(handler.sendMessageStream(sending('x'), call));
    const blocked = handler.sendMessage(sending('y'), call);
    const { request } = await executor.work(1);
    await executor.work(2);
    await engine.close(1_000);
    const text = 'The agent was stopped before the task was done.';
    expect((await running).at(-1)).toBe(`FAILED(${text})`);
    expect(saidBy(asTask(await blocked))).toBe(text);
    expect(await words(idle)).toEqual([]);
    expect([request.signal.aborted, engine.running]).toEqual([true, 0]);
    await expect(handler.sendMessage(sending('z'), call)).rejects.toMatchObject({ code: 'stopping' });
  });

  it('refuses what was about to begin', async () => {
    const admitting = Promise.withResolvers<undefined>();
    const { handler, executor, engine } = testEngine({ gate: { admit: () => admitting.promise } });
    const answer = handler.sendMessage(sending('x'), call);
    const closed = engine.close(1_000);
    admitting.resolve(undefined);
    await expect(answer).rejects.toBeInstanceOf(AppError);
    await closed;
    expect(executor.works).toHaveLength(0);
  });

  it('waits no longer than it may', async () => {
    const store = createMemoryTaskStore();
    const { handler, executor, engine } = testEngine({ store });
    executor.heedsAbort = false;
    const answer = handler.sendMessage(sending('x'), call);
    await executor.work();
    const startedAt = performance.now();
    await engine.close(50);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(stateIn(asTask(await answer))).toBe('FAILED');
  });
});

describe('after a restart', () => {
  it('what was left running has failed, what waits still waits', async () => {
    const store = createMemoryTaskStore();
    const before = testEngine({ store });
    const running = asTask(await before.handler.sendMessage(sending('x', { immediately: true }), call));
    const answer = before.handler.sendMessage(sending('y'), callBy('bea'));
    (await before.executor.work(1)).end({ state: 'input_required' });
    const waiting = asTask(await answer);
    const { engine, handler } = testEngine({ store });
    expect(await engine.recover()).toBe(1);
    const task = await handler.getTask({ tenant: '', id: running.id }, call);
    expect([stateIn(task), saidBy(task)]).toEqual(['FAILED', 'The agent restarted before the task was done.']);
    expect(stateIn(await handler.getTask({ tenant: '', id: waiting.id }, callBy('bea')))).toBe('INPUT_REQUIRED');
    await before.engine.close(100);
  });
});
