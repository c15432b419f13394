import { randomUUID } from 'node:crypto';
import { SendMessageRequest, TaskState, type AgentCard, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import type { Json } from './support/seen.js';
import { startTestAgent, type TestAgent } from './support/test-agent.js';

const VERSIONS = ['1.0', '0.3'] as const;
const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;
/** What takes it is declared as a class that nobody can make. */
const LEGACY: Json = { legacyCompat: { enabled: true } };
const ODD_TEXT = 'naïve 漢字 😀 \u2028 \u2029 \u0085 é';

let agent: TestAgent;
let card: AgentCard;

beforeAll(async () => {
  agent = await startTestAgent();
  card = await new DefaultAgentCardResolver(LEGACY).resolve(agent.url);
}, 30_000);

afterAll(() => agent.stop());

function clientOf(binding: string, version: string): Promise<Client> {
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory(LEGACY),
      new RestTransportFactory(LEGACY),
      new GrpcTransportFactory(LEGACY),
    ],
  });
  const only = card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }) => protocolBinding === binding && protocolVersion.startsWith(version),
  );
  return factory.createFromAgentCard({ ...card, supportedInterfaces: only });
}

const sendRequest = (scenario: string, text = 'hello', rest: object = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: `${scenario}-${randomUUID()}`, role: 'ROLE_USER', parts: [{ text }] },
    ...rest,
  });

const NOW = { configuration: { returnImmediately: true } };

async function taskOf(client: Client, scenario: string, text?: string, rest?: object): Promise<Task> {
  const answer = await client.sendMessage(sendRequest(scenario, text, rest));
  if (!('artifacts' in answer)) throw new Error('a task was expected');
  return answer;
}

const textsOf = ({ artifacts }: Task) =>
  artifacts.map(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '?')).join(''));

async function collect(events: AsyncIterable<StreamResponse>): Promise<string[]> {
  const all: string[] = [];
  for await (const { payload } of events) {
    const state =
      payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? payload.value.status?.state : undefined;
    all.push(state === undefined ? String(payload?.$case) : `${String(payload?.$case)} ${TaskState[state]}`);
  }
  return all;
}

describe.each(VERSIONS.flatMap((version) => BINDINGS.map((binding) => ({ version, binding }))))(
  'the client of the SDK over $binding $version',
  ({ version, binding }) => {
    let client: Client;

    beforeAll(async () => {
      client = await clientOf(binding, version);
      expect(client.protocolVersion).toMatch(version === '1.0' ? /^1\.0/ : /^0\.3/);
    });

    it('sends and gets the task', async () => {
      const task = await taskOf(client, 'tck-artifact-text');
      expect([task.status?.state, textsOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, ['Generated text content']]);
      const again = await client.getTask({ tenant: '', id: task.id, historyLength: 10 });
      expect([again.id, textsOf(again)]).toEqual([task.id, ['Generated text content']]);
    });

    it('gets its text back as it was', async () => {
      expect(textsOf(await taskOf(client, 'bb-echo', ODD_TEXT))).toEqual([ODD_TEXT]);
    });

    it('reads a stream to its end', async () => {
      expect(await collect(client.sendMessageStream(sendRequest('tck-stream-003')))).toEqual([
        'task TASK_STATE_SUBMITTED',
        'statusUpdate TASK_STATE_WORKING',
        'artifactUpdate',
        'statusUpdate TASK_STATE_COMPLETED',
      ]);
    });

    it('subscribes to a task and cancels it', async () => {
      const { id } = await taskOf(client, 'bb-silent', 'hello', NOW);
      const events = client.resubscribeTask({ tenant: '', id });
      const first = await events.next();
      expect(first.done).toBe(false);
      const cancelled = await client.cancelTask({ tenant: '', id, metadata: {} });
      expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      expect((await collect(events)).at(-1)).toBe('statusUpdate TASK_STATE_CANCELED');
      await expect(client.cancelTask({ tenant: '', id, metadata: {} })).rejects.toThrow(/cancel/i);
    });

    it('hears that there is no such task', async () => {
      await expect(client.getTask({ tenant: '', id: randomUUID() })).rejects.toThrow(/not found|no such|unknown/i);
    });

    it('keeps and forgets where to notify', async () => {
      const { id: taskId } = await taskOf(client, 'tck-input-required');
      const config = {
        tenant: '',
        taskId,
        id: 'one',
        url: 'http://127.0.0.1:9/hook',
        token: '',
        authentication: undefined,
      };
      expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({ id: 'one', url: config.url });
      const named = { tenant: '', taskId, id: 'one' };
      expect(await client.getTaskPushNotificationConfig(named)).toMatchObject({ id: 'one', url: config.url });
      await client.deleteTaskPushNotificationConfig(named);
      const left = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' });
      expect(left.configs).toEqual([]);
    });
  },
);
