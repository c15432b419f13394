import { TaskState, type ListTasksRequest, type Task } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { artifactOf, callOf, listRequest, taskOf, textMessage, withState } from '../../../test-support/a2a-tasks.js';
import { manualClock, START } from '../../../test-support/keeper-fixture.js';
import { taskStores } from '../../../test-support/task-stores.js';
import type { AgentTaskStore } from './agent-task-store.js';

const {
  TASK_STATE_WORKING: WORKING,
  TASK_STATE_COMPLETED: COMPLETED,
  TASK_STATE_FAILED: FAILED,
  TASK_STATE_INPUT_REQUIRED: INPUT_REQUIRED,
} = TaskState;

const { kinds } = taskStores();
const alice = callOf('alice');

describe.each(kinds)('the %s store of tasks', (_, create) => {
  let store: AgentTaskStore;

  beforeEach(() => {
    store = create(manualClock()).store;
  });

  async function loaded(id: string): Promise<Task> {
    const task = await store.load(id, alice);
    if (task === undefined) throw new Error(`there is no ${id}`);
    return task;
  }

  async function ids(over: Partial<ListTasksRequest> = {}): Promise<string[]> {
    return (await store.list(listRequest(over), alice)).tasks.map(({ id }) => id);
  }

  describe('a list', () => {
    beforeEach(async () => {
      const states = [WORKING, COMPLETED, INPUT_REQUIRED, COMPLETED, WORKING, FAILED];
      for (const [index, state] of states.entries()) {
        const id = `t-${String(index)}`;
        // Two of each time.
        const task = taskOf({ id, state, at: START + Math.floor(index / 2) * 1_000, contextId: `c-${String(index % 2)}` });
        await store.save({ ...task, artifacts: [artifactOf('a', 'x')], history: [textMessage('1'), textMessage('2')] }, alice);
      } // prettier-ignore
    });

    it('has the last changed first; of one time, the greater id', async () => {
      expect(await ids()).toEqual(['t-5', 't-4', 't-3', 't-2', 't-1', 't-0']);
      await store.save(withState(await loaded('t-0'), COMPLETED, START + 9_000), alice);
      expect(await ids()).toEqual(['t-0', 't-5', 't-4', 't-3', 't-2', 't-1']);
    });

    it.each<[string, Partial<ListTasksRequest>, string[]]>([
      ['by context', { contextId: 'c-1' }, ['t-5', 't-3', 't-1']],
      ['by another context', { contextId: 'c-9' }, []],
      ['by state', { status: COMPLETED }, ['t-3', 't-1']],
      ['by both', { status: COMPLETED, contextId: 'c-1' }, ['t-3', 't-1']],
      ['by both, without any', { status: FAILED, contextId: 'c-0' }, []],
      ['by time, which is included', { statusTimestampAfter: '2026-01-01T00:00:01.000Z' }, ['t-5', 't-4', 't-3', 't-2']],
      ['by time in another zone', { statusTimestampAfter: '2026-01-01T01:00:02+01:00' }, ['t-5', 't-4']],
      ['by all', { contextId: 'c-0', status: WORKING, statusTimestampAfter: '2026-01-01T00:00:00.001Z' }, ['t-4']],
    ])('is filtered %s, also page by page, and the total is that of all pages', async (_name, filter, wanted) => {
      expect(await ids(filter)).toEqual(wanted);
      const paged: string[] = [];
      let pageToken = '';
      do {
        const page = await store.list(listRequest({ ...filter, pageSize: 1, pageToken }), alice);
        expect(page).toMatchObject({ pageSize: 1, totalSize: wanted.length });
        paged.push(...page.tasks.map(({ id }) => id));
        pageToken = page.nextPageToken;
      } while (pageToken !== '' && paged.length < 10);
      expect(paged).toEqual(wanted);
    }); // prettier-ignore

    it('shows none twice and skips none that stays, whatever changes between the pages', async () => {
      const first = await store.list(listRequest({ pageSize: 2 }), alice);
      expect(first.tasks.map(({ id }) => id)).toEqual(['t-5', 't-4']);
      // The last one of the page moves to the front, and a new one appears.
      await store.save(withState(await loaded('t-4'), COMPLETED, START + 60_000), alice);
      await store.save(taskOf({ id: 't-9', at: START + 70_000 }), alice);
      const second = await store.list(listRequest({ pageSize: 2, pageToken: first.nextPageToken }), alice);
      const third = await store.list(listRequest({ pageSize: 2, pageToken: second.nextPageToken }), alice);
      expect([...second.tasks, ...third.tasks].map(({ id }) => id)).toEqual(['t-3', 't-2', 't-1', 't-0']);
      expect(third.nextPageToken).toBe('');
      expect(third.totalSize).toBe(7);
    });

    it('leaves out artifacts unless they are asked for, and cuts the history', async () => {
      const [plain] = (await store.list(listRequest(), alice)).tasks;
      expect([plain?.artifacts, plain?.history.length]).toEqual([[], 2]);
      const [full] = (await store.list(listRequest({ includeArtifacts: true, historyLength: 1 }), alice)).tasks;
      expect(full?.artifacts).toEqual([artifactOf('a', 'x')]);
      expect(full?.history.map(({ messageId }) => messageId)).toEqual(['2']);
      const [none] = (await store.list(listRequest({ historyLength: 0 }), alice)).tasks;
      expect(none?.history).toEqual([]);
    });

    it.each([
      { pageToken: 'no token' },
      { pageToken: Buffer.from('12|').toString('base64url') },
      { statusTimestampAfter: 'yesterday' },
    ])('refuses %j', async (over) => {
      await expect(store.list(listRequest(over), alice)).rejects.toBeInstanceOf(RequestMalformedError);
    });

    it('has at most 100 a page, and 50 when nobody says how many', async () => {
      for (let index = 0; index < 110; index += 1) await store.save(taskOf({ id: `n-${String(index)}` }), alice);
      expect(await store.list(listRequest({ pageSize: 1_000 }), alice)).toMatchObject({ pageSize: 100, totalSize: 116 });
      expect((await store.list(listRequest(), alice)).tasks).toHaveLength(50);
    }); // prettier-ignore
  });
});
