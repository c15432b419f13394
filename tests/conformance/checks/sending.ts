import { randomUUID } from 'node:crypto';
import { waitFor } from '@parley/testkit';
import { expectRefusal } from '../support/refusals.js';
import { asTask, in10, taskFrom, workingTask, type Check } from './check.js';

const ODD_TEXT = 'naïve Привет 漢字 😀 \u2028 \u2029 \u0085 \\ " \r\n tab\t é';
const MEBIBYTE = 1024 * 1024;

export const sending: readonly Check[] = [
  {
    name: 'answers with the task when it has ended',
    run: async (voice) => {
      const task = await taskFrom(voice, 'tck-complete-task');
      expect(task).toMatchObject({ kind: 'task', state: 'completed', text: 'Hello from TCK' });
      expect(task.id).not.toBe('');
      expect(task.contextId).not.toBe('');
    },
  },
  {
    name: 'answers with a message where there is no task',
    run: async (voice) => {
      expect(await voice.send({ scenario: 'tck-message-response' })).toEqual({
        kind: 'message',
        role: 'agent',
        text: 'Direct message response',
      });
    },
  },
  {
    name: 'answers at once when asked to, and the task goes on',
    run: async (voice) => {
      const task = await workingTask(voice);
      expect(['submitted', 'working']).toContain(task.state);
      expect((await voice.get(task.id)).state).toMatch(/^(submitted|working)$/);
      await voice.cancel(task.id);
    },
  },
  {
    name: 'tells of a rejection',
    run: async (voice) => {
      expect(await taskFrom(voice, 'tck-reject-task')).toMatchObject({ state: 'rejected', text: 'rejected' });
    },
  },
  {
    name: 'tells of a failure without its cause',
    run: async (voice) => {
      const task = await taskFrom(voice, 'bb-throws');
      expect(task.state).toBe('failed');
      expect(JSON.stringify(task)).not.toContain('secret');
    },
  },
  {
    name: 'carries artifacts of every kind',
    run: async (voice) => {
      const parts = async (scenario: string) =>
        (await taskFrom(voice, scenario)).artifacts.map(({ parts: all }) => all);
      // The protocol buffer of 0.3 has no place for the name of a file.
      const named = voice.version === '1.0' || voice.binding === 'JSON-RPC' ? { name: 'output.txt' } : {};
      expect(await parts('tck-artifact-text')).toEqual([[{ text: 'Generated text content' }]]);
      expect(await parts('tck-artifact-data')).toEqual([[{ data: { key: 'value', count: 42 } }]]);
      expect(await parts('tck-artifact-file-url')).toEqual([[{ url: 'https://example.com/output.txt', ...named }]]);
      expect(await parts('tck-artifact-file')).toEqual([[{ raw: 'dGNr', ...named }]]);
    },
  },
  {
    name: 'carries a mebibyte of text both ways',
    run: async (voice) => {
      const text = 'x'.repeat(MEBIBYTE);
      const task = asTask(await voice.send({ scenario: 'bb-echo', text }));
      expect(task.artifacts.map((one) => one.text === text)).toEqual([true]);
    },
  },
  {
    name: 'carries odd characters both ways',
    run: async (voice) => {
      const task = asTask(await voice.send({ scenario: 'bb-echo', text: ODD_TEXT }));
      expect(task.artifacts.map((one) => one.text)).toEqual([ODD_TEXT]);
    },
  },
  {
    name: 'keeps tasks that come at the same time apart',
    run: async (voice) => {
      const texts = Array.from({ length: 20 }, (_, index) => `text ${String(index)}`);
      const answers = await Promise.all(texts.map((text) => voice.send({ scenario: 'bb-echo', text })));
      expect(answers.map((answer) => asTask(answer).artifacts[0]?.text)).toEqual(texts);
      expect(new Set(answers.map((answer) => asTask(answer).id)).size).toBe(texts.length);
    },
  },
  {
    name: 'goes on with a task that asked for more',
    run: async (voice) => {
      const first = asTask(await voice.send({ scenario: 'tck-input-required', text: 'one' }));
      expect(first.state).toBe('input-required');
      const second = asTask(await voice.send({ scenario: 'tck-complete-task', text: 'two', taskId: first.id }));
      expect(second).toMatchObject({ id: first.id, contextId: first.contextId, state: 'completed' });
      const { history } = await voice.get(first.id, 100);
      expect(history.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['one', 'two']);
    },
  },
  {
    name: 'begins another task in the same context',
    run: async (voice) => {
      const first = await taskFrom(voice, 'tck-complete-task');
      const second = await taskFrom(voice, 'tck-complete-task', first.contextId);
      expect(second.contextId).toBe(first.contextId);
      expect(second.id).not.toBe(first.id);
    },
  },
  {
    name: 'refuses a message to a task that it does not know',
    run: async (voice) => {
      const taskId = randomUUID();
      await expectRefusal(voice, 'TASK_NOT_FOUND', voice.send({ scenario: 'tck-complete-task', taskId }));
    },
  },
  {
    name: 'refuses a message to a task that has ended',
    run: async (voice) => {
      const { id: taskId } = await taskFrom(voice, 'tck-complete-task');
      await expectRefusal(voice, 'UNSUPPORTED_OPERATION', voice.send({ scenario: 'tck-complete-task', taskId }));
    },
  },
  {
    name: 'refuses a message that puts a task into another context',
    run: async (voice) => {
      const { id: taskId } = await taskFrom(voice, 'tck-input-required');
      const moved = voice.send({ scenario: 'tck-complete-task', taskId, contextId: randomUUID() });
      await expectRefusal(voice, 'INVALID_PARAMS', moved);
    },
  },
  {
    name: 'gives as much of the history as is asked for',
    where: in10,
    run: async (voice) => {
      const answered = asTask(await voice.send({ scenario: 'tck-complete-task' }, { historyLength: 0 }));
      expect(answered.history).toEqual([]);
      const whole = (await voice.get(answered.id)).history;
      expect(whole.length).toBeGreaterThan(0);
      expect((await voice.get(answered.id, 1)).history).toEqual(whole.slice(-1));
      expect((await voice.get(answered.id, 0)).history).toEqual([]);
    },
  },
  {
    name: 'gives the whole history when no length is named',
    run: async (voice) => {
      const { id } = asTask(await voice.send({ scenario: 'tck-complete-task', text: 'remember me' }));
      expect((await voice.get(id)).history[0]).toMatchObject({ role: 'user', text: 'remember me' });
    },
  },
  {
    name: 'echoes the extensions that are active, and only those',
    run: async (voice) => {
      const asked = 'urn:parley:conformance:echo:v1, https://nowhere.test/ext/v9';
      expect(await voice.activated({ scenario: 'tck-complete-task' }, asked)).toBe('urn:parley:conformance:echo:v1');
      expect(await voice.activated({ scenario: 'tck-complete-task' }, 'https://nowhere.test/ext/v9')).toBe('');
    },
  },
  {
    name: 'refuses what is of a kind that no skill takes',
    where: in10,
    run: async (voice) => {
      const odd = voice.send({ scenario: 'tck-complete-task', mediaType: 'application/x-nobody-takes-it' });
      await expectRefusal(voice, 'CONTENT_TYPE_NOT_SUPPORTED', odd);
    },
  },
  {
    name: 'tells of an executor that answers nothing',
    run: async (voice) => {
      await expectRefusal(voice, 'INVALID_AGENT_RESPONSE', voice.send({ scenario: 'bb-nothing' }));
    },
  },
  {
    name: 'refuses a message to a task at work, so that nobody works on it twice',
    run: async (voice) => {
      const { id: taskId } = await workingTask(voice);
      await waitFor(async () => (await voice.get(taskId)).state === 'working');
      await expectRefusal(voice, 'UNSUPPORTED_OPERATION', voice.send({ scenario: 'tck-complete-task', taskId }));
      await voice.cancel(taskId);
    },
  },
];
