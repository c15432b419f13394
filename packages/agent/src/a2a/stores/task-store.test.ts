import { TaskState, type ListTasksRequest, type Task } from '@a2a-js/sdk';
import { artifactOf, callOf, listRequest, taskOf, textMessage, withState } from '../../../test-support/a2a-tasks.js';
import { manualClock, START, type ManualClock } from '../../../test-support/keeper-fixture.js';
import { taskStores, type StoreAndSuccessor } from '../../../test-support/task-stores.js';
import type { AgentTaskStore, TaskStoreBounds } from './agent-task-store.js';
import { createMemoryTaskStore } from './memory-task-store.js';

const {
  TASK_STATE_SUBMITTED: SUBMITTED,
  TASK_STATE_WORKING: WORKING,
  TASK_STATE_COMPLETED: COMPLETED,
  TASK_STATE_FAILED: FAILED,
  TASK_STATE_CANCELED: CANCELED,
  TASK_STATE_REJECTED: REJECTED,
  TASK_STATE_INPUT_REQUIRED: INPUT_REQUIRED,
  TASK_STATE_AUTH_REQUIRED: AUTH_REQUIRED,
} = TaskState;

const { kinds } = taskStores();
const alice = callOf('alice');

describe.each(kinds)('the %s store of tasks', (_, create) => {
  let clock: ManualClock;
  let store: AgentTaskStore;
  let successor: StoreAndSuccessor['successor'];

  function use(bounds?: TaskStoreBounds): void {
    clock = manualClock();
    ({ store, successor } = create(clock, bounds));
  }

  beforeEach(() => {
    use();
  });

  async function loaded(id = 'task-1', call = alice): Promise<Task> {
    const task = await store.load(id, call);
    if (task === undefined) throw new Error(`there is no ${id}`);
    return task;
  }

  async function ids(over: Partial<ListTasksRequest> = {}, call = alice): Promise<string[]> {
    return (await store.list(listRequest(over), call)).tasks.map(({ id }) => id);
  }

  describe('keeps a task', () => {
    it('whole, with bytes, data and metadata', async () => {
      const task = {
        ...taskOf(),
        metadata: { 'urn:x': { deep: [1, null, { a: 'ü\u2028' }] } },
        history: [textMessage('m-1')],
        artifacts: [
          {
            ...artifactOf('a-1', 'text'),
            parts: [
              { content: { $case: 'raw' as const, value: Buffer.from([0, 255, 7]) }, mediaType: 'x/y', filename: 'f', metadata: { n: 1 } },
              { content: { $case: 'data' as const, value: { list: [true, 'x'] } }, mediaType: '', filename: '', metadata: undefined },
              { content: { $case: 'url' as const, value: 'https://a.example/x' }, mediaType: '', filename: '', metadata: undefined },
            ],
          },
        ],
      }; // prettier-ignore
      await store.save(task, alice);
      expect(await store.load('task-1', alice)).toEqual(task);
      expect(await store.load('task-2', alice)).toBeUndefined();
    });

    it('that nobody changes by changing what was saved or loaded', async () => {
      const task = { ...taskOf(), history: [textMessage('m-1')], metadata: { a: { b: 1 } } };
      await store.save(task, alice);
      const before = await loaded();
      task.history.push(textMessage('m-2'));
      task.metadata.a.b = 2;
      const other = await loaded();
      other.history.length = 0;
      other.status = undefined;
      const { tasks } = await store.list(listRequest(), alice);
      if (tasks[0] !== undefined) tasks[0].history.length = 0;
      expect(await loaded()).toEqual(before);
    });

    it('for its owner and tenant alone', async () => {
      await store.save(taskOf(), alice);
      await store.save(taskOf({ contextId: 'of-tenant' }), callOf('alice', { tenant: 't' }));
      for (const call of [callOf('bob'), callOf('alice', { tenant: 'u' }), callOf('')]) {
        expect(await store.load('task-1', call)).toBeUndefined();
        expect(await store.list(listRequest(), call)).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' });
      }
      expect((await loaded()).contextId).toBe('context-1');
      expect((await loaded('task-1', callOf('alice', { tenant: 't' }))).contextId).toBe('of-tenant');
    });

    it('even if names hold what separates names', async () => {
      await store.save(taskOf({ id: 'b:c' }), callOf('a:b'));
      expect(await store.load('c', callOf('a:b:b'))).toBeUndefined();
      await store.save(taskOf({ id: 'd' }), callOf('b:c', { tenant: 'a' }));
      expect(await store.load('d', callOf('c', { tenant: 'a:b' }))).toBeUndefined();
      expect((await loaded('b:c', callOf('a:b'))).id).toBe('b:c');
    });
  });

  describe('a late write', () => {
    it.each([COMPLETED, FAILED, CANCELED, REJECTED])('does not reopen a task that ended (%s)', async (state) => {
      await store.save(taskOf(), alice);
      const late = await loaded();
      await store.save(withState(await loaded(), state), alice);
      for (const next of [WORKING, INPUT_REQUIRED, state === COMPLETED ? FAILED : COMPLETED]) {
        late.status = withState(late, next).status;
        await expect(store.save(late, alice)).rejects.toMatchObject({ reason: 'conflict', code: 'task_ended' });
        // A whole task as an executor publishes it, which was never loaded.
        await expect(store.save(taskOf({ state: next }), alice)).rejects.toMatchObject({ code: 'task_ended' });
      }
      expect((await loaded()).status?.state).toBe(state);
      expect(await ids({ status: state })).toEqual(['task-1']);
      expect(await ids({ status: WORKING })).toEqual([]);
    });

    it('that says what is so already changes nothing', async () => {
      await store.save(taskOf(), alice);
      const late = await loaded();
      const first = await loaded();
      first.status = withState(first, COMPLETED, START + 1).status;
      first.metadata = { first: true };
      await store.save(first, alice);
      late.status = withState(late, COMPLETED, START + 2).status;
      await store.save(late, alice);
      expect(await loaded()).toEqual(first);
    });

    it('of the one that ended it still adds to it', async () => {
      await store.save(taskOf(), alice);
      const task = await loaded();
      task.status = withState(task, COMPLETED).status;
      await store.save(task, alice);
      const again = await loaded();
      again.artifacts.push(artifactOf('a-1', 'late'));
      await store.save(again, alice);
      task.metadata = { too: 'late' };
      await store.save(task, alice);
      expect((await loaded()).artifacts).toHaveLength(1);
      expect((await loaded()).metadata).toBeUndefined();
    });
  });

  describe('two writes of one task at once', () => {
    it('are joined: a new message, progress and an artifact', async () => {
      await store.save({ ...taskOf({ state: INPUT_REQUIRED }), history: [textMessage('m-1')] }, alice);
      const [message, progress, artifact] = [await loaded(), await loaded(), await loaded()];
      message.history = [...message.history, textMessage('m-2')];
      progress.status = { state: WORKING, message: textMessage('m-3'), timestamp: new Date(START + 5).toISOString() };
      progress.metadata = { step: 1 };
      artifact.artifacts.push(artifactOf('a-1', 'one'));
      await store.save(progress, alice);
      await store.save(message, alice);
      await store.save(artifact, alice);
      const task = await loaded();
      expect(task.history.map(({ messageId }) => messageId)).toEqual(['m-1', 'm-2']);
      expect(task.status).toEqual(progress.status);
      expect(task.metadata).toEqual({ step: 1 });
      expect(task.artifacts).toHaveLength(1);
      expect(await ids({ status: WORKING })).toEqual(['task-1']);
      expect(await ids({ status: INPUT_REQUIRED })).toEqual([]);
    });

    it('an artifact that only one of them changed keeps the change', async () => {
      await store.save({ ...taskOf(), artifacts: [artifactOf('a', '1'), artifactOf('b', '1')] }, alice);
      const [left, right] = [await loaded(), await loaded()];
      left.artifacts[0] = artifactOf('a', '2');
      right.artifacts[1] = artifactOf('b', '2');
      await store.save(left, alice);
      await store.save(right, alice);
      // Saved a second time without being loaded again: what the other added is still not undone.
      right.metadata = { again: true };
      await store.save(right, alice);
      expect((await loaded()).artifacts).toEqual([artifactOf('a', '2'), artifactOf('b', '2')]);
      expect((await loaded()).metadata).toEqual({ again: true });
    });

    it('none of many is lost', async () => {
      await store.save(taskOf(), alice);
      const writers = await Promise.all(Array.from({ length: 4 }, () => loaded()));
      await Promise.all(
        writers.map((task, index) => {
          task.history.push(textMessage(`m-${String(index)}`));
          return store.save(task, alice);
        }),
      );
      expect((await loaded()).history.map(({ messageId }) => messageId).sort()).toEqual(['m-0', 'm-1', 'm-2', 'm-3']);
    });
  });

  describe('forgets', () => {
    it('ended tasks after their time, counted from their end, and no others', async () => {
      use({ keepEndedMs: 100_000 });
      await store.save(taskOf({ id: 'ended', state: COMPLETED }), alice);
      await store.save(taskOf({ id: 'runs' }), alice);
      await store.save(taskOf({ id: 'waits', state: INPUT_REQUIRED }), alice);
      clock.advance(99_999);
      const ended = await loaded('ended');
      ended.metadata = { late: true };
      await store.save(ended, alice);
      expect(await ids()).toEqual(['waits', 'runs', 'ended']);
      clock.advance(1);
      expect(await store.load('ended', alice)).toBeUndefined();
      expect(await store.list(listRequest(), alice)).toMatchObject({ totalSize: 2 });
      expect(await ids({ status: COMPLETED })).toEqual([]);
      expect(await ids({ contextId: 'context-1' })).toEqual(['waits', 'runs']);
      clock.advance(100_000_000);
      expect(await ids()).toEqual(['waits', 'runs']);
    });

    it('tasks that nobody gave the input they wait for', async () => {
      use({ keepWaitingMs: 500_000 });
      await store.save(taskOf({ id: 'input', state: INPUT_REQUIRED }), alice);
      await store.save(taskOf({ id: 'auth', state: AUTH_REQUIRED }), alice);
      clock.advance(400_000);
      await store.save(withState(await loaded('auth'), WORKING), alice);
      clock.advance(100_000);
      expect(await ids()).toEqual(['auth']);
    });

    it('the oldest ended tasks when there are too many, then the oldest waiting ones, never running ones', async () => {
      use({ maxTasks: 4 });
      await store.save(taskOf({ id: 'waits', state: INPUT_REQUIRED }), alice);
      await store.save(taskOf({ id: 'runs' }), alice);
      await store.save(taskOf({ id: 'b-ended-first', state: COMPLETED }), callOf('bob'));
      clock.advance(1);
      await store.save(taskOf({ id: 'a-ended-second', state: COMPLETED }), alice);
      clock.advance(1);
      await store.save(taskOf({ id: 'new-1' }), alice);
      expect(await ids({}, callOf('bob'))).toEqual([]);
      await store.save(taskOf({ id: 'new-2' }), alice);
      expect((await ids()).sort()).toEqual(['new-1', 'new-2', 'runs', 'waits']);
      await store.save(taskOf({ id: 'new-3' }), alice);
      expect((await ids()).sort()).toEqual(['new-1', 'new-2', 'new-3', 'runs']);
      await expect(store.save(taskOf({ id: 'new-4' }), alice)).rejects.toMatchObject({
        reason: 'too_many_requests',
        code: 'task_store_full',
      });
      // Those that are there go on.
      await store.save(withState(await loaded('runs'), COMPLETED), alice);
      await store.save(taskOf({ id: 'new-4' }), alice);
      expect((await ids()).sort()).toEqual(['new-1', 'new-2', 'new-3', 'new-4']);
    });
  });

  describe('after the process that worked on them died', () => {
    it('submitted and working tasks are failed with the reason, once; those that wait for input are not', async () => {
      await store.save({ ...taskOf({ id: 'works' }), history: [textMessage('m-1')] }, alice);
      await store.save(taskOf({ id: 'submitted', state: SUBMITTED }), callOf('bob', { tenant: 't' }));
      await store.save(taskOf({ id: 'waits', state: INPUT_REQUIRED }), alice);
      await store.save(taskOf({ id: 'done', state: COMPLETED }), alice);
      const late = await loaded('works');
      store = await successor();
      clock.advance(5_000);
      expect(await store.failInterrupted('The agent was restarted while it worked.')).toBe(2);
      expect(await store.failInterrupted('again')).toBe(0);
      const failed = await loaded('works');
      expect(failed.status).toMatchObject({
        state: FAILED,
        timestamp: new Date(START + 5_000).toISOString(),
        message: {
          taskId: 'works',
          contextId: 'context-1',
          parts: [{ content: { $case: 'text', value: 'The agent was restarted while it worked.' } }],
        },
      });
      expect(failed.history.at(-1)).toEqual(failed.status?.message);
      expect((await loaded('submitted', callOf('bob', { tenant: 't' }))).status?.state).toBe(FAILED);
      expect((await loaded('waits')).status?.state).toBe(INPUT_REQUIRED);
      expect((await loaded('done')).status?.state).toBe(COMPLETED);
      expect(await ids({ status: FAILED })).toEqual(['works']);
      await expect(store.save(late, alice)).rejects.toMatchObject({ code: 'task_ended' });
    });
  });
});

describe('in memory', () => {
  it('nothing is left of callers whose tasks are forgotten', async () => {
    const clock = manualClock();
    const store = createMemoryTaskStore({ maxTasks: 100, now: clock.now });
    for (let index = 0; index < 5_000; index += 1) {
      await store.save(taskOf({ id: `t-${String(index)}`, state: COMPLETED }), callOf(`caller-${String(index)}`));
    }
    let left = 0;
    for (let index = 0; index < 5_000; index += 1) {
      left += (await store.list(listRequest(), callOf(`caller-${String(index)}`))).totalSize;
    }
    expect(left).toBe(100);
  });
});
