import { TaskState, type AgentCard, type Message, type SendMessageRequest } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, type AgentExecutor } from '@a2a-js/sdk/server';
import { callOf, artifactOf, listRequest, pushConfig, taskOf, textMessage } from '../../../test-support/a2a-tasks.js';
import { startJsonServer, TAKEN } from '../../../test-support/json-server.js';
import { idle, pushFixture, receiver, type PushFixture } from '../../../test-support/push-fixture.js';
import { createMemoryTaskStore } from '../stores/memory-task-store.js';

const alice = callOf('alice');
let fixture: PushFixture;

beforeEach(() => {
  fixture = pushFixture();
});

afterEach(() => fixture.end());

const card = {
  defaultInputModes: [],
  capabilities: { streaming: true, pushNotifications: true, extensions: [] },
} as unknown as AgentCard;

const executor: AgentExecutor = {
  execute: ({ taskId, contextId }, bus) => {
    const task = taskOf({ id: taskId, contextId, state: TaskState.TASK_STATE_SUBMITTED });
    bus.publish(AgentEvent.task(task));
    const common = { taskId, contextId, metadata: undefined };
    bus.publish(AgentEvent.artifactUpdate({ ...common, artifact: artifactOf('a', 'text'), append: false, lastChunk: true }));
    const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined };
    bus.publish(AgentEvent.statusUpdate({ ...common, status }));
    return Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
}; // prettier-ignore

function requestTo(url: string): SendMessageRequest {
  const message: Message = { ...textMessage('m-1'), taskId: '', contextId: '' };
  return {
    tenant: '',
    message,
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: pushConfig(url, { id: '', taskId: '' }),
      returnImmediately: false,
    },
  };
}

describe("under the library's own request handler", () => {
  it('the stores and the sender tell a receiver every step of a task, in order', async () => {
    const target = await receiver(503, 200);
    const sender = fixture.sender();
    const store = createMemoryTaskStore();
    const handler = new DefaultRequestHandler(card, store, executor, undefined, fixture.store, sender);
    const answer = await handler.sendMessage(requestTo(target.url), alice);
    expect(answer).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED }, artifacts: [{ artifactId: 'a' }] });
    await idle(sender);
    expect(target.requests.map(({ body }) => Object.keys(body as object)[0])).toEqual([
      'task',
      'task',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const page = await handler.listTasks(listRequest({ includeArtifacts: true }), alice);
    expect(page).toMatchObject({ totalSize: 1, tasks: [{ artifacts: [{ artifactId: 'a' }], history: [{ messageId: 'm-1' }] }] });
    const configs = await handler.listTaskPushNotificationConfigs(
      { tenant: '', taskId: page.tasks[0]?.id ?? '', pageSize: 10, pageToken: '' },
      alice,
    );
    expect(configs.configs).toMatchObject([{ url: target.url, taskId: page.tasks[0]?.id }]);
  }); // prettier-ignore

  it('a receiver that never answers does not hold up the answer', async () => {
    const target = await startJsonServer(() => TAKEN);
    const sender = fixture.sender({ timeoutMs: 60_000 });
    const handler = new DefaultRequestHandler(
      card,
      createMemoryTaskStore(),
      executor,
      undefined,
      fixture.store,
      sender,
    );
    const answer = await handler.sendMessage(requestTo(target.url), alice);
    expect(answer).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(sender.pending).toBe(3);
  });

  it('a target that is refused is refused before the work begins', async () => {
    const sender = fixture.sender();
    const store = createMemoryTaskStore();
    const handler = new DefaultRequestHandler(card, store, executor, undefined, fixture.store, sender);
    const sent = handler.sendMessage(requestTo('http://169.254.169.254/latest'), alice);
    await expect(sent).rejects.toThrow('taskPushNotificationConfig.url');
    expect((await store.list(listRequest(), alice)).totalSize).toBe(0);
  });
});
