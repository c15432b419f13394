import { randomUUID } from 'node:crypto';
import type { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import type { Logger } from '@parley/service-kit';
import { deadline } from '../../peer/deadline.js';
import { orAborted } from '../../peer/wait.js';
import type { TaskPart } from '../task-executor.js';
import type {
  A2aAnswer,
  A2aCallOptions,
  A2aConnection,
  A2aListFilter,
  A2aSendOptions,
  A2aTask,
  A2aTaskPage,
  A2aUpdate,
} from './a2a-connection.js';
import { followTask, type OpenStream } from './follow-task.js';
import { answerOf, sdkState, taskOf, updateOf } from './from-sdk.js';
import { sdkMessage } from './to-sdk.js';
import { callError } from './wire-errors.js';

export interface A2aTimeouts {
  /** Reading the card. Default 5,000. */
  readonly cardMs: number;
  /** Whatever is answered at once: get, list, cancel, a send that does not wait. Default 30,000. */
  readonly callMs: number;
  /** Whatever lasts as long as a task: send, stream, subscribe. Default 600,000. */
  readonly taskMs: number;
}

export const DEFAULT_A2A_TIMEOUTS: A2aTimeouts = { cardMs: 5_000, callMs: 30_000, taskMs: 600_000 };

export interface SdkConnectionOptions {
  readonly client: Client;
  readonly card: AgentCard;
  readonly timeouts: A2aTimeouts;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly close: () => Promise<void>;
}

/** A connection over the protocol's own library. */
export class SdkConnection implements A2aConnection {
  readonly card: AgentCard;
  readonly #options: SdkConnectionOptions;
  readonly #client: Client;

  constructor(options: SdkConnectionOptions) {
    this.card = options.card;
    this.#options = options;
    this.#client = options.client;
  }

  get binding(): string {
    return this.#client.transport.protocolName;
  }

  get protocolVersion(): string {
    return this.#client.protocolVersion;
  }

  async send(
    parts: readonly TaskPart[],
    options: A2aSendOptions & { readonly returnImmediately?: boolean } = {},
  ): Promise<A2aAnswer> {
    const { callMs, taskMs } = this.#options.timeouts;
    const request = sendRequest(parts, options, options.returnImmediately ?? false);
    return this.#call(options, options.returnImmediately === true ? callMs : taskMs, async (call) =>
      answerOf(await this.#client.sendMessage(request, call)),
    );
  }

  stream(parts: readonly TaskPart[], options: A2aSendOptions = {}): AsyncIterable<A2aUpdate> {
    const request = sendRequest(parts, options, false);
    return this.#follow((call) => this.#client.sendMessageStream(request, call), options, {
      taskId: options.taskId,
      untilRest: true,
    });
  }

  subscribe(taskId: string, options: A2aCallOptions = {}): AsyncIterable<A2aUpdate> {
    return this.#follow((call) => this.#client.resubscribeTask({ tenant: '', id: taskId }, call), options, {
      taskId,
      untilRest: false,
    });
  }

  async getTask(taskId: string, options: A2aCallOptions & { readonly historyLength?: number } = {}): Promise<A2aTask> {
    const length = options.historyLength === undefined ? {} : { historyLength: options.historyLength };
    return this.#call(options, this.#options.timeouts.callMs, async (call) =>
      taskOf(await this.#client.getTask({ tenant: '', id: taskId, ...length }, call)),
    );
  }

  async listTasks(filter: A2aListFilter = {}, options: A2aCallOptions = {}): Promise<A2aTaskPage> {
    const { contextId = '', pageToken = '', state = 'unknown', ...rest } = filter;
    const request = {
      tenant: '',
      contextId,
      pageToken,
      status: sdkState(state),
      statusTimestampAfter: undefined,
      ...rest,
    };
    return this.#call(options, this.#options.timeouts.callMs, async (call) => {
      const { tasks, nextPageToken, totalSize } = await this.#client.listTasks(request, call);
      return {
        tasks: tasks.map(taskOf),
        nextPageToken: nextPageToken === '' ? undefined : nextPageToken,
        totalSize,
      };
    });
  }

  async cancelTask(taskId: string, options: A2aCallOptions = {}): Promise<A2aTask> {
    return this.#call(options, this.#options.timeouts.callMs, async (call) =>
      taskOf(await this.#client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, call)),
    );
  }

  close(): Promise<void> {
    return this.#options.close();
  }

  async #call<T>(options: A2aCallOptions, defaultMs: number, call: (o: RequestOptions) => Promise<T>): Promise<T> {
    const deadlineMs = options.deadlineMs ?? defaultMs;
    const limit = deadline(deadlineMs, options.signal);
    try {
      // Not every transport hears its signal in every state.
      return await orAborted(
        call(this.#requestOptions(options, limit.signal)),
        limit.signal,
        () => limit.signal.reason,
      );
    } catch (error) {
      throw callError(error, { caller: options.signal, limit: limit.signal, deadlineMs });
    } finally {
      limit.clear();
    }
  }

  async *#follow(
    open: (call: RequestOptions) => ReturnType<Client['sendMessageStream']>,
    options: A2aCallOptions,
    { taskId, untilRest }: { readonly taskId: string | undefined; readonly untilRest: boolean },
  ): AsyncGenerator<A2aUpdate, void, undefined> {
    const deadlineMs = options.deadlineMs ?? this.#options.timeouts.taskMs;
    const limit = deadline(deadlineMs, options.signal);
    const call = this.#requestOptions(options, limit.signal);
    const updates = (start: typeof open): OpenStream =>
      async function* () {
        for await (const event of start(call)) yield updateOf(event);
      };
    try {
      yield* followTask({
        open: updates(open),
        reopen: (id) => updates((again) => this.#client.resubscribeTask({ tenant: '', id }, again))(),
        look: async (id) => taskOf(await this.#client.getTask({ tenant: '', id }, call)),
        toError: (error) => callError(error, { caller: options.signal, limit: limit.signal, deadlineMs }),
        untilRest,
        signal: limit.signal,
        logger: this.#options.logger,
        ...(taskId === undefined ? {} : { taskId }),
      });
    } finally {
      limit.clear();
    }
  }

  #requestOptions({ headers, extensions = [] }: A2aCallOptions, signal: AbortSignal): RequestOptions {
    const serviceParameters = {
      ...this.#options.headers,
      ...headers,
      ...(extensions.length === 0 ? {} : { [HTTP_EXTENSION_HEADER]: extensions.join(', ') }),
    };
    return { signal, serviceParameters };
  }
}

function sendRequest(
  parts: readonly TaskPart[],
  options: A2aSendOptions,
  returnImmediately: boolean,
): SendMessageRequest {
  return {
    tenant: '',
    message: sdkMessage(parts, options.messageId ?? randomUUID(), options),
    configuration: {
      acceptedOutputModes: [...(options.acceptedOutputModes ?? [])],
      taskPushNotificationConfig: undefined,
      returnImmediately,
      ...(options.historyLength === undefined ? {} : { historyLength: options.historyLength }),
    },
    metadata: undefined,
  };
}
