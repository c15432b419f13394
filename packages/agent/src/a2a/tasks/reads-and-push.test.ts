import { jest } from '@jest/globals';
import type { StreamResponse, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { PushNotificationNotSupportedError, RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { InMemoryPushNotificationStore, type PushNotificationSender } from '@a2a-js/sdk/server';
import { listRequest, pushConfig } from '../../../test-support/a2a-tasks.js';
import { asTask, callBy, echo, sending, stateIn, testEngine, wordOf } from '../../../test-support/a2a-engine.js';
import type { TaskExecutor } from '../task-executor.js';

const call = callBy();

describe('a list of tasks', () => {
  const work: TaskExecutor = {
    execute: (request, reporter) => {
      reporter.artifact({ artifactId: 'a', name: 'a', parts: [{ kind: 'text', text: 'x' }] });
      return echo.execute(request, reporter);
    },
  };

  it('comes in pages without gap or repetition, counted before they are cut, equal times included', async () => {
    const { handler } = testEngine({ work, now: () => 1_700_000_000_000 });
    const sent = await Promise.all(Array.from({ length: 7 }, () => handler.sendMessage(sending('x'), call)));
    await handler.sendMessage(sending('x'), callBy('bea'));
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await handler.listTasks(listRequest({ pageSize: 3, pageToken }), call);
      expect([page.totalSize, page.pageSize]).toEqual([7, 3]);
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen.length).toBe(7);
    expect(new Set(seen)).toEqual(new Set(sent.map((answer) => asTask(answer).id)));
  });

  it('shows artifacts and history only as far as they are asked for', async () => {
    const { handler } = testEngine({ work });
    await handler.sendMessage(sending('x', { contextId: 'c' }), call);
    const list = async (over: object) => (await handler.listTasks(listRequest(over), call)).tasks[0];
    expect((await list({}))?.artifacts).toEqual([]);
    expect((await list({ includeArtifacts: true }))?.artifacts).toHaveLength(1);
    expect((await list({}))?.history).toHaveLength(2);
    expect((await list({ historyLength: 1 }))?.history).toHaveLength(1);
    expect((await list({ historyLength: 0 }))?.history).toEqual([]);
    expect(await list({ contextId: 'd' })).toBeUndefined();
    expect(await list({ status: 2 })).toBeUndefined();
    expect(await list({ status: 3 })).toBeDefined();
  });

  it('knows what was told of a task that runs', async () => {
    const { handler, executor } = testEngine();
    const stream = handler.sendMessageStream(sending('x'), call);
    await stream.next();
    await stream.next();
    const [task] = (await handler.listTasks(listRequest(), call)).tasks;
    expect(task === undefined ? '' : stateIn(task)).toBe('WORKING');
    (await executor.work()).end();
  });

  it.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 1.5 },
    { historyLength: -1 },
    { status: 77 },
    { statusTimestampAfter: 'yesterday' },
    { pageToken: 'nonsense' },
  ])('is refused for %j', async (over) => {
    const { handler } = testEngine();
    await expect(handler.listTasks(listRequest(over), call)).rejects.toThrow(RequestMalformedError);
  });

  it('of one task checks its id and finds one’s own only', async () => {
    const { handler } = testEngine({ work });
    const { id } = asTask(await handler.sendMessage(sending('x'), call));
    const get = (over: object, by = call) => handler.getTask({ tenant: '', id, ...over }, by);
    await expect(get({ id: ' ' })).rejects.toThrow(RequestMalformedError);
    await expect(get({ historyLength: -1 })).rejects.toThrow(RequestMalformedError);
    await expect(get({}, callBy('bea'))).rejects.toThrow(TaskNotFoundError);
    expect((await get({ historyLength: 1 })).history).toHaveLength(1);
  });
});

describe('webhooks', () => {
  function withPush(over: Parameters<typeof testEngine>[0] = {}) {
    const store = new InMemoryPushNotificationStore();
    const sent: string[] = [];
    const sender: PushNotificationSender = {
      send: jest.fn((item: StreamResponse) => {
        sent.push(wordOf(item));
        return Promise.reject(new Error('nobody there'));
      }),
    };
    return { ...testEngine({ ...over, push: { store, sender } }), pushStore: store, sent };
  }

  function sendingWith(config: TaskPushNotificationConfig) {
    const configuration = { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig: config };
    return { ...sending('x'), configuration };
  }

  it('of the message hear of every update in order, and trouble with them is not the task’s', async () => {
    const { handler, sent, pushStore } = withPush({ work: echo });
    const { id } = asTask(await handler.sendMessage(sendingWith(pushConfig('https://hook', { taskId: '' })), call));
    expect(sent).toEqual(['task:SUBMITTED', 'WORKING', 'COMPLETED(x)']);
    expect(await pushStore.load(id, call)).toMatchObject([{ url: 'https://hook', taskId: id }]);
  });

  it('of a call that leaves no task are forgotten', async () => {
    const { handler, pushStore } = withPush({
      executor: { execute: () => Promise.resolve(), cancelTask: () => Promise.resolve() },
      newId: () => 't',
    });
    await expect(handler.sendMessage(sendingWith(pushConfig('https://hook')), call)).rejects.toThrow(
      'without an answer',
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(await pushStore.load('t', call)).toEqual([]);
  });

  it('hear of a task that is cancelled while it waits', async () => {
    const { handler, sent, executor } = withPush();
    const answer = handler.sendMessage(sending('x'), call);
    (await executor.work()).end({ state: 'input_required' });
    const { id } = asTask(await answer);
    await handler.cancelTask({ tenant: '', id, metadata: undefined }, call);
    expect(sent.at(-1)).toBe('CANCELED(The task was cancelled.)');
  });

  it('are made, read, listed in pages and deleted, of one’s own tasks', async () => {
    const { handler } = withPush({ work: echo });
    const { id: taskId } = asTask(await handler.sendMessage(sending('x'), call));
    for (const id of ['c', 'a', 'b']) {
      await handler.createTaskPushNotificationConfig(pushConfig('https://hook', { taskId, id }), call);
    }
    const made = await handler.createTaskPushNotificationConfig(pushConfig('https://hook', { taskId, id: '' }), call);
    expect(made.id).not.toBe('');
    await handler.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: made.id }, call);
    await handler.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: made.id }, call);
    expect((await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'a' }, call)).url).toBe(
      'https://hook',
    );
    const page = { tenant: '', taskId, pageSize: 2, pageToken: '' };
    const one = await handler.listTaskPushNotificationConfigs(page, call);
    const two = await handler.listTaskPushNotificationConfigs({ ...page, pageToken: one.nextPageToken }, call);
    expect([...one.configs, ...two.configs].map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(two.nextPageToken).toBe('');
    await expect(handler.listTaskPushNotificationConfigs(page, callBy('bea'))).rejects.toThrow(TaskNotFoundError);
    await expect(handler.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'z' }, call)).rejects.toThrow(
      TaskNotFoundError,
    );
    await expect(handler.listTaskPushNotificationConfigs({ ...page, pageSize: 101 }, call)).rejects.toThrow(
      RequestMalformedError,
    );
  });

  it('are refused where there are none', async () => {
    const { handler } = testEngine({ work: echo });
    await expect(handler.createTaskPushNotificationConfig(pushConfig('https://hook'), call)).rejects.toThrow(
      PushNotificationNotSupportedError,
    );
  });
});
