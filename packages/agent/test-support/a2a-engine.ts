import {
  Role,
  TaskState,
  type AgentCard,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import { ServerCallContext, type A2ARequestHandler } from '@a2a-js/sdk/server';
import { createMemoryTaskStore, type AgentTaskStore } from '../src/a2a/stores/index.js';
import type { TaskExecutor, TaskOutcome, TaskReporter, TaskRequest } from '../src/a2a/task-executor.js';
import {
  createTaskEngine,
  taskExecutorAdapter,
  type TaskEngine,
  type TaskEngineOptions,
} from '../src/a2a/tasks/index.js';

export function testCard(over: Partial<AgentCard> = {}): AgentCard {
  return {
    name: 'test',
    description: '',
    version: '1.0.0',
    provider: undefined,
    supportedInterfaces: [],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
    ...over,
  };
}

/** One piece of work under way, ended by the test. */
export interface Work {
  readonly request: TaskRequest;
  readonly reporter: TaskReporter;
  end(outcome?: Partial<TaskOutcome>): void;
  fail(error: unknown): void;
}

/** Does nothing by itself: tests say what happens, and when. */
export class ManualExecutor implements TaskExecutor {
  readonly works: Work[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  /** False: work does not end when it is aborted. */
  heedsAbort = true;
  readonly #waiting: (() => void)[] = [];

  async execute(request: TaskRequest, reporter: TaskReporter): Promise<TaskOutcome> {
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome>();
    const onAbort = (): void => {
      if (this.heedsAbort) reject(request.signal.reason as Error);
    };
    request.signal.addEventListener('abort', onAbort, { once: true });
    this.works.push({
      request,
      reporter,
      end: (outcome = {}) => {
        resolve({ state: 'completed', ...outcome });
      },
      fail: reject,
    });
    for (const wake of this.#waiting.splice(0)) wake();
    try {
      return await promise;
    } finally {
      request.signal.removeEventListener('abort', onAbort);
      this.atOnce -= 1;
    }
  }

  /** The nth piece of work, once it has begun. */
  async work(index = 0): Promise<Work> {
    for (;;) {
      const work = this.works[index];
      if (work !== undefined) return work;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** Ends at once with the text that it was given. */
export const echo: TaskExecutor = {
  execute: ({ parts }) => {
    const [first] = parts;
    return Promise.resolve({ state: 'completed', text: first?.kind === 'text' ? first.text : '' });
  },
};

export interface TestEngine {
  readonly engine: TaskEngine;
  readonly handler: A2ARequestHandler;
  readonly store: AgentTaskStore;
  readonly executor: ManualExecutor;
}

export function testEngine(
  over: Partial<TaskEngineOptions> & { readonly work?: TaskExecutor; readonly cardOver?: Partial<AgentCard> } = {},
): TestEngine {
  const { work, cardOver, ...options } = over;
  const executor = new ManualExecutor();
  const store = createMemoryTaskStore();
  const card = testCard(cardOver);
  const engine = createTaskEngine({
    card: () => card,
    executor: taskExecutorAdapter(work ?? executor),
    store,
    ...options,
  });
  return { engine, handler: engine.requestHandler, store, executor };
}

export function callBy(userName = 'ann', requestedExtensions: string[] = []): ServerCallContext {
  const user = { isAuthenticated: true, userName };
  return new ServerCallContext({ user, requestedVersion: '1.0', requestedExtensions });
}

export interface Sent {
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Record<string, unknown>;
  readonly immediately?: boolean;
  readonly historyLength?: number;
  readonly parts?: Message['parts'];
}

let sentCount = 0;

export function sending(text: string, sent: Sent = {}): SendMessageRequest {
  sentCount += 1;
  const message: Message = {
    messageId: sent.messageId ?? `message-${String(sentCount)}`,
    contextId: sent.contextId ?? '',
    taskId: sent.taskId ?? '',
    role: Role.ROLE_USER,
    parts: sent.parts ?? [
      { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' },
    ],
    metadata: sent.metadata,
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    historyLength: sent.historyLength,
    returnImmediately: sent.immediately ?? false,
  };
  return { tenant: '', message, configuration, metadata: undefined };
}

export function asTask(answer: Message | Task): Task {
  if (!('artifacts' in answer)) throw new Error('the answer is a message');
  return answer;
}

export function stateIn(task: Task): string {
  return (TaskState[task.status?.state ?? 0] ?? '').replace('TASK_STATE_', '');
}

/** `task:SUBMITTED`, `WORKING`, `WORKING(text)`, `artifact:id`, `message`. */
export function wordOf({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case 'task':
      return `task:${stateIn(payload.value)}`;
    case 'statusUpdate': {
      const content = payload.value.status?.message?.parts[0]?.content;
      const state = (TaskState[payload.value.status?.state ?? 0] ?? '').replace('TASK_STATE_', '');
      return content?.$case === 'text' ? `${state}(${content.value})` : state;
    }
    case 'artifactUpdate':
      return `artifact:${payload.value.artifact?.artifactId ?? ''}`;
    case 'message':
      return 'message';
    case undefined:
      return 'nothing';
  }
}

export async function words(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<string[]> {
  const out: string[] = [];
  for await (const item of stream) out.push(wordOf(item));
  return out;
}

/** The text of the status message. */
export function saidBy(task: Task): string | undefined {
  const content = task.status?.message?.parts[0]?.content;
  return content?.$case === 'text' ? content.value : undefined;
}
