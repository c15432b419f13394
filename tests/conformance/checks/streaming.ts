import { randomUUID } from 'node:crypto';
import { waitFor } from '@parley/testkit';
import { expectRefusal } from '../support/refusals.js';
import { brief, type SeenEvent } from '../support/seen.js';
import { collect, taskFrom, workingTask, type Check } from './check.js';

const ODD_TEXT = 'a\u2028b\u2029c\u0085d';

const next = async (events: AsyncGenerator<SeenEvent>): Promise<SeenEvent> => {
  const { value, done } = await events.next();
  if (done === true) throw new Error('the stream has ended');
  return value;
};

const idOf = (event: SeenEvent): string => {
  if (event.kind === 'message') throw new Error('a message belongs to no task');
  return event.kind === 'task' ? event.id : event.taskId;
};

export const streaming: readonly Check[] = [
  {
    name: 'streams the task, its work, its artifact and its end, in this order',
    run: async (voice) => {
      const events = await collect(voice.stream({ scenario: 'tck-stream-003' }));
      expect(events.map(brief)).toEqual(['task:submitted', 'status:working', 'artifact', 'status:completed']);
      expect(new Set(events.map(idOf)).size).toBe(1);
    },
  },
  {
    name: 'streams an artifact in pieces and keeps it whole',
    run: async (voice) => {
      const events = await collect(voice.stream({ scenario: 'tck-stream-artifact-chunked' }));
      const chunks = events.filter((event) => event.kind === 'artifact');
      expect(chunks.map(({ artifact, append, lastChunk }) => [artifact.text, append, lastChunk])).toEqual([
        ['chunk-1 ', false, false],
        ['chunk-2', true, true],
      ]);
      const task = await voice.get(chunks[0]?.taskId ?? '');
      expect(task.artifacts.map(({ text }) => text)).toEqual(['chunk-1 chunk-2']);
    },
  },
  {
    name: 'streams a message where there is no task',
    run: async (voice) => {
      const events = await collect(voice.stream({ scenario: 'tck-message-response' }));
      expect(events).toEqual([{ kind: 'message', role: 'agent', text: 'Direct message response' }]);
    },
  },
  {
    name: 'streams a failure without its cause',
    run: async (voice) => {
      const events = await collect(voice.stream({ scenario: 'bb-throws' }));
      expect(events.map(brief).at(-1)).toBe('status:failed');
      expect(JSON.stringify(events)).not.toContain('secret');
    },
  },
  {
    name: 'streams odd characters',
    run: async (voice) => {
      const events = await collect(voice.stream({ scenario: 'bb-echo', text: ODD_TEXT }));
      const texts = events.filter((event) => event.kind === 'artifact').map(({ artifact }) => artifact.text);
      expect(texts).toEqual([ODD_TEXT]);
    },
  },
  {
    name: 'shows the first events while the work goes on, and goes on when the reader leaves',
    run: async (voice) => {
      const events = voice.stream({ scenario: 'bb-silent' });
      const first = await next(events);
      await waitFor(async () => (await voice.get(idOf(first))).state === 'working');
      await events.return(undefined);
      expect((await voice.get(idOf(first))).state).toBe('working');
      await voice.cancel(idOf(first));
    },
  },
  {
    name: 'shows everybody who subscribes the task and then what comes, to the end',
    run: async (voice) => {
      const { id } = await workingTask(voice);
      const readers = [voice.subscribe(id), voice.subscribe(id)];
      const firsts = await Promise.all(readers.map(next));
      expect(firsts.map(idOf)).toEqual([id, id]);
      // Of 0.3, only what came afterwards has to be shown; the task comes first in ours all the same.
      if (voice.version === '1.0') expect(firsts.map(({ kind }) => kind)).toEqual(['task', 'task']);
      await voice.cancel(id);
      const rest = await Promise.all(readers.map(collect));
      expect(rest.map((events) => events.map(brief).at(-1))).toEqual(['status:canceled', 'status:canceled']);
    },
  },
  {
    name: 'refuses to subscribe to a task that has ended',
    run: async (voice) => {
      const { id } = await taskFrom(voice, 'tck-complete-task');
      await expectRefusal(voice, 'UNSUPPORTED_OPERATION', collect(voice.subscribe(id)));
    },
  },
  {
    name: 'refuses to subscribe to a task that it does not know',
    run: async (voice) => {
      await expectRefusal(voice, 'TASK_NOT_FOUND', collect(voice.subscribe(randomUUID())));
    },
  },
  {
    name: 'refuses a stream before its first event as it refuses a call',
    run: async (voice) => {
      const stream = voice.stream({ scenario: 'tck-complete-task', taskId: randomUUID() });
      await expectRefusal(voice, 'TASK_NOT_FOUND', collect(stream));
    },
  },
];
