import { createHash } from 'node:crypto';
import { TaskState, type TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import { AppError, silentLogger, type Logger } from '@parley/service-kit';
import type { TaskArtifact, TaskExecutor, TaskOutcome, TaskReporter, TaskRequest } from '../task-executor.js';
import { ContextLines } from './context-lines.js';
import { statusEvent, type StatusWords } from './task-changes.js';
import { toPart } from './task-parts.js';
import { TurnContext } from './turn-context.js';
import { openingTask } from './turn-events.js';
import { failureText } from './turn-failures.js';
import { readWorkOrder, type WorkOrder } from './work-order.js';

export interface TaskExecutorAdapterOptions {
  readonly logger?: Logger;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
  /** Default: random UUIDs. */
  readonly newId?: () => string;
  /** Tasks of one context that may wait for each other. Default 16. */
  readonly maxWaitingPerContext?: number;
}

const STATES: Readonly<Record<TaskOutcome['state'], TaskState>> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  input_required: TaskState.TASK_STATE_INPUT_REQUIRED,
  rejected: TaskState.TASK_STATE_REJECTED,
  failed: TaskState.TASK_STATE_FAILED,
};

/** Has a TaskExecutor do what an engine is asked for: tasks of one context one after the other. */
export function taskExecutorAdapter(executor: TaskExecutor, options: TaskExecutorAdapterOptions = {}): AgentExecutor {
  return new TaskExecutorAdapter(executor, options);
}

class TaskExecutorAdapter implements AgentExecutor {
  readonly #executor: TaskExecutor;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #lines: ContextLines;
  /** Of calls that bring no signal of their own. */
  readonly #controllers = new Map<string, AbortController>();

  constructor(executor: TaskExecutor, options: TaskExecutorAdapterOptions) {
    this.#executor = executor;
    this.#logger = options.logger ?? silentLogger;
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? ((): string => crypto.randomUUID());
    this.#lines = new ContextLines(options.maxWaitingPerContext ?? 16);
  }

  // Arrow functions: the engine of the library takes them off the object.
  execute = async (context: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const admitted = context instanceof TurnContext ? context.admitted : undefined;
    const order = readWorkOrder(context.userMessage, context.context, admitted);
    const contextId = contextOf(context);
    this.#lines.checkRoom(contextId);
    const signal = this.#signalOf(context);
    const turn = new AdaptedTurn(context, bus, this.#now, this.#newId);
    turn.open();
    try {
      const outcome = await this.#lines.run(contextId, signal, async () => {
        turn.working();
        return await this.#executor.execute(requestOf(context, contextId, order, signal), turn.reporter);
      });
      turn.end(STATES[outcome.state], { text: outcome.text, metadata: outcome.metadata });
    } catch (error) {
      this.#fail(turn, error, signal);
    } finally {
      this.#controllers.delete(context.taskId);
      bus.finished();
    }
  };

  cancelTask = (taskId: string): Promise<void> => {
    this.#controllers.get(taskId)?.abort(new AppError('cancelled', 'The task was cancelled.'));
    return Promise.resolve();
  };

  #signalOf(context: RequestContext): AbortSignal {
    if (context instanceof TurnContext) return context.signal;
    const controller = new AbortController();
    this.#controllers.set(context.taskId, controller);
    return controller.signal;
  }

  #fail(turn: AdaptedTurn, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      turn.end(TaskState.TASK_STATE_CANCELED, { text: 'The task was cancelled.' });
      return;
    }
    if (error instanceof AppError) this.#logger.warn('a task failed', { task_id: turn.taskId, error });
    else this.#logger.error('a task failed', { task_id: turn.taskId, error });
    turn.end(TaskState.TASK_STATE_FAILED, { text: failureText(error) });
  }
}

/** Contexts of different callers never meet, whatever they call them. */
function contextOf({ contextId, context }: RequestContext): string {
  const { tenant = '', user } = context;
  if (tenant === '' && user?.isAuthenticated !== true) return contextId;
  return createHash('sha256')
    .update(JSON.stringify([tenant, user?.userName ?? '', contextId]))
    .digest('base64url');
}

function requestOf(context: RequestContext, contextId: string, order: WorkOrder, signal: AbortSignal): TaskRequest {
  const { taskId, task, userMessage } = context;
  const agreement = context instanceof TurnContext ? context.admitted?.agreement : undefined;
  const { messageId } = userMessage;
  return { taskId, contextId, messageId, ...order, agreement, isFollowUp: task !== undefined, signal };
}

/** One message on its way to its end. */
class AdaptedTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly reporter: TaskReporter;
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #now: () => number;
  readonly #newId: () => string;
  #isOver = false;

  constructor(context: RequestContext, bus: ExecutionEventBus, now: () => number, newId: () => string) {
    this.taskId = context.taskId;
    this.contextId = context.contextId;
    this.#context = context;
    this.#bus = bus;
    this.#now = now;
    this.#newId = newId;
    this.reporter = {
      working: (text) => {
        this.working(text);
      },
      artifact: (artifact) => {
        this.#artifact(artifact);
      },
    };
  }

  open(): void {
    this.#bus.publish(AgentEvent.task(openingTask(this.#context, this.#now())));
  }

  working(text?: string): void {
    if (!this.#isOver) this.#publish(TaskState.TASK_STATE_WORKING, { text });
  }

  end(state: TaskState, words: Pick<StatusWords, 'text' | 'metadata'>): void {
    this.#isOver = true;
    this.#publish(state, words);
  }

  #artifact({ artifactId, name, description, parts, append, lastChunk }: TaskArtifact): void {
    if (this.#isOver) return;
    const { taskId, contextId } = this;
    const artifact = {
      artifactId,
      name,
      description: description ?? '',
      parts: parts.map(toPart),
      metadata: undefined,
      extensions: [],
    };
    const flags = { append: append ?? false, lastChunk: lastChunk ?? true };
    this.#bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...flags, metadata: undefined }));
  }

  #publish(state: TaskState, words: Pick<StatusWords, 'text' | 'metadata'>): void {
    const event: TaskStatusUpdateEvent = statusEvent(this, state, {
      ...words,
      at: this.#now(),
      messageId: this.#newId(),
    });
    this.#bus.publish(AgentEvent.statusUpdate(event));
  }
}
