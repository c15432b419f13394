import {
  eventOf,
  pushConfigOf,
  taskOf,
  type Json,
  type SeenEvent,
  type SeenPushConfig,
  type SeenTask,
} from './seen.js';
import { serverEvents } from './server-events.js';
import {
  messageId,
  pageOf,
  Refusal,
  sendRequest10,
  type Address,
  type ListQuery,
  type Outgoing,
  type SendOptions,
  type TaskPage,
  type Version,
  type Voice,
} from './voice.js';

export const JSON_RPC_PATH = '/a2a';

interface Dialect {
  readonly send: string;
  readonly stream: string;
  readonly subscribe: string;
  readonly get: string;
  readonly cancel: string;
  readonly extendedCard: string;
  readonly createPush: string;
  readonly getPush: string;
  readonly listPush: string;
  readonly deletePush: string;
  readonly extensionHeader: string;
  readonly request: (message: Outgoing, options?: SendOptions) => Json;
  readonly pushParams: (taskId: string, config: { readonly id: string; readonly url: string }) => Json;
  readonly pushQuery: (taskId: string, id: string) => Json;
  readonly listPushQuery: (taskId: string) => Json;
}

const DIALECTS: Readonly<Record<Version, Dialect>> = {
  '1.0': {
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    subscribe: 'SubscribeToTask',
    get: 'GetTask',
    cancel: 'CancelTask',
    extendedCard: 'GetExtendedAgentCard',
    createPush: 'CreateTaskPushNotificationConfig',
    getPush: 'GetTaskPushNotificationConfig',
    listPush: 'ListTaskPushNotificationConfigs',
    deletePush: 'DeleteTaskPushNotificationConfig',
    extensionHeader: 'A2A-Extensions',
    request: sendRequest10,
    pushParams: (taskId, config) => ({ taskId, ...config }),
    pushQuery: (taskId, id) => ({ taskId, id }),
    listPushQuery: (taskId) => ({ taskId }),
  },
  '0.3': {
    send: 'message/send',
    stream: 'message/stream',
    subscribe: 'tasks/resubscribe',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
    extendedCard: 'agent/getAuthenticatedExtendedCard',
    createPush: 'tasks/pushNotificationConfig/set',
    getPush: 'tasks/pushNotificationConfig/get',
    listPush: 'tasks/pushNotificationConfig/list',
    deletePush: 'tasks/pushNotificationConfig/delete',
    extensionHeader: 'X-A2A-Extensions',
    request: request03,
    pushParams: (taskId, pushNotificationConfig) => ({ taskId, pushNotificationConfig }),
    pushQuery: (id, pushNotificationConfigId) => ({ id, pushNotificationConfigId }),
    listPushQuery: (id) => ({ id }),
  },
};

function request03(message: Outgoing, options: SendOptions = {}): Json {
  const { immediately, historyLength, push } = options;
  return {
    message: {
      kind: 'message',
      messageId: messageId(message),
      role: 'user',
      parts: [{ kind: 'text', text: message.text ?? 'hello' }],
      ...(message.taskId === undefined ? {} : { taskId: message.taskId }),
      ...(message.contextId === undefined ? {} : { contextId: message.contextId }),
    },
    configuration: {
      blocking: immediately !== true,
      ...(historyLength === undefined ? {} : { historyLength }),
      ...(push === undefined ? {} : { pushNotificationConfig: push03(push) }),
    },
  };
}

function push03({ url, token, credentials }: NonNullable<SendOptions['push']>): Json {
  const authentication = credentials === undefined ? {} : { authentication: { schemes: ['Bearer'], credentials } };
  return { url, ...(token === undefined ? {} : { token }), ...authentication };
}

/** JSON-RPC over HTTP. */
export class JsonRpcVoice implements Voice {
  readonly binding = 'JSON-RPC';
  readonly version: Version;
  readonly #url: string;
  readonly #dialect: Dialect;

  constructor({ url }: Address, version: Version) {
    this.version = version;
    this.#url = `${url}${JSON_RPC_PATH}`;
    this.#dialect = DIALECTS[version];
  }

  async send(message: Outgoing, options?: SendOptions): Promise<SeenTask> {
    return eventOf(await this.#call(this.#dialect.send, this.#dialect.request(message, options))) as SeenTask;
  }

  async *stream(message: Outgoing, options?: SendOptions): AsyncGenerator<SeenEvent> {
    yield* this.#events(this.#dialect.stream, this.#dialect.request(message, options));
  }

  async *subscribe(taskId: string): AsyncGenerator<SeenEvent> {
    yield* this.#events(this.#dialect.subscribe, { id: taskId });
  }

  async get(taskId: string, historyLength?: number): Promise<SeenTask> {
    const wanted = historyLength === undefined ? {} : { historyLength };
    return taskOf(await this.#call(this.#dialect.get, { id: taskId, ...wanted }));
  }

  async cancel(taskId: string): Promise<SeenTask> {
    return taskOf(await this.#call(this.#dialect.cancel, { id: taskId }));
  }

  async list(query: ListQuery): Promise<TaskPage> {
    return pageOf(await this.#call('ListTasks', query), taskOf);
  }

  extendedCard(): Promise<Json> {
    return this.#call(this.#dialect.extendedCard, this.version === '1.0' ? {} : undefined);
  }

  async createPush(taskId: string, config: { readonly id: string; readonly url: string }): Promise<SeenPushConfig> {
    return pushConfigOf(await this.#call(this.#dialect.createPush, this.#dialect.pushParams(taskId, config)));
  }

  async getPush(taskId: string, id: string): Promise<SeenPushConfig> {
    return pushConfigOf(await this.#call(this.#dialect.getPush, this.#dialect.pushQuery(taskId, id)));
  }

  async listPush(taskId: string): Promise<readonly SeenPushConfig[]> {
    const found: Json = await this.#call(this.#dialect.listPush, this.#dialect.listPushQuery(taskId));
    const configs: Json[] = Array.isArray(found) ? found : (found.configs ?? []);
    return configs.map(pushConfigOf);
  }

  async deletePush(taskId: string, id: string): Promise<void> {
    await this.#call(this.#dialect.deletePush, this.#dialect.pushQuery(taskId, id));
  }

  async activated(message: Outgoing, extensions: string): Promise<string> {
    const { send, request, extensionHeader } = this.#dialect;
    const response = await this.#post(send, request(message), { [extensionHeader]: extensions });
    resultOf(await response.json());
    return response.headers.get(extensionHeader) ?? '';
  }

  close(): void {
    // Connections are fetch's own.
  }

  async #call(method: string, params: Json): Promise<Json> {
    const response = await this.#post(method, params);
    return resultOf(await response.json());
  }

  async *#events(method: string, params: Json): AsyncGenerator<SeenEvent> {
    const hangUp = new AbortController();
    const response = await this.#post(method, params, {}, hangUp.signal);
    try {
      if (!isStream(response)) {
        resultOf(await response.json());
        throw new Error(`a stream was asked for, and ${String(response.headers.get('content-type'))} came`);
      }
      for await (const event of serverEvents(response)) yield eventOf(resultOf(event));
    } finally {
      hangUp.abort();
    }
  }

  #post(method: string, params: Json, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': this.version, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'request-1', method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

export function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** @throws Refusal for an error. */
export function resultOf(body: Json): Json {
  if (body.jsonrpc !== '2.0' || body.id !== 'request-1')
    throw new Error(`no answer to this request: ${JSON.stringify(body)}`);
  if (body.error === undefined) return body.result;
  const { code, message, data } = body.error;
  const info = Array.isArray(data) ? data.find(({ reason }: Json) => reason !== undefined) : undefined;
  throw new Refusal(code, message, info);
}
