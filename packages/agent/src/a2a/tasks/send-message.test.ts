import { TaskState, type Task } from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  InvalidAgentResponseError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';
import { AppError } from '@parley/service-kit';
import { asTask, callBy, echo, saidBy, sending, stateIn, testEngine, words } from '../../../test-support/a2a-engine.js';
import { createMemoryTaskStore } from '../stores/index.js';

const call = callBy();

function executorOf(execute: AgentExecutor['execute']): AgentExecutor {
  return { execute, cancelTask: () => Promise.resolve() };
}

describe('a message that begins a task', () => {
  it('is answered when the task has ended, with what was said', async () => {
    const { handler } = testEngine({ work: echo });
    const task = asTask(await handler.sendMessage(sending('hello'), call));
    expect([stateIn(task), saidBy(task)]).toEqual(['COMPLETED', 'hello']);
    expect(task.history.map(({ role }) => role)).toEqual([1, 2]);
    expect(task.history[0]).toMatchObject({ taskId: task.id, contextId: task.contextId });
    expect(await handler.getTask({ tenant: '', id: task.id }, call)).toEqual(task);
  });

  it('is answered at once if the request says so, and goes on', async () => {
    const { handler, executor } = testEngine();
    const task = asTask(await handler.sendMessage(sending('x', { immediately: true }), call));
    expect(stateIn(task)).toBe('SUBMITTED');
    const work = await executor.work();
    work.end();
    await untilState(handler, task.id, 'COMPLETED');
    expect(stateIn(task)).toBe('SUBMITTED');
  });

  it('is answered when the task asks for something', async () => {
    const { handler, executor } = testEngine();
    const answer = handler.sendMessage(sending('x'), call);
    (await executor.work()).end({ state: 'input_required', text: 'what else?' });
    const task = asTask(await answer);
    expect([stateIn(task), saidBy(task)]).toEqual(['INPUT_REQUIRED', 'what else?']);
  });

  it('keeps its context, or gets one', async () => {
    const { handler } = testEngine({ work: echo });
    const one = asTask(await handler.sendMessage(sending('x', { contextId: 'mine' }), call));
    const two = asTask(await handler.sendMessage(sending('x'), call));
    expect(one.contextId).toBe('mine');
    expect(two.contextId).toMatch(/.{8,}/);
  });

  it('gets as much of the history as it asks for', async () => {
    const { handler } = testEngine({ work: echo });
    const lengths = await Promise.all(
      [0, 1, 5].map(
        async (historyLength) =>
          asTask(await handler.sendMessage(sending('x', { historyLength }), call)).history.length,
      ),
    );
    expect(lengths).toEqual([0, 1, 2]);
    const first = await handler.sendMessageStream(sending('x', { historyLength: 0 }), call).next();
    expect(first.value?.payload).toMatchObject({ $case: 'task', value: { history: [] } });
  });

  it.each([
    ['no parts', { parts: [] }, RequestMalformedError],
    ['no id', { messageId: '' }, RequestMalformedError],
    ['an endless id', { messageId: 'x'.repeat(300) }, RequestMalformedError],
    ['a negative history', { historyLength: -1 }, RequestMalformedError],
    ['an unknown task', { taskId: 'nowhere' }, TaskNotFoundError],
  ])('is refused with %s', async (_, sent, error) => {
    const { handler, engine, executor } = testEngine();
    await expect(handler.sendMessage(sending('x', sent), call)).rejects.toThrow(error);
    expect([engine.running, executor.works.length]).toEqual([0, 0]);
  });

  it('is refused in a media type that nobody takes', async () => {
    const { handler } = testEngine({ work: echo, cardOver: { defaultInputModes: ['application/json', 'image/*'] } });
    await expect(handler.sendMessage(sending('x'), call)).rejects.toThrow(ContentTypeNotSupportedError);
    const image = { content: { $case: 'url' as const, value: 'https://x/y.png' }, metadata: undefined, filename: '' };
    const parts = ['image/png', 'application/json; charset=utf-8', ''].map((mediaType) => ({ ...image, mediaType }));
    await expect(handler.sendMessage(sending('x', { parts }), call)).resolves.toBeDefined();
  });

  it('is refused with a webhook where there are none', async () => {
    const capabilities = { streaming: true, pushNotifications: false, extensions: [] };
    const { handler } = testEngine({ work: echo, cardOver: { capabilities } });
    const request = sending('x');
    const config = { tenant: '', id: '', taskId: '', url: 'https://x', token: '', authentication: undefined };
    const configuration = { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig: config };
    await expect(handler.sendMessage({ ...request, configuration }, call)).rejects.toThrow(
      PushNotificationNotSupportedError,
    );
  });
});

describe('a message to a task', () => {
  async function asking(engine: ReturnType<typeof testEngine>): Promise<Task> {
    const answer = engine.handler.sendMessage(sending('one'), call);
    (await engine.executor.work()).end({ state: 'input_required', text: 'two?' });
    return asTask(await answer);
  }

  it('that waits for it goes on with it, in the context of the task', async () => {
    const engine = testEngine();
    const task = await asking(engine);
    const answer = engine.handler.sendMessage(sending('two', { taskId: task.id }), call);
    const work = await engine.executor.work(1);
    expect(work.request).toMatchObject({ taskId: task.id, isFollowUp: true });
    expect(work.request.contextId).toBe(engine.executor.works[0]?.request.contextId);
    work.end({ text: 'done' });
    const done = asTask(await answer);
    expect([done.id, done.contextId, stateIn(done)]).toEqual([task.id, task.contextId, 'COMPLETED']);
    const said = done.history.map(({ parts }) => (parts[0]?.content?.$case === 'text' ? parts[0].content.value : ''));
    expect(said).toEqual(['one', 'two?', 'two', 'done']);
  });

  it('of another context is refused', async () => {
    const engine = testEngine();
    const task = await asking(engine);
    const request = sending('two', { taskId: task.id, contextId: 'other' });
    await expect(engine.handler.sendMessage(request, call)).rejects.toThrow(RequestMalformedError);
  });

  it('that has ended is refused', async () => {
    const { handler } = testEngine({ work: echo });
    const task = asTask(await handler.sendMessage(sending('x'), call));
    await expect(handler.sendMessage(sending('y', { taskId: task.id }), call)).rejects.toThrow(
      UnsupportedOperationError,
    );
  });

  it('of somebody else finds none, as if there were none', async () => {
    const engine = testEngine();
    const task = await asking(engine);
    const request = sending('two', { taskId: task.id });
    const refusal = await engine.handler.sendMessage(request, callBy('bea')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TaskNotFoundError);
    expect((refusal as Error).message).toBe(`Task not found: ${task.id}`);
  });

  it('that is being worked on is refused, and no second executor begins', async () => {
    const { handler, executor } = testEngine();
    const answer = handler.sendMessage(sending('one'), call);
    const work = await executor.work();
    const request = sending('two', { taskId: work.request.taskId });
    await expect(handler.sendMessage(request, call)).rejects.toThrow('is being worked on');
    work.end();
    await answer;
    expect(executor.works).toHaveLength(1);
  });

  it('of which several come at once begins one turn', async () => {
    const engine = testEngine();
    const task = await asking(engine);
    const answers = Array.from({ length: 5 }, (_, index) =>
      engine.handler.sendMessage(sending(`two ${String(index)}`, { taskId: task.id }), call).then(
        () => 'done',
        (error: unknown) => (error as Error).name,
      ),
    );
    (await engine.executor.work(1)).end();
    const outcomes = await Promise.all(answers);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['done', 'UnsupportedOperationError']));
    expect([engine.executor.works.length, engine.executor.mostAtOnce]).toEqual([2, 1]);
  });

  it('whose executor is about to return waits for it', async () => {
    const gate = Promise.withResolvers<undefined>();
    let atOnce = 0;
    let most = 0;
    const executor = executorOf(async ({ taskId, contextId, task }, bus) => {
      most = Math.max(most, (atOnce += 1));
      const state = task === undefined ? TaskState.TASK_STATE_INPUT_REQUIRED : TaskState.TASK_STATE_COMPLETED;
      const status = { state, message: undefined, timestamp: undefined };
      bus.publish(AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined }));
      if (task === undefined) await gate.promise;
      atOnce -= 1;
    });
    const { handler } = testEngine({ executor });
    const task = asTask(await handler.sendMessage(sending('one'), call));
    const answer = handler.sendMessage(sending('two', { taskId: task.id }), call);
    gate.resolve(undefined);
    expect(stateIn(asTask(await answer))).toBe('COMPLETED');
    expect(most).toBe(1);
  });
});

describe('a message that is sent again', () => {
  it('gets the same task while it runs and afterwards, and runs once', async () => {
    const { handler, executor } = testEngine();
    const request = sending('x', { messageId: 'same' });
    const first = handler.sendMessage(request, call);
    const work = await executor.work();
    const second = handler.sendMessage(structuredClone(request), call);
    work.end({ text: 'once' });
    const third = handler.sendMessage(structuredClone(request), call);
    const tasks = [asTask(await first), asTask(await second), asTask(await third)];
    const last = asTask(await handler.sendMessage(structuredClone(request), call));
    expect(new Set([...tasks, last].map(({ id }) => id)).size).toBe(1);
    expect([...tasks, last].map(saidBy)).toEqual(['once', 'once', 'once', 'once']);
    expect(executor.works).toHaveLength(1);
  });

  it('is streamed from where the task is', async () => {
    const { handler, executor } = testEngine();
    const request = sending('x', { messageId: 'same' });
    const first = handler.sendMessageStream(request, call);
    await first.next();
    await first.next();
    const second = words(handler.sendMessageStream(structuredClone(request), call));
    (await executor.work()).end();
    expect(await second).toEqual(['task:WORKING', 'COMPLETED']);
    expect(await words(first)).toEqual(['COMPLETED']);
    expect(executor.works).toHaveLength(1);
    expect(await words(handler.sendMessageStream(structuredClone(request), call))).toEqual(['task:COMPLETED']);
  });

  it('by somebody else, with other words, or after its time, is another message', async () => {
    let time = 1_000_000;
    const { handler } = testEngine({ work: echo, now: () => time });
    const request = sending('x', { messageId: 'same' });
    const send = async (by = call, what = request): Promise<string> => asTask(await handler.sendMessage(what, by)).id;
    const ids = [await send(), await send(callBy('bea')), await send(call, sending('y', { messageId: 'same' }))];
    expect(await send()).toBe(ids[0]);
    time += 600_001;
    ids.push(await send());
    expect(new Set(ids).size).toBe(4);
  });

  it('after a refusal is tried anew', async () => {
    let full = true;
    const gate = {
      admit: () => (full ? Promise.reject(new AppError('unavailable', 'Later.')) : Promise.resolve(undefined)),
    };
    const { handler } = testEngine({ work: echo, gate });
    const request = sending('x', { messageId: 'same' });
    await expect(handler.sendMessage(request, call)).rejects.toThrow('Later.');
    full = false;
    await expect(handler.sendMessage(request, call)).resolves.toBeDefined();
  });
});

describe('an executor', () => {
  it('may answer with a message, and leaves no task', async () => {
    const execute: AgentExecutor['execute'] = ({ userMessage }, bus) => {
      bus.publish(AgentEvent.message({ ...userMessage, messageId: 'answer', taskId: '' }));
      bus.publish(AgentEvent.message({ ...userMessage, messageId: 'too late' }));
      return Promise.resolve();
    };
    const { handler, store } = testEngine({ executor: executorOf(execute) });
    const request = sending('x', { messageId: 'm' });
    expect(await handler.sendMessage(request, call)).toMatchObject({ messageId: 'answer' });
    expect(await handler.sendMessage(request, call)).toMatchObject({ messageId: 'answer' });
    expect(await words(handler.sendMessageStream(sending('y'), call))).toEqual(['message']);
    expect(
      (await store.list({ tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined }, call))
        .totalSize,
    ).toBe(0);
  });

  it('that publishes nothing is an error, not a task', async () => {
    const { handler, engine } = testEngine({ executor: executorOf(() => Promise.resolve()) });
    await expect(handler.sendMessage(sending('x'), call)).rejects.toThrow(InvalidAgentResponseError);
    await expect(words(handler.sendMessageStream(sending('x'), call))).rejects.toThrow(InvalidAgentResponseError);
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.running).toBe(0);
  });

  it('that forgets the task, mixes up ids and forgets the end gets all of it put right', async () => {
    const execute: AgentExecutor['execute'] = (_, bus) => {
      const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ taskId: 'wrong', contextId: '', status, metadata: undefined }));
      return Promise.resolve();
    };
    const { handler } = testEngine({ executor: executorOf(execute) });
    const stream = handler.sendMessageStream(sending('x'), call);
    expect(await words(stream)).toEqual([
      'task:SUBMITTED',
      'WORKING',
      'FAILED(The agent ended its work without a result.)',
    ]);
  });

  it('that goes on writing to what it published changes nothing of it', async () => {
    const execute: AgentExecutor['execute'] = ({ taskId, contextId }, bus) => {
      const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined };
      const task: Task = { id: taskId, contextId, status, artifacts: [], history: [], metadata: { a: [1] } };
      bus.publish(AgentEvent.task(task));
      task.metadata = { a: [2] };
      status.state = TaskState.TASK_STATE_FAILED;
      return Promise.resolve();
    };
    const { handler } = testEngine({ executor: executorOf(execute) });
    const task = asTask(await handler.sendMessage(sending('x'), call));
    expect([stateIn(task), task.metadata]).toEqual(['COMPLETED', { a: [1] }]);
  });

  it.each([
    ['an AppError', new AppError('bad_gateway', 'The partner is away.'), 'The partner is away.'],
    [
      'anything else',
      new Error('password=hunter2'),
      'The agent could not finish the task because of an internal error.',
    ],
  ])('that fails with %s tells no more than it may', async (_, error, text) => {
    const { handler, executor } = testEngine();
    const answer = handler.sendMessage(sending('x'), call);
    (await executor.work()).fail(error);
    const task = asTask(await answer);
    expect([stateIn(task), saidBy(task)]).toEqual(['FAILED', text]);
    expect(JSON.stringify(task)).not.toContain('hunter2');
  });
});

describe('the store', () => {
  it('that takes nothing at first refuses the call, and the executor is told to stop', async () => {
    const store = createMemoryTaskStore();
    store.save = () => Promise.reject(new AppError('too_many_requests', 'Full.', { code: 'task_store_full' }));
    const { handler, executor } = testEngine({ store });
    await expect(handler.sendMessage(sending('x'), call)).rejects.toThrow('Full.');
    expect(executor.works.every(({ request }) => request.signal.aborted)).toBe(true);
  });

  it('that loses the result makes the task a failed one', async () => {
    const store = createMemoryTaskStore();
    const save = store.save.bind(store);
    store.save = (task, by) => (stateIn(task) === 'COMPLETED' ? Promise.reject(new Error('away')) : save(task, by));
    const { handler } = testEngine({ work: echo, store });
    const task = asTask(await handler.sendMessage(sending('x'), call));
    expect([stateIn(task), saidBy(task)]).toEqual(['FAILED', 'The result of the task could not be stored.']);
  });

  it('that was away for a moment gets the result all the same', async () => {
    const store = createMemoryTaskStore();
    const save = store.save.bind(store);
    let failures = 2;
    store.save = (task, by) => ((failures -= 1) >= 0 ? Promise.reject(new Error('away')) : save(task, by));
    const { handler } = testEngine({ work: echo, store });
    expect(stateIn(asTask(await handler.sendMessage(sending('x'), call)))).toBe('COMPLETED');
  });

  it('that knows the task as ended by another replica stops the executor', async () => {
    const { handler, executor, store } = testEngine();
    const answer = handler.sendMessage(sending('x'), call);
    const work = await executor.work();
    const stored = await store.load(work.request.taskId, call);
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined };
    await store.save({ ...(stored as Task), status }, call);
    work.reporter.working('still at it');
    const task = asTask(await answer);
    expect([stateIn(task), work.request.signal.aborted]).toEqual(['CANCELED', true]);
  });

  it('gets one write after the other, each with all that was told', async () => {
    const store = createMemoryTaskStore();
    const save = store.save.bind(store);
    let writing = 0;
    const parts: number[] = [];
    store.save = async (task, by) => {
      expect((writing += 1)).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      parts.push(task.artifacts[0]?.parts.length ?? 0);
      await save(task, by);
      writing -= 1;
    };
    const { handler, executor } = testEngine({ store });
    const answer = handler.sendMessage(sending('x'), call);
    const work = await executor.work();
    for (let index = 0; index < 200; index += 1) {
      work.reporter.artifact({ artifactId: 'a', name: 'a', parts: [{ kind: 'text', text: 'x' }], append: true });
    }
    work.end();
    expect(asTask(await answer).artifacts[0]?.parts).toHaveLength(200);
    expect(parts.at(-1)).toBe(200);
    expect(parts.length).toBeLessThan(10);
  });
});

async function untilState(handler: ReturnType<typeof testEngine>['handler'], id: string, state: string): Promise<void> {
  while (stateIn(await handler.getTask({ tenant: '', id }, call)) !== state) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
