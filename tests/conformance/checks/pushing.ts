import { randomUUID } from 'node:crypto';
import { expectRefusal } from '../support/refusals.js';
import { startWebHook, type WebHook } from '../support/web-hook.js';
import { taskFrom, type Check } from './check.js';

const HOOK = 'http://127.0.0.1:9/hook';

async function withHook(run: (hook: WebHook) => Promise<void>): Promise<void> {
  const hook = await startWebHook();
  try {
    await run(hook);
  } finally {
    await hook.close();
  }
}

const says = (text: string) => (call: { readonly body: unknown }) => JSON.stringify(call.body).includes(text);

export const pushing: readonly Check[] = [
  {
    name: 'keeps, gives, lists and forgets where to notify',
    run: async (voice) => {
      const { id } = await taskFrom(voice, 'tck-input-required');
      const config = { id: 'config-1', url: HOOK };
      expect(await voice.createPush(id, config)).toEqual(config);
      expect(await voice.getPush(id, config.id)).toEqual(config);
      expect(await voice.listPush(id)).toEqual([config]);
      await voice.deletePush(id, config.id);
      await voice.deletePush(id, config.id);
      expect(await voice.listPush(id)).toEqual([]);
    },
  },
  {
    name: 'refuses to notify about a task that it does not know',
    run: async (voice) => {
      const created = voice.createPush(randomUUID(), { id: 'config-1', url: HOOK });
      await expectRefusal(voice, 'TASK_NOT_FOUND', created);
    },
  },
  {
    name: 'notifies to the end, with the token and the credentials',
    run: (voice) =>
      withHook(async (hook) => {
        const push = { url: hook.url, token: 'token-1', credentials: 'credentials-1' };
        await voice.send({ scenario: 'tck-complete-task' }, { push });
        const call = await hook.call(says(voice.version === '1.0' ? 'TASK_STATE_COMPLETED' : '"completed"'));
        expect(call.headers).toMatchObject({
          'x-a2a-notification-token': 'token-1',
          authorization: 'Bearer credentials-1',
        });
        if (voice.version === '1.0') {
          expect(Object.keys(call.body)).toEqual([expect.stringMatching(/^(task|statusUpdate|artifactUpdate)$/)]);
        }
      }),
  },
];
