import { setImmediate } from 'node:timers/promises';
import { TaskState, type Message, type StreamResponse, type Task, type TaskStatusUpdateEvent } from '@a2a-js/sdk';
import type { AgentExecutionEvent, AgentExecutor, ServerCallContext } from '@a2a-js/sdk/server';
import { context as otel, type Context } from '@opentelemetry/api';
import { AppError, within, type Logger } from '@parley/service-kit';
import { AGREEMENT_EXTENSION } from '../agreement/agreement-extension.js';
import { quiet } from './quiet.js';
import { statusEvent, withStatus } from './task-changes.js';
import type { TaskWriter } from './task-writer.js';
import { TurnBus } from './turn-bus.js';
import { TurnContext, type TurnContextInit } from './turn-context.js';
import {
  belongingTo,
  endsTurn,
  itemOf,
  mergeEvent,
  openingTask,
  stateAfter,
  updatesOf,
  type TaskEvent,
} from './turn-events.js';
import { failureBeforeTask, failureText, isTaskEnded } from './turn-failures.js';

const { TASK_STATE_FAILED: FAILED, TASK_STATE_CANCELED: CANCELED, TASK_STATE_AUTH_REQUIRED: AUTH_REQUIRED } = TaskState;

/** More events than this, unread because the store is slow, fail the task. */
const MAX_PENDING_EVENTS = 10_000;

/** Why a turn is ended from outside; what its executor says of its end does not count any more. */
export interface Ending {
  readonly state: TaskState;
  readonly text: string;
  /** What the executor's signal is aborted with. */
  readonly reason: AppError;
}

export interface TurnOptions {
  readonly init: TurnContextInit;
  readonly executor: AgentExecutor;
  readonly writer: TaskWriter;
  readonly deadlineMs: number;
  readonly trace: Context;
  readonly now: () => number;
  readonly newId: () => string;
  readonly logger: Logger;
  /**
   * Called in order, with the task as it is after the event; undefined for an answer without a task. `updates` say the
   * same to those who know the task already.
   */
  readonly onEvent: (item: StreamResponse, task: Task | undefined, updates: () => StreamResponse[]) => void;
  /** The turn is over and everybody knows: streams may close. Not called for a call that failed without a task. */
  readonly onOver: () => void;
  /** The turn is over and its executor has returned: another may begin. Called once. */
  readonly onSettled: () => void;
  readonly onDeadline: () => Ending;
  /** The task as the store has it. */
  readonly load: () => Promise<Task | undefined>;
  /** The end was told and is not stored: somebody has to try again. */
  readonly onUnstored: (task: Task) => void;
}

/**
 * One executor at work for one message.
 *
 * Events wait in line: what creates the task, and what ends the turn, is stored before anybody sees it; the rest is
 * seen at once and stored soon. `task` is always what readers have been told, so that a snapshot and the events after
 * it fit without a gap.
 */
export class TaskTurn {
  readonly taskId: string;
  readonly contextId: string;
  /** The first thing that there is to answer. */
  readonly first: Promise<Message | Task>;
  /** The answer: a message, or the task when it has ended or waits for its client. */
  readonly answer: Promise<Message | Task>;
  /** Everybody has been told of the end, though the executor may not have returned. */
  readonly over: Promise<void>;
  /** The executor has returned, too: another turn may begin. */
  readonly settled: Promise<void>;
  readonly #options: TurnOptions;
  readonly #controller = new AbortController();
  readonly #first = Promise.withResolvers<Message | Task>();
  readonly #answer = Promise.withResolvers<Message | Task>();
  readonly #over = Promise.withResolvers<undefined>();
  readonly #hasReturned = Promise.withResolvers<undefined>();
  readonly #settled = Promise.withResolvers<undefined>();
  readonly #bus: TurnBus;
  readonly #pending: AgentExecutionEvent[] = [];
  #task: Task | undefined;
  #hasBegun = false;
  #isOver = false;
  #ending: Ending | undefined;
  #isTold = false;
  #isReturned = false;
  #isPumping = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.taskId = options.init.taskId;
    this.contextId = options.init.contextId;
    this.first = quiet(this.#first.promise);
    this.answer = quiet(this.#answer.promise);
    this.over = this.#over.promise.then(() => undefined);
    this.settled = this.#settled.promise.then(() => undefined);
    this.#bus = new TurnBus((event) => {
      this.#accept(event);
    });
  }

  /** As readers know it; undefined until the first event. */
  get task(): Task | undefined {
    return this.#task;
  }

  /** The last event has been published, though readers may not have seen it yet. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** In whose name the task is stored. */
  get call(): ServerCallContext {
    return this.#options.init.call;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  start(): void {
    if (this.#ending !== undefined) {
      // The agent stopped between the opening and now.
      this.#isReturned = true;
      this.#settleIfDone();
      return;
    }
    this.#deadline = setTimeout(() => {
      void this.endBy(this.#options.onDeadline(), 0);
    }, this.#options.deadlineMs);
    void this.#run();
  }

  /** Has the executor stop, waits for it up to `graceMs`, then ends the turn whatever it does. */
  async endBy(ending: Ending, graceMs: number): Promise<void> {
    if (this.#isOver || this.#ending !== undefined) {
      await this.over;
      return;
    }
    this.#ending = ending;
    this.#controller.abort(ending.reason);
    this.#tellExecutor();
    if (graceMs > 0) await within(graceMs, this.over);
    this.#finishWith(ending.state, ending.text);
    await this.over;
  }

  #tellExecutor(): void {
    const warn = (error: unknown): void => {
      this.#options.logger.warn('an executor could not be told to stop', { task_id: this.taskId, error });
    };
    try {
      // Not awaited: an executor that hangs here must not keep the turn from ending.
      this.#options.executor.cancelTask(this.taskId, this.#bus).catch(warn);
    } catch (error) {
      warn(error);
    }
  }

  /** Somebody else ended the task, at another replica for one: what is stored is how it ended. */
  async endedElsewhere(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending.length = 0;
    await this.#adoptStored();
  }

  /** Resolves when the store has what readers have been told. */
  async flush(): Promise<void> {
    if (this.#task !== undefined) await this.#options.writer.flush();
  }

  async #run(): Promise<void> {
    const { init, executor, trace } = this.#options;
    try {
      await otel.with(trace, async () => {
        await executor.execute(new TurnContext(init, this.#controller.signal), this.#bus);
      });
      this.#returned();
    } catch (error) {
      this.#threw(error);
    }
    this.#hasReturned.resolve(undefined);
    this.#isReturned = true;
    this.#settleIfDone();
  }

  /** At once, so that whoever has been told of the end finds the place free. */
  #settleIfDone(): void {
    if (!this.#isTold || !this.#isReturned) return;
    this.#options.onSettled();
    this.#settled.resolve(undefined);
  }

  #returned(): void {
    if (this.#isOver) return;
    if (!this.#hasBegun && this.#ending === undefined) {
      void this.#refuse(failureBeforeTask(undefined));
      return;
    }
    this.#finishWith(FAILED, 'The agent ended its work without a result.');
  }

  #threw(error: unknown): void {
    if (this.#isOver) return;
    const refusal = this.#hasBegun || this.#ending !== undefined ? undefined : failureBeforeTask(error);
    if (refusal !== undefined) {
      void this.#refuse(refusal);
      return;
    }
    if (this.#ending === undefined) {
      this.#options.logger.error('an executor failed', { task_id: this.taskId, error });
    }
    this.#finishWith(FAILED, failureText(error));
  }

  #finishWith(state: TaskState, text: string): void {
    this.#accept({ kind: 'statusUpdate', data: this.#status(state, text) });
  }

  #accept(told: AgentExecutionEvent): void {
    if (this.#isOver) return;
    if (!this.#hasBegun && told.kind !== 'task' && told.kind !== 'message') this.#begin();
    if (this.#hasBegun && told.kind === 'message') {
      this.#options.logger.warn('an executor answered with a message within a task', { task_id: this.taskId });
      return;
    }
    this.#hasBegun = true;
    if (this.#pending.length >= MAX_PENDING_EVENTS && !endsTurn(told)) {
      void this.endBy(tooManyEvents(), 0);
      return;
    }
    const event = this.#overruled(belongingTo(this, told));
    this.#isOver = endsTurn(event);
    this.#pending.push(event);
    if (!this.#isPumping) void this.#pump();
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#pending.push({ kind: 'task', data: openingTask(this.#options.init, this.#options.now()) });
  }

  /** Whoever ended the turn says how; the answer tells what the agreement allows from now on. */
  #overruled(event: AgentExecutionEvent): AgentExecutionEvent {
    if (!endsTurn(event)) return event;
    const told = this.#ending === undefined ? event : this.#endedBy(this.#ending, event);
    const { admitted } = this.#options.init;
    if (admitted === undefined) return told;
    const metadata = { ...told.data.metadata, [AGREEMENT_EXTENSION]: admitted.answerMetadata };
    return { ...told, data: { ...told.data, metadata } } as AgentExecutionEvent;
  }

  #endedBy({ state, text }: Ending, event: AgentExecutionEvent): AgentExecutionEvent {
    if (state === CANCELED && stateAfter(event) === CANCELED) return event;
    const data = this.#status(state, text);
    return event.kind === 'task'
      ? { kind: 'task', data: { ...event.data, status: data.status } }
      : { kind: 'statusUpdate', data };
  }

  #status(state: TaskState, text: string): TaskStatusUpdateEvent {
    return statusEvent(this, state, { text, at: this.#options.now(), messageId: this.#options.newId() });
  }

  /** Runs within `publish` until something has to be stored first. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    try {
      for (let event = this.#pending.shift(); event !== undefined; event = this.#pending.shift()) {
        if (event.kind === 'message') await this.#deliverMessage(event.data);
        else if (this.#task === undefined || endsTurn(event)) await this.#deliverStored(event);
        else this.#deliver(event, mergeEvent(this.#task, event));
      }
    } catch (error) {
      this.#options.logger.error('events of a task could not be told', { task_id: this.taskId, error });
      await this.#refuse(error);
    } finally {
      this.#isPumping = false;
    }
  }

  async #deliverMessage(message: Message): Promise<void> {
    await this.#makeRoom();
    const item: StreamResponse = { payload: { $case: 'message', value: message } };
    this.#options.onEvent(item, undefined, () => [item]);
    this.#first.resolve(message);
    this.#answer.resolve(message);
    this.#options.onOver();
    this.#end();
  }

  async #deliverStored(event: TaskEvent): Promise<void> {
    const { init, writer } = this.#options;
    const before = this.#task ?? init.task ?? openingTask(init, this.#options.now());
    const next = mergeEvent(before, event);
    try {
      await writer.write(next);
    } catch (error) {
      await this.#notStored(before, error);
      return;
    }
    if (endsTurn(event)) await this.#makeRoom();
    this.#deliver(event, next);
  }

  /** Before anybody is told of the end, so that the next call finds the places free. */
  async #makeRoom(): Promise<void> {
    await this.#options.init.admitted?.release();
    // The end is the last that most executors publish; one that goes on is not waited for.
    if (!this.#isReturned) await Promise.race([this.#hasReturned.promise, setImmediate()]);
  }

  #deliver(event: TaskEvent, task: Task): void {
    const before = this.#task ?? this.#options.init.task;
    const isFirst = this.#task === undefined;
    this.#task = task;
    if (!isFirst && !endsTurn(event)) this.#options.writer.writeLater(task);
    this.#options.onEvent(itemOf(event, task), task, () => updatesOf(event, task, before));
    if (isFirst) this.#first.resolve(task);
    if (stateAfter(event) === AUTH_REQUIRED) this.#answer.resolve(task);
    if (endsTurn(event)) {
      this.#answer.resolve(task);
      this.#options.onOver();
      this.#end();
    }
  }

  /** What is not stored has not happened: no result is told that is gone after a restart. */
  async #notStored(before: Task, error: unknown): Promise<void> {
    this.#isOver = true;
    this.#pending.length = 0;
    if (isTaskEnded(error)) {
      await this.#adoptStored();
      return;
    }
    this.#options.logger.error('a task could not be stored', { task_id: this.taskId, error });
    this.#controller.abort(new AppError('unavailable', 'The task could not be stored.'));
    if (this.#task === undefined) await this.#refuse(error);
    else {
      this.#tellEnd(before, this.#status(FAILED, 'The result of the task could not be stored.'));
      this.#options.onUnstored(this.#task);
    }
    await this.#options.init.admitted?.release();
  }

  async #adoptStored(): Promise<void> {
    this.#controller.abort(new AppError('cancelled', 'The task was ended elsewhere.'));
    this.#tellExecutor();
    const stored = await this.#options.load().catch(() => undefined);
    const status = stored?.status ?? this.#status(FAILED, 'The task was ended elsewhere.').status;
    const { taskId, contextId } = this;
    const before = stored ?? this.#task ?? openingTask(this.#options.init, this.#options.now());
    this.#tellEnd(before, { taskId, contextId, status, metadata: undefined });
  }

  #tellEnd(before: Task, data: TaskStatusUpdateEvent): void {
    const task = withStatus(before, data);
    // A stream begins with the task.
    this.#deliver(this.#task === undefined ? { kind: 'task', data: task } : { kind: 'statusUpdate', data }, task);
  }

  /** Nothing was begun: the call fails, and there is no task. */
  async #refuse(error: unknown): Promise<void> {
    this.#isOver = true;
    await this.#options.init.admitted?.release();
    this.#first.reject(error);
    this.#answer.reject(error);
    this.#end();
  }

  #end(): void {
    clearTimeout(this.#deadline);
    void this.#options.init.admitted?.release();
    this.#isTold = true;
    this.#over.resolve(undefined);
    this.#settleIfDone();
  }
}

function tooManyEvents(): Ending {
  const text = 'The agent told more than could be stored.';
  return { state: FAILED, text, reason: new AppError('unavailable', text) };
}
