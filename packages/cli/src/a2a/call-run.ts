import type { A2aConnection, A2aSendOptions, A2aUpdate, TaskPart } from '@parley/agent';
import type { CliIo } from '../cli-io.js';
import { OutputWriter } from '../print/output-writer.js';
import { LOST_READER_EXIT_CODE, onStopSignals } from '../stop-signals.js';
import { counted } from '../ui/numbers.js';
import type { ConnectTo } from './a2a-ports.js';
import type { CallMode, ConnectSettings, MessageSettings } from './a2a-settings.js';
import { closeSoon } from './close-soon.js';
import { describeFailure } from './describe-failure.js';
import { pollTask } from './poll-task.js';
import { showEnd } from './show-end.js';
import { isEnded } from './states.js';
import { TaskTrack } from './task-track.js';
import { UpdateView } from './update-view.js';

const FAILED_EXIT_CODE = 1;
/** Until the agent has said which task it is that is to be cancelled. */
const TASK_ID_WAIT_MS = 5_000;
const CANCEL_MS = 10_000;
/** A cancelled task may still put things in order. */
const END_WAIT_MS = 30_000;
/** Until the news of an end that is certain, or of none, has come. */
const LAST_NEWS_MS = 3_000;

export interface CallSettings {
  readonly connect: ConnectSettings;
  readonly message: Omit<MessageSettings, 'text' | 'readsInput' | 'files' | 'data'>;
  readonly mode: CallMode;
}

/** Has an agent work on a message and shows what it tells. */
export class CallRun {
  readonly #io: CliIo;
  readonly #settings: CallSettings;
  readonly #connectTo: ConnectTo;
  readonly #view: UpdateView;
  readonly #out: OutputWriter;
  readonly #track = new TaskTrack();
  readonly #abort = new AbortController();
  readonly #left = Promise.withResolvers<number>();
  #connection: A2aConnection | undefined;
  /** The message is on its way, so there may be a task. */
  #isSent = false;
  #stoppedBy: number | undefined;
  #leaveTimer: NodeJS.Timeout | undefined;

  constructor(io: CliIo, settings: CallSettings, connectTo: ConnectTo) {
    this.#io = io;
    this.#settings = settings;
    this.#connectTo = connectTo;
    this.#out = new OutputWriter(io.stdout, () => this.#stop(LOST_READER_EXIT_CODE));
    const err = new OutputWriter(io.stderr);
    this.#view = new UpdateView({ io, out: this.#out, err, isJson: settings.connect.isJson });
  }

  /** @returns the exit code. @throws whatever the agent or the way to it answers. */
  async run(parts: readonly TaskPart[]): Promise<number> {
    const { timeoutMs } = this.#settings.connect;
    const endListening = onStopSignals(this.#io.process, (code) => this.#stop(code));
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    try {
      return await Promise.race([this.#work(parts), this.#left.promise]);
    } catch (error) {
      await this.#view.end();
      if (this.#stoppedBy === undefined) throw error;
      // It was to end anyway; what the agent has left open is told.
      await this.#view.line(describeFailure(error), 'bad');
      return this.#stoppedBy;
    } finally {
      clearTimeout(timer);
      clearTimeout(this.#leaveTimer);
      endListening();
      this.#abort.abort();
      await closeSoon(this.#connection);
    }
  }

  async #work(parts: readonly TaskPart[]): Promise<number> {
    const startedAt = this.#io.now();
    this.#connection = await this.#connectTo(this.#settings.connect, this.#abort.signal);
    if (this.#stoppedBy !== undefined) return this.#stoppedBy;
    this.#isSent = true;
    if (this.#settings.mode === 'detach') return this.#detach(this.#connection, parts);
    for await (const update of this.#updates(this.#connection, parts)) await this.#see(update);
    const { url } = this.#settings.connect;
    const code = await showEnd(this.#view, this.#track, { url, tookMs: this.#io.now() - startedAt });
    return this.#exitCode(code);
  }

  #updates(connection: A2aConnection, parts: readonly TaskPart[]): AsyncIterable<A2aUpdate> {
    const isStreamed = this.#settings.mode === 'stream' && connection.card.capabilities?.streaming === true;
    return isStreamed ? connection.stream(parts, this.#sendOptions()) : this.#poll(connection, parts);
  }

  async *#poll(connection: A2aConnection, parts: readonly TaskPart[]): AsyncGenerator<A2aUpdate> {
    const answer = await connection.send(parts, { ...this.#sendOptions(), returnImmediately: true });
    if (answer.kind === 'message') {
      yield answer;
      return;
    }
    const isFollowUp = this.#settings.message.taskId !== undefined;
    yield* pollTask(connection, answer.task, { signal: this.#abort.signal, isFollowUp });
  }

  async #detach(connection: A2aConnection, parts: readonly TaskPart[]): Promise<number> {
    const answer = await connection.send(parts, { ...this.#sendOptions(), returnImmediately: true });
    this.#track.see(answer);
    if (answer.kind === 'message' || this.#settings.connect.isJson) await this.#view.show(answer);
    else await this.#view.answer([{ kind: 'text', text: answer.task.taskId }]);
    await this.#view.end();
    return this.#exitCode(0);
  }

  #sendOptions(): A2aSendOptions {
    const { capability, parameters, contextId, taskId } = this.#settings.message;
    const metadata = {
      ...(capability === undefined ? {} : { capability }),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    };
    return {
      signal: this.#abort.signal,
      ...(contextId === undefined ? {} : { contextId }),
      ...(taskId === undefined ? {} : { taskId }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
  }

  async #see(update: A2aUpdate): Promise<void> {
    const wasUnknown = this.#track.taskId === undefined;
    this.#track.see(update);
    if (wasUnknown && this.#stoppedBy !== undefined) this.#cancel();
    await this.#view.show(update);
  }

  /** What stopped the call counts for more than how the task ended. */
  #exitCode(ofTask: number): number {
    return this.#stoppedBy ?? ofTask;
  }

  #timeOut(timeoutMs: number): void {
    if (this.#stoppedBy !== undefined) return;
    this.#say(`no end within ${counted(timeoutMs / 1_000, 'second')}`);
    this.#stop(FAILED_EXIT_CODE);
  }

  /** The first time the remote task is cancelled; the second time nothing is waited for. */
  #stop(code: number): void {
    if (this.#stoppedBy !== undefined) {
      this.#left.resolve(this.#stoppedBy);
      return;
    }
    this.#stoppedBy = code;
    if (!this.#isSent) this.#left.resolve(code);
    else if (this.#track.taskId === undefined) this.#leaveAfter(TASK_ID_WAIT_MS);
    else if (this.#track.state === undefined || !isEnded(this.#track.state)) this.#cancel();
  }

  #cancel(): void {
    const { taskId } = this.#track;
    if (taskId === undefined || this.#connection === undefined) return;
    this.#say('canceling');
    this.#leaveAfter(END_WAIT_MS);
    this.#connection.cancelTask(taskId, { signal: this.#abort.signal, deadlineMs: CANCEL_MS }).then(
      (task) => {
        if (isEnded(task.state)) this.#leaveAfter(LAST_NEWS_MS);
      },
      (error: unknown) => {
        if (this.#abort.signal.aborted) return;
        this.#say(`it was not canceled: ${describeFailure(error)}`);
        this.#leaveAfter(LAST_NEWS_MS);
      },
    );
  }

  /** In place of a former wait. */
  #leaveAfter(ms: number): void {
    clearTimeout(this.#leaveTimer);
    this.#leaveTimer = setTimeout(() => {
      const { taskId } = this.#track;
      this.#say(taskId === undefined ? 'the agent named no task: it may go on' : `task ${taskId} may go on`);
      this.#left.resolve(this.#exitCode(FAILED_EXIT_CODE));
    }, ms);
  }

  #say(text: string): void {
    void this.#view.line(text, 'warn');
  }
}
