import { isStream } from './json-rpc-voice.js';
import {
  eventOf,
  pushConfigOf,
  taskOf,
  unwrapData,
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

export const REST_PATH = '/a2a/v1';

/** As 0.3 writes it over HTTP: the JSON form of its protocol buffer. */
function request03(message: Outgoing, options: SendOptions = {}): Json {
  const { immediately, historyLength, push } = options;
  return {
    request: {
      messageId: messageId(message),
      role: 'ROLE_USER',
      content: [{ text: message.text ?? 'hello' }],
      ...(message.taskId === undefined ? {} : { taskId: message.taskId }),
      ...(message.contextId === undefined ? {} : { contextId: message.contextId }),
    },
    configuration: {
      blocking: immediately !== true,
      ...(historyLength === undefined ? {} : { historyLength }),
      ...(push === undefined ? {} : { pushNotification: push03(push) }),
    },
  };
}

function push03({ url, token, credentials }: NonNullable<SendOptions['push']>): Json {
  const authentication = credentials === undefined ? {} : { authentication: { schemes: ['Bearer'], credentials } };
  return { url, ...(token === undefined ? {} : { token }), ...authentication };
}

/** HTTP+JSON. */
export class RestVoice implements Voice {
  readonly binding = 'HTTP+JSON';
  readonly version: Version;
  readonly #base: string;
  readonly #legacy: boolean;
  readonly #extensionHeader: string;

  constructor({ url }: Address, version: Version) {
    this.version = version;
    this.#legacy = version === '0.3';
    // The base is the same; the paths of 0.3 begin with the version of its own.
    this.#base = `${url}${REST_PATH}${this.#legacy ? '/v1' : ''}`;
    this.#extensionHeader = this.#legacy ? 'X-A2A-Extensions' : 'A2A-Extensions';
  }

  async send(message: Outgoing, options?: SendOptions): Promise<SeenTask> {
    const body = await this.#call('POST', '/message:send', this.#request(message, options));
    return this.#event(body) as SeenTask;
  }

  async *stream(message: Outgoing, options?: SendOptions): AsyncGenerator<SeenEvent> {
    yield* this.#events('POST', '/message:stream', this.#request(message, options));
  }

  async *subscribe(taskId: string): AsyncGenerator<SeenEvent> {
    yield* this.#events('GET', `/tasks/${taskId}:subscribe`);
  }

  async get(taskId: string, historyLength?: number): Promise<SeenTask> {
    const query = historyLength === undefined ? '' : `?historyLength=${String(historyLength)}`;
    return this.#task(await this.#call('GET', `/tasks/${taskId}${query}`));
  }

  async cancel(taskId: string): Promise<SeenTask> {
    return this.#task(await this.#call('POST', `/tasks/${taskId}:cancel`, {}));
  }

  async list(query: ListQuery): Promise<TaskPage> {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return pageOf(await this.#call('GET', `/tasks?${search.toString()}`), taskOf);
  }

  extendedCard(): Promise<Json> {
    return this.#call('GET', this.#legacy ? '/card' : '/extendedAgentCard');
  }

  async createPush(taskId: string, config: { readonly id: string; readonly url: string }): Promise<SeenPushConfig> {
    const named = `tasks/${taskId}/pushNotificationConfigs/${config.id}`;
    const body = this.#legacy ? { name: named, pushNotificationConfig: config } : config;
    return pushConfigOf(await this.#call('POST', `/tasks/${taskId}/pushNotificationConfigs`, body));
  }

  async getPush(taskId: string, id: string): Promise<SeenPushConfig> {
    return pushConfigOf(await this.#call('GET', `/tasks/${taskId}/pushNotificationConfigs/${id}`));
  }

  async listPush(taskId: string): Promise<readonly SeenPushConfig[]> {
    const { configs = [] } = await this.#call('GET', `/tasks/${taskId}/pushNotificationConfigs`);
    return configs.map(pushConfigOf);
  }

  async deletePush(taskId: string, id: string): Promise<void> {
    await this.#call('DELETE', `/tasks/${taskId}/pushNotificationConfigs/${id}`);
  }

  async activated(message: Outgoing, extensions: string): Promise<string> {
    const headers = { [this.#extensionHeader]: extensions };
    const response = await this.#fetch('POST', '/message:send', this.#request(message), headers);
    await bodyOf(response);
    return response.headers.get(this.#extensionHeader) ?? '';
  }

  close(): void {
    // Connections are fetch's own.
  }

  #request(message: Outgoing, options?: SendOptions): Json {
    return this.#legacy ? request03(message, options) : sendRequest10(message, options);
  }

  #event(body: Json): SeenEvent {
    return eventOf(this.#legacy ? unwrapData(body) : body);
  }

  #task(body: Json): SeenTask {
    return taskOf(this.#legacy ? unwrapData(body) : body);
  }

  async #call(method: string, path: string, body?: Json): Promise<Json> {
    return bodyOf(await this.#fetch(method, path, body));
  }

  async *#events(method: string, path: string, body?: Json): AsyncGenerator<SeenEvent> {
    const hangUp = new AbortController();
    const response = await this.#fetch(method, path, body, {}, hangUp.signal);
    try {
      if (!isStream(response)) {
        await bodyOf(response);
        throw new Error(`a stream was asked for, and ${String(response.headers.get('content-type'))} came`);
      }
      for await (const event of serverEvents(response)) {
        if (event.error !== undefined) throw refusalOf(event.error.code, event);
        yield this.#event(event);
      }
    } finally {
      hangUp.abort();
    }
  }

  #fetch(method: string, path: string, body?: Json, headers = {}, signal?: AbortSignal): Promise<Response> {
    const type = this.#legacy ? 'application/json' : 'application/a2a+json';
    return fetch(`${this.#base}${path}`, {
      method,
      headers: { 'a2a-version': this.version, ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** @throws Refusal for anything but a success. */
async function bodyOf(response: Response): Promise<Json> {
  const text = await response.text();
  const body: Json = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw refusalOf(response.status, body);
  return body;
}

/** 1.0 has `{error: {message, details}}`; 0.3 has `{code, message}`. */
function refusalOf(status: number, body: Json): Refusal {
  const error = body?.error ?? body;
  const info = (error?.details ?? []).find(({ reason }: Json) => reason !== undefined);
  return new Refusal(status, error?.message ?? '', info);
}
