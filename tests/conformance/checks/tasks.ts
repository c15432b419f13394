import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expectRefusal } from '../support/refusals.js';
import type { ListQuery, Voice } from '../support/voice.js';
import { in10, taskFrom, workingTask, type Check } from './check.js';

async function allPages(voice: Voice, query: ListQuery): Promise<string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await voice.list({ ...query, ...(pageToken === undefined ? {} : { pageToken }) });
    expect(page.pageSize).toBe(query.pageSize);
    ids.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return ids;
}

/** Tasks are listed by milliseconds, and no order is promised within one. */
async function untilNextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now;) await setImmediate();
}

export const tasks: readonly Check[] = [
  {
    name: 'gives a task as it is',
    run: async (voice) => {
      const task = await taskFrom(voice, 'tck-artifact-text');
      expect(await voice.get(task.id)).toMatchObject({ id: task.id, contextId: task.contextId, state: 'completed' });
      expect((await voice.get(task.id)).artifacts).toEqual(task.artifacts);
    },
  },
  {
    name: 'refuses to give a task that it does not know',
    run: async (voice) => {
      await expectRefusal(voice, 'TASK_NOT_FOUND', voice.get(randomUUID()));
    },
  },
  {
    name: 'lists the tasks of a context, the newest first, page by page',
    where: in10,
    run: async (voice) => {
      const contextId = randomUUID();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        ids.push((await taskFrom(voice, 'tck-artifact-text', contextId)).id);
        await untilNextMillisecond();
      }
      const page = await voice.list({ contextId });
      expect(page).toMatchObject({ totalSize: 5, nextPageToken: '' });
      expect(page.tasks.map(({ id }) => id)).toEqual(ids.toReversed());
      expect(await allPages(voice, { contextId, pageSize: 2 })).toEqual(ids.toReversed());
      expect((await voice.list({ contextId, pageSize: 2 })).totalSize).toBe(5);
    },
  },
  {
    name: 'lists by state, and artifacts only when they are asked for',
    where: in10,
    run: async (voice) => {
      const contextId = randomUUID();
      await taskFrom(voice, 'tck-artifact-text', contextId);
      const open = await taskFrom(voice, 'tck-input-required', contextId);
      const artifacts = async (query: ListQuery) => (await voice.list(query)).tasks.flatMap((task) => task.artifacts);
      expect(await artifacts({ contextId })).toEqual([]);
      expect(await artifacts({ contextId, includeArtifacts: true })).toHaveLength(1);
      const waiting = await voice.list({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' });
      expect(waiting.tasks.map(({ id, state }) => [id, state])).toEqual([[open.id, 'input-required']]);
    },
  },
  {
    name: 'refuses pages that cannot be',
    where: in10,
    run: async (voice) => {
      for (const query of [{ pageSize: 101 }, { pageSize: -1 }, { pageToken: 'no-such-page' }]) {
        await expectRefusal(voice, 'INVALID_PARAMS', voice.list(query));
      }
    },
  },
  {
    name: 'cancels a task that waits for an answer',
    run: async (voice) => {
      const { id } = await taskFrom(voice, 'tck-input-required');
      expect(await voice.cancel(id)).toMatchObject({ id, state: 'canceled' });
      expect((await voice.get(id)).state).toBe('canceled');
    },
  },
  {
    name: 'cancels a task at work, for good',
    run: async (voice) => {
      const { id } = await workingTask(voice);
      expect(await voice.cancel(id)).toMatchObject({ id, state: 'canceled' });
      expect((await voice.get(id)).state).toBe('canceled');
    },
  },
  {
    name: 'refuses to cancel twice, what has ended, and what it does not know',
    run: async (voice) => {
      const open = await taskFrom(voice, 'tck-input-required');
      await voice.cancel(open.id);
      await expectRefusal(voice, 'TASK_NOT_CANCELABLE', voice.cancel(open.id));
      const ended = await taskFrom(voice, 'tck-complete-task');
      await expectRefusal(voice, 'TASK_NOT_CANCELABLE', voice.cancel(ended.id));
      await expectRefusal(voice, 'TASK_NOT_FOUND', voice.cancel(randomUUID()));
    },
  },
  {
    name: 'gives the extended card',
    run: async (voice) => {
      expect(await voice.extendedCard()).toMatchObject({ description: expect.stringContaining('ask politely') });
    },
  },
];
