import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { createLogger } from '@parley/service-kit';
import { waitFor } from '@parley/testkit';
import { createMemoryPushStore } from '../src/a2a/push/memory-push-store.js';
import { createPushSender, type PushSender, type PushSenderOptions } from '../src/a2a/push/push-sender.js';
import type { AgentPushStore } from '../src/a2a/push/push-store.js';
import { callOf, pushConfig } from './a2a-tasks.js';
import { startJsonServer, type JsonServer } from './json-server.js';

const SECRETS = /credential-7|token-7|hook-secret/u;
/** What a test on one machine may call. */
export const LOCAL = { allowPlainHttp: true, allowPrivateAddresses: true };

export interface PushFixture {
  readonly store: AgentPushStore;
  readonly lines: readonly Record<string, unknown>[];
  sender(options?: Partial<PushSenderOptions>): PushSender;
  register(url: string, over?: Partial<TaskPushNotificationConfig>, version?: string): Promise<void>;
  warnings(): Record<string, unknown>[];
  /** Closes the senders; fails when a secret of the test stands in the log. */
  end(): Promise<void>;
}

export function pushFixture(): PushFixture {
  const store = createMemoryPushStore({ rules: LOCAL });
  const lines: Record<string, unknown>[] = [];
  const senders: PushSender[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  const logger = createLogger({ service: 'test', level: 'debug', destination });
  return {
    store,
    lines,
    sender: (options) => {
      // Draws of 0 make each wait a tenth of its step.
      const quick = { backoffMs: 10, random: () => 0, closeTimeoutMs: 50 };
      const sender = createPushSender({ store, logger, rules: LOCAL, ...quick, ...options });
      senders.push(sender);
      return sender;
    },
    register: (url, over, requestedVersion = '1.0') => {
      const config = pushConfig(`${url}/hook-secret`, over);
      return store.save(config.taskId, callOf('alice', { requestedVersion }), config);
    },
    warnings: () => lines.filter(({ level }) => level === 'warn'),
    end: async () => {
      await Promise.all(senders.map((sender) => sender.close()));
      expect(JSON.stringify(lines)).not.toMatch(SECRETS);
    },
  };
}

/** As `store`, except that its configurations are read in another way. */
export function readBy(store: AgentPushStore, loadWithMetadata: AgentPushStore['loadWithMetadata']): AgentPushStore {
  return {
    save: store.save.bind(store),
    load: store.load.bind(store),
    delete: store.delete.bind(store),
    loadWithMetadata,
  };
}

/** The words of the notifications that came, in order. */
export function wordsOf({ requests }: JsonServer): string[] {
  return requests.map(({ body }) => {
    const { statusUpdate: update } = body as {
      statusUpdate: { status: { message: { parts: { text: string }[] } } };
    };
    return update.status.message.parts[0]?.text ?? '';
  });
}

export async function idle(sender: PushSender): Promise<void> {
  await waitFor(() => sender.pending === 0);
}

/** A receiver that answers one after the other, and the last one to everything that follows. */
export function receiver(...statuses: number[]): Promise<JsonServer> {
  let next = 0;
  return startJsonServer(() => {
    const status = statuses[Math.min(next, statuses.length - 1)] ?? 200;
    next += 1;
    return { status };
  });
}
