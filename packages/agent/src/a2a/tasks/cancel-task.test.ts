import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { TaskState, type Task } from '@a2a-js/sdk';
import { asTask, callBy, echo, saidBy, sending, stateIn, testEngine, words } from '../../../test-support/a2a-engine.js';
import { createMemoryTaskStore } from '../stores/index.js';

const call = callBy();

function cancel({ handler }: ReturnType<typeof testEngine>, id: string, by = call): Promise<Task> {
  return handler.cancelTask({ tenant: '', id, metadata: undefined }, by);
}

describe('cancelling', () => {
  it('stops the executor, ends the task once, and everybody hears of it', async () => {
    const engine = testEngine();
    const stream = words(engine.handler.sendMessageStream(sending('x'), call));
    const { request, reporter } = await engine.executor.work();
    const task = await cancel(engine, request.taskId);
    reporter.working('too late');
    expect([stateIn(task), saidBy(task), request.signal.aborted]).toEqual([
      'CANCELED',
      'The task was cancelled.',
      true,
    ]);
    expect(await stream).toEqual(['task:SUBMITTED', 'WORKING', 'CANCELED(The task was cancelled.)']);
    expect(await engine.handler.getTask({ tenant: '', id: task.id }, call)).toEqual(task);
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.engine.running).toBe(0);
  });

  it('answers whoever waits for the task, too', async () => {
    const engine = testEngine();
    const answer = engine.handler.sendMessage(sending('x'), call);
    const { request } = await engine.executor.work();
    await cancel(engine, request.taskId);
    expect(stateIn(asTask(await answer))).toBe('CANCELED');
  });

  it('a second time is refused, at the same moment and later', async () => {
    const engine = testEngine();
    const answer = engine.handler.sendMessage(sending('x'), call);
    const { request } = await engine.executor.work();
    const [one, two] = await Promise.allSettled([cancel(engine, request.taskId), cancel(engine, request.taskId)]);
    expect([one.status, two.status]).toEqual(['fulfilled', 'rejected']);
    await expect(cancel(engine, request.taskId)).rejects.toThrow(TaskNotCancelableError);
    await answer;
  });

  it('what has ended is refused, what is not there or not one’s own is not found', async () => {
    const engine = testEngine({ work: echo });
    const task = asTask(await engine.handler.sendMessage(sending('x'), call));
    await expect(cancel(engine, task.id)).rejects.toThrow(TaskNotCancelableError);
    await expect(cancel(engine, 'nowhere')).rejects.toThrow(TaskNotFoundError);
    await expect(cancel(engine, task.id, callBy('bea'))).rejects.toThrow(TaskNotFoundError);
  });

  it('does not wait longer than it may for an executor that does not stop', async () => {
    const engine = testEngine({ limits: { cancelGraceMs: 20 } });
    engine.executor.heedsAbort = false;
    const stream = words(engine.handler.sendMessageStream(sending('x'), call));
    const { request, end } = await engine.executor.work();
    expect(stateIn(await cancel(engine, request.taskId))).toBe('CANCELED');
    expect((await stream).at(-1)).toBe('CANCELED(The task was cancelled.)');
    expect(engine.engine.running).toBe(1);
    end({ text: 'done after all' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.engine.running).toBe(0);
    expect(stateIn(await engine.handler.getTask({ tenant: '', id: request.taskId }, call))).toBe('CANCELED');
  });

  it('wins over an executor that is done meanwhile, so that a cancelled task is a cancelled task', async () => {
    const engine = testEngine();
    engine.executor.heedsAbort = false;
    const answer = engine.handler.sendMessage(sending('x'), call);
    const { request, end } = await engine.executor.work();
    const cancelled = cancel(engine, request.taskId);
    request.signal.addEventListener('abort', () => {
      end({ text: 'done' });
    });
    if (request.signal.aborted) end({ text: 'done' });
    expect(stateIn(await cancelled)).toBe('CANCELED');
    expect(saidBy(asTask(await answer))).toBe('The task was cancelled.');
  });

  it('what is being ended waits for how it ends', async () => {
    const store = createMemoryTaskStore();
    const save = store.save.bind(store);
    const storing = Promise.withResolvers<undefined>();
    const mayStore = Promise.withResolvers<undefined>();
    store.save = async (task, by) => {
      if (stateIn(task) === 'COMPLETED') {
        storing.resolve(undefined);
        await mayStore.promise;
      }
      await save(task, by);
    };
    const engine = testEngine({ store });
    const answer = engine.handler.sendMessage(sending('x'), call);
    const { request, end } = await engine.executor.work();
    end();
    await storing.promise;
    const cancelled = cancel(engine, request.taskId);
    mayStore.resolve(undefined);
    await expect(cancelled).rejects.toThrow(TaskNotCancelableError);
    expect(stateIn(asTask(await answer))).toBe('COMPLETED');
  });

  it('what waits for its client ends it, and its readers hear of it', async () => {
    const engine = testEngine();
    const answer = engine.handler.sendMessage(sending('x'), call);
    (await engine.executor.work()).end({ state: 'input_required' });
    const { id } = asTask(await answer);
    const stream = engine.handler.resubscribe({ tenant: '', id }, call);
    await stream.next();
    expect(stateIn(await cancel(engine, id))).toBe('CANCELED');
    expect(await words(stream)).toEqual(['CANCELED(The task was cancelled.)']);
    await expect(engine.handler.sendMessage(sending('y', { taskId: id }), call)).rejects.toThrow('has ended');
    await expect(cancel(engine, id)).rejects.toThrow(TaskNotCancelableError);
  });

  it('what another replica works on is written, for that one to find', async () => {
    const engine = testEngine();
    const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
    const task: Task = { id: 't', contextId: 'c', status, artifacts: [], history: [], metadata: undefined };
    await engine.store.save(task, call);
    await expect(engine.handler.sendMessage(sending('y', { taskId: 't' }), call)).rejects.toThrow('is being worked on');
    expect(stateIn(await cancel(engine, 't'))).toBe('CANCELED');
    expect(stateIn((await engine.store.load('t', call)) as Task)).toBe('CANCELED');
  });
});
