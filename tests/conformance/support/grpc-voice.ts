import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
} from '@a2a-js/sdk';
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import {
  Client,
  credentials,
  Metadata,
  type ClientReadableStream,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js';
import { grpcRefusal } from './grpc-refusal.js';
import {
  eventOf,
  flat,
  pushConfigOf,
  taskOf,
  unwrapData,
  type Json,
  type SeenEvent,
  type SeenPushConfig,
  type SeenTask,
} from './seen.js';
import {
  messageId,
  pageOf,
  sendRequest10,
  type Address,
  type ListQuery,
  type Outgoing,
  type SendOptions,
  type TaskPage,
  type Version,
  type Voice,
} from './voice.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the tables of both versions have types of their own
type Method = MethodDefinition<any, any>;

interface Dialect {
  readonly send: Method;
  readonly stream: Method;
  readonly subscribe: Method;
  readonly get: Method;
  readonly cancel: Method;
  readonly createPush: Method;
  readonly getPush: Method;
  readonly listPush: Method;
  readonly deletePush: Method;
  readonly extensionKey: string;
  readonly sendRequest: (message: Outgoing, options?: SendOptions) => Json;
  readonly taskRequest: (id: string) => Json;
  readonly getRequest: (id: string, historyLength?: number) => Json;
  readonly createPushRequest: (taskId: string, config: { readonly id: string; readonly url: string }) => Json;
  readonly pushRequest: (taskId: string, id: string) => Json;
  readonly listPushRequest: (taskId: string) => Json;
}

const { subscribeToTask, listTaskPushNotificationConfigs } = A2AService;
const { taskSubscription, listTaskPushNotificationConfig } = LegacyA2AService;

const shared = (service: typeof A2AService | typeof LegacyA2AService) => ({
  send: service.sendMessage,
  stream: service.sendStreamingMessage,
  get: service.getTask,
  cancel: service.cancelTask,
  createPush: service.createTaskPushNotificationConfig,
  getPush: service.getTaskPushNotificationConfig,
  deletePush: service.deleteTaskPushNotificationConfig,
});

const DIALECTS: Readonly<Record<Version, Dialect>> = {
  '1.0': {
    ...shared(A2AService),
    subscribe: subscribeToTask,
    listPush: listTaskPushNotificationConfigs,
    extensionKey: 'a2a-extensions',
    sendRequest: (message, options) => SendMessageRequest.fromJSON(sendRequest10(message, options)),
    taskRequest: (id) => CancelTaskRequest.fromJSON({ id }),
    getRequest: (id, historyLength) => GetTaskRequest.fromJSON({ id, historyLength }),
    createPushRequest: (taskId, config) => ({ tenant: '', token: '', taskId, ...config }),
    pushRequest: (taskId, id) => GetTaskPushNotificationConfigRequest.fromJSON({ taskId, id }),
    listPushRequest: (taskId) => ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }),
  },
  '0.3': {
    ...shared(LegacyA2AService),
    subscribe: taskSubscription,
    listPush: listTaskPushNotificationConfig,
    extensionKey: 'x-a2a-extensions',
    sendRequest: request03,
    taskRequest: (id) => ({ name: `tasks/${id}` }),
    getRequest: (id, historyLength = 0) => ({ name: `tasks/${id}`, historyLength }),
    createPushRequest: (taskId, config) => ({
      parent: `tasks/${taskId}`,
      configId: config.id,
      config: {
        name: `tasks/${taskId}/pushNotificationConfigs/${config.id}`,
        pushNotificationConfig: { token: '', authentication: undefined, ...config },
      },
    }),
    pushRequest: (taskId, id) => ({ name: `tasks/${taskId}/pushNotificationConfigs/${id}` }),
    listPushRequest: (taskId) => ({ parent: `tasks/${taskId}`, pageSize: 0, pageToken: '' }),
  },
};

function request03(message: Outgoing, options: SendOptions = {}): Json {
  const { immediately, historyLength = 0, push } = options;
  return {
    request: {
      messageId: messageId(message),
      contextId: message.contextId ?? '',
      taskId: message.taskId ?? '',
      role: 1,
      content: [{ part: { $case: 'text', value: message.text ?? 'hello' } }],
      metadata: undefined,
      extensions: [],
    },
    configuration: {
      acceptedOutputModes: [],
      pushNotification: push === undefined ? undefined : push03(push),
      historyLength,
      blocking: immediately !== true,
    },
    metadata: undefined,
  };
}

function push03({ url, token = '', credentials: secret }: NonNullable<SendOptions['push']>): Json {
  const authentication = secret === undefined ? undefined : { schemes: ['Bearer'], credentials: secret };
  return { id: '', url, token, authentication };
}

const MAX_BYTES = 64 * 1024 * 1024;
const DEADLINE_MS = 30_000;

/** gRPC; the two versions are two services. */
export class GrpcVoice implements Voice {
  readonly binding = 'gRPC';
  readonly version: Version;
  readonly #asked: string;
  readonly #client: Client;
  readonly #dialect: Dialect;

  /** @param asked what the metadata say of the version. Default: the version. */
  constructor({ grpcTarget }: Address, version: Version, asked: string = version) {
    this.version = version;
    this.#asked = asked;
    this.#dialect = DIALECTS[version];
    this.#client = new Client(grpcTarget, credentials.createInsecure(), {
      'grpc.max_receive_message_length': MAX_BYTES,
      'grpc.max_send_message_length': MAX_BYTES,
    });
  }

  async send(message: Outgoing, options?: SendOptions): Promise<SeenTask> {
    const { send, sendRequest } = this.#dialect;
    return eventOf(await this.#call(send, sendRequest(message, options))) as SeenTask;
  }

  async *stream(message: Outgoing, options?: SendOptions): AsyncGenerator<SeenEvent> {
    yield* this.#events(this.#dialect.stream, this.#dialect.sendRequest(message, options));
  }

  async *subscribe(taskId: string): AsyncGenerator<SeenEvent> {
    const request: Json =
      this.version === '1.0' ? SubscribeToTaskRequest.fromJSON({ id: taskId }) : { name: `tasks/${taskId}` };
    yield* this.#events(this.#dialect.subscribe, request);
  }

  async get(taskId: string, historyLength?: number): Promise<SeenTask> {
    return taskOf(await this.#call(this.#dialect.get, this.#dialect.getRequest(taskId, historyLength)));
  }

  async cancel(taskId: string): Promise<SeenTask> {
    return taskOf(await this.#call(this.#dialect.cancel, this.#dialect.taskRequest(taskId)));
  }

  async list(query: ListQuery): Promise<TaskPage> {
    return pageOf(await this.#call(A2AService.listTasks, ListTasksRequest.fromJSON(query)), taskOf);
  }

  async extendedCard(): Promise<Json> {
    return this.version === '1.0'
      ? await this.#call(A2AService.getExtendedAgentCard, { tenant: '' })
      : await this.#call(LegacyA2AService.getAgentCard, {});
  }

  async createPush(taskId: string, config: { readonly id: string; readonly url: string }): Promise<SeenPushConfig> {
    const { createPush, createPushRequest } = this.#dialect;
    return pushConfigOf(await this.#call(createPush, createPushRequest(taskId, config)));
  }

  async getPush(taskId: string, id: string): Promise<SeenPushConfig> {
    return pushConfigOf(await this.#call(this.#dialect.getPush, this.#dialect.pushRequest(taskId, id)));
  }

  async listPush(taskId: string): Promise<readonly SeenPushConfig[]> {
    const { listPush, listPushRequest } = this.#dialect;
    const { configs = [] } = await this.#call(listPush, listPushRequest(taskId));
    return configs.map(pushConfigOf);
  }

  async deletePush(taskId: string, id: string): Promise<void> {
    const request: Json =
      this.version === '1.0'
        ? DeleteTaskPushNotificationConfigRequest.fromJSON({ taskId, id })
        : this.#dialect.pushRequest(taskId, id);
    await this.#call(this.#dialect.deletePush, request);
  }

  async activated(message: Outgoing, extensions: string): Promise<string> {
    const { send, sendRequest, extensionKey } = this.#dialect;
    let answered = new Metadata();
    await this.#call(send, sendRequest(message), { [extensionKey]: extensions }, (metadata) => (answered = metadata));
    return answered.get(extensionKey).join(',');
  }

  close(): void {
    this.#client.close();
  }

  #call(
    method: Method,
    request: Json,
    metadata: Readonly<Record<string, string>> = {},
    onMetadata: (metadata: Metadata) => void = () => undefined,
  ): Promise<Json> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest<Json, Json>(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.#metadata(metadata),
        { deadline: Date.now() + DEADLINE_MS },
        (error, answer) => {
          if (error === null) resolve(this.#read(answer));
          else reject(grpcRefusal(error));
        },
      );
      call.on('metadata', onMetadata);
    });
  }

  async *#events(method: Method, request: Json): AsyncGenerator<SeenEvent> {
    const call: ClientReadableStream<Json> = this.#client.makeServerStreamRequest<Json, Json>(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      this.#metadata({}),
      { deadline: Date.now() + DEADLINE_MS },
    );
    try {
      for await (const event of call) yield eventOf(this.#read(event));
    } catch (error) {
      throw grpcRefusal(error as ServiceError);
    } finally {
      call.cancel();
    }
  }

  #read(answer: Json): Json {
    return this.version === '1.0' ? flat(answer) : unwrapData(flat(answer));
  }

  #metadata(entries: Readonly<Record<string, string>>): Metadata {
    const metadata = new Metadata();
    metadata.set('a2a-version', this.#asked);
    for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
    return metadata;
  }
}
