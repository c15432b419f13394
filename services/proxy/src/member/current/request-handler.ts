import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { STATE_HEADERS_KEY, type A2ARequestHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import { readerSignal } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import { isEnded } from '../../a2a/wire-task.js';
import { Refusal } from '../../domain/facts.js';
import type { ProxyEngine, TaskView } from '../../engine/index.js';
import { keptMessage, textsOf } from './sent-message.js';
import { shownAnswer, shownStatus, shownTask } from './shown-task.js';
import { pageOfTasks } from './task-page.js';

export type SendersEngine = Pick<ProxyEngine, 'submit' | 'task' | 'tasks' | 'opened' | 'ended' | 'cancel'>;

type Updates = AsyncGenerator<StreamResponse, void, undefined>;

/** More than any client makes up. */
const MAX_ID_LENGTH = 256;

/** A2A 1.0 over the engine's tasks: they are the same ones that the 0.3 dialect has, by the same ids. */
export class ProxyRequestHandler implements A2ARequestHandler {
  constructor(
    private readonly engine: SendersEngine,
    private readonly card: () => AgentCard,
  ) {}

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.card());
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new UnsupportedOperationError('The agent has no extended card.'));
  }

  async sendMessage(request: SendMessageRequest, call: ServerCallContext): Promise<Task> {
    const task = await this.#submit(request, call);
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const isShownAsItIs = returnImmediately === true || isEnded(task);
    return shownTask(isShownAsItIs ? task : await this.#ended(task.taskId, call), historyLength);
  }

  async *sendMessageStream(request: SendMessageRequest, call: ServerCallContext): Updates {
    yield* this.#follow(await this.#submit(request, call), call, request.configuration?.historyLength);
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return await settle(() => shownTask(this.#known(id), historyLength));
  }

  async listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return await settle(() => pageOfTasks(this.engine.tasks(), request));
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const { outcome, view } = await told(this.engine.cancel(id));
    const task = view ?? this.#known(id);
    if (outcome === 'ended') throw new TaskNotCancelableError(`The task ${id} has ended (${task.state}).`);
    return shownTask(task);
  }

  async *resubscribe({ id }: SubscribeToTaskRequest, call: ServerCallContext): Updates {
    const task = this.#known(id);
    if (isEnded(task)) throw new UnsupportedOperationError(`The task ${id} has ended (${task.state}).`);
    yield* this.#follow(task, call);
  }

  createTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  getTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return noPush();
  }

  deleteTaskPushNotificationConfig(): Promise<never> {
    return noPush();
  }

  async #submit({ message, configuration }: SendMessageRequest, call: ServerCallContext): Promise<TaskView> {
    if (message === undefined) throw new RequestMalformedError('message is required');
    if (configuration?.taskPushNotificationConfig !== undefined) throw new PushNotificationNotSupportedError();
    this.#checkTask(message);
    const { messageId, contextId } = message;
    const texts = textsOf(message);
    const traceparent = traceparentOf(call);
    return await told(
      this.engine.submit({
        messageId,
        message: keptMessage(message),
        texts,
        ...(contextId !== '' && { contextId }),
        ...(traceparent !== undefined && { traceparent }),
      }),
    );
  }

  /** A task takes one message, the one it was made for. */
  #checkTask({ messageId, contextId, taskId }: Message): void {
    for (const [name, id] of Object.entries({ messageId, contextId, taskId })) {
      if (id.length > MAX_ID_LENGTH) throw new RequestMalformedError(`message.${name} is too long`);
    }
    if (taskId === '') return;
    const task = this.#known(taskId);
    const why = isEnded(task) ? `has ended (${task.state})` : 'is being worked on';
    throw new UnsupportedOperationError(`The task ${taskId} ${why} and takes no message.`);
  }

  async *#follow(task: TaskView, call: ServerCallContext, historyLength?: number): Updates {
    yield { payload: { $case: 'task', value: shownTask(task, historyLength) } };
    if (isEnded(task)) return;
    const working = await told(this.engine.opened(task.taskId, signalOf(call)));
    if (task.state === 'submitted' && working.state === 'working') yield statusOf(working);
    const ended = await this.#ended(task.taskId, call);
    // The reader has left.
    if (!isEnded(ended)) return;
    const { taskId, contextId } = ended;
    const artifact = shownAnswer(ended);
    if (artifact !== undefined) {
      const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
      yield { payload: { $case: 'artifactUpdate', value } };
    }
    yield statusOf(ended);
  }

  /** @throws AppError if the proxy stops before: the task goes on with its next process. */
  async #ended(taskId: string, call: ServerCallContext): Promise<TaskView> {
    const signal = signalOf(call);
    const task = await told(this.engine.ended(taskId, signal));
    if (isEnded(task) || signal.aborted) return task;
    throw new AppError('unavailable', 'The proxy is shutting down.', { code: 'shutting_down' });
  }

  #known(taskId: string): TaskView {
    const task = this.engine.task(taskId);
    if (task === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
    return task;
  }
}

function signalOf(call: ServerCallContext): AbortSignal {
  return readerSignal(call) ?? new AbortController().signal;
}

function statusOf(task: TaskView): StreamResponse {
  const { taskId, contextId } = task;
  const value = { taskId, contextId, status: shownStatus(task), metadata: undefined };
  return { payload: { $case: 'statusUpdate', value } };
}

function noPush(): Promise<never> {
  return Promise.reject(new PushNotificationNotSupportedError());
}

async function settle<T>(work: () => T): Promise<T> {
  return await Promise.resolve().then(work);
}

/** What the engine refuses, as the protocol tells it. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    switch (error.status) {
      case 400:
        throw new RequestMalformedError(error.message);
      case 429:
        throw new AppError('too_many_requests', error.message, { retryAfterSeconds: 1 });
      case 503:
        throw new AppError('unavailable', error.message, { retryAfterSeconds: 1 });
      default:
        throw new UnsupportedOperationError(error.message);
    }
  }
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/u;

function traceparentOf(call: ServerCallContext): string | undefined {
  const headers = call.state.get(STATE_HEADERS_KEY) as Readonly<Record<string, unknown>> | undefined;
  const value = headers?.['traceparent'];
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}
