import type { A2aAnswer, A2aConnection, A2aTask, A2aTaskPage, A2aTaskState, A2aUpdate, TaskPart } from '@parley/agent';

export function text(content: string): TaskPart {
  return { kind: 'text', text: content };
}

export function message(content: string, ids: { readonly contextId?: string } = {}) {
  const { contextId = 'c1' } = ids;
  return { messageId: 'm1', role: 'agent' as const, contextId, taskId: '', parts: [text(content)], metadata: {} };
}

export function task(state: A2aTaskState, fields: Partial<A2aTask> = {}): A2aTask {
  return {
    taskId: 't1',
    contextId: 'c1',
    state,
    message: undefined,
    artifacts: [],
    history: [],
    metadata: {},
    timestamp: '2026-01-02T03:04:05.000Z',
    ...fields,
  };
}

export function status(state: A2aTaskState, said?: string): A2aUpdate {
  const told = said === undefined ? undefined : message(said);
  return { kind: 'status', taskId: 't1', contextId: 'c1', state, message: told, metadata: {} };
}

export function artifact(parts: readonly TaskPart[], fields: Partial<A2aTask['artifacts'][number]> = {}): A2aUpdate {
  const made = { artifactId: 'a1', name: '', parts, append: false, lastChunk: true, ...fields };
  return { kind: 'artifact', taskId: 't1', contextId: 'c1', artifact: made, metadata: {} };
}

export function failure(code: string, said: string, fields: object = {}): Error {
  return Object.assign(new Error(said), { name: 'AppError', code, ...fields });
}

export const card: A2aConnection['card'] = {
  name: 'echo',
  description: 'Says it again',
  version: '1.2.3',
  provider: { organization: 'Somebody', url: 'https://example.test' },
  documentationUrl: '',
  iconUrl: '',
  supportedInterfaces: [
    { url: 'http://127.0.0.1:1/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [{ uri: 'urn:example:x', description: '', required: true, params: undefined }],
  },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [
    {
      id: 'echo',
      name: 'Echo',
      description: 'Repeats',
      tags: ['text'],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  signatures: [],
};

/** An agent whose words the test says. */
export class FakeConnection implements A2aConnection {
  card = card;
  readonly binding = 'JSONRPC';
  readonly protocolVersion = '1.0';
  /** What was asked, in order. */
  readonly asked: string[] = [];
  /** Of the last send or stream. */
  sent: { readonly parts: readonly TaskPart[]; readonly options: object } | undefined;
  answer: A2aAnswer = { kind: 'task', task: task('submitted') };
  /** What `getTask` gives; the last one again and again. An Error is thrown. */
  tasks: (A2aTask | Error)[] = [];
  /** What `listTasks` gives, by the token of the page. */
  pages: Readonly<Record<string, A2aTaskPage>> = {};
  onCancel: () => A2aTask | Promise<A2aTask> = () => task('canceled');
  isClosed = false;
  readonly #told: (A2aUpdate | Error | 'end')[] = [];
  #wake = (): void => undefined;

  /** Says something on the stream; 'end' closes it, an Error breaks it. */
  tell(...updates: (A2aUpdate | Error | 'end')[]): void {
    this.#told.push(...updates);
    this.#wake();
  }

  async send(parts: readonly TaskPart[], options: object = {}): Promise<A2aAnswer> {
    this.asked.push('send');
    this.sent = { parts, options };
    return this.answer;
  }

  stream(parts: readonly TaskPart[], options: { readonly signal?: AbortSignal } = {}): AsyncIterable<A2aUpdate> {
    this.asked.push('stream');
    this.sent = { parts, options };
    return this.#read(options.signal);
  }

  subscribe(taskId: string, options: { readonly signal?: AbortSignal } = {}): AsyncIterable<A2aUpdate> {
    this.asked.push(`subscribe ${taskId}`);
    return this.#read(options.signal);
  }

  async getTask(taskId: string): Promise<A2aTask> {
    this.asked.push(`get ${taskId}`);
    const given = this.tasks.length > 1 ? this.tasks.shift() : this.tasks[0];
    if (given === undefined) throw failure('task_not_found', 'Task not found');
    if (given instanceof Error) throw given;
    return given;
  }

  async listTasks(filter: { readonly pageToken?: string } = {}): Promise<A2aTaskPage> {
    this.asked.push(`list ${JSON.stringify(filter)}`);
    return this.pages[filter.pageToken ?? ''] ?? { tasks: [], nextPageToken: undefined, totalSize: 0 };
  }

  async cancelTask(taskId: string): Promise<A2aTask> {
    this.asked.push(`cancel ${taskId}`);
    return this.onCancel();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  async *#read(signal: AbortSignal | undefined): AsyncGenerator<A2aUpdate> {
    for (;;) {
      const told = this.#told.shift();
      if (told === 'end') return;
      if (told instanceof Error) throw told;
      if (told !== undefined) {
        yield told;
        continue;
      }
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        signal?.addEventListener('abort', () => reject(failure('cancelled', 'aborted')), { once: true });
      });
    }
  }
}
