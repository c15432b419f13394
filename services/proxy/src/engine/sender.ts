import { Refusal, type TurnEnd } from '../domain/facts.js';
import { whyNotJson } from '../domain/json-values.js';
import { quote } from '../domain/python-repr.js';
import { notKept, stopping } from '../domain/refusals.js';
import { readTraceParent } from '../domain/trace-context.js';
import type { EngineCore } from './engine-core.js';
import type { ProxyEngine, SubmitMessage, TaskView } from './engine-types.js';
import type { KeptTasks } from './kept-tasks.js';
import type { TurnCloser } from './turn-closer.js';
import type { TurnOpener } from './turn-opener.js';
import type { TurnRun } from './turn-run.js';
import { viewOfTask } from './views.js';

const UNSUPPORTED: TurnEnd = {
  state: 'failed',
  errorCode: 'proxy.unsupported_part',
  errorType: 'agent_error',
  error: 'the proxy passes on text parts only',
};
const CANCELED: TurnEnd = { state: 'canceled' };

type CancelAnswer = Awaited<ReturnType<ProxyEngine['cancel']>>;

/** The side of those who send messages: each becomes a task, whose turn a driver plays. */
export class Sender {
  constructor(
    private readonly core: EngineCore,
    private readonly opener: TurnOpener,
    private readonly closer: TurnCloser,
    private readonly kept: KeptTasks,
  ) {}

  async submit(message: SubmitMessage): Promise<TaskView> {
    if (this.core.isStopping) throw stopping();
    const fault = whyNotJson(message.message);
    if (fault !== undefined) throw new Refusal(400, `the message can't be kept: it ${fault}`);
    const contextId = message.contextId ?? this.core.ids();
    const known = this.kept.taskOf(contextId, message.messageId);
    if (known !== undefined) return this.#again(known);
    const taskId = this.core.ids();
    if (message.texts !== undefined) this.core.queues.add(contextId, taskId);
    const run = this.core.addRun(taskId, contextId);
    this.kept.add(contextId, message.messageId, taskId);
    // Free as it is new: held, so that neither opening nor cancelling comes before it is written down.
    void run.gate.hold();
    try {
      const kept = this.#keepSubmitted(run, message);
      if (kept !== undefined) await kept;
    } catch (error) {
      this.core.runs.delete(taskId);
      this.core.queues.remove(contextId, taskId);
      this.kept.takeBack(contextId, message.messageId);
      run.gate.release();
      // It may have stood before others of its context.
      this.opener.openReady();
      throw error;
    }
    const view = this.#view(taskId);
    if (message.texts === undefined) return this.#endSubmitted(run);
    run.gate.release();
    this.kept.forgetSome();
    this.opener.openReady();
    return { ...view, state: 'submitted' };
  }

  task(taskId: string): TaskView | undefined {
    const turn = this.core.state.turns.get(taskId);
    return turn && viewOfTask(turn);
  }

  *tasks(): Iterable<TaskView> {
    for (const turn of this.core.state.turns.values()) yield viewOfTask(turn);
  }

  async opened(taskId: string, signal: AbortSignal): Promise<TaskView> {
    const turn = this.core.state.turns.get(taskId);
    if (turn === undefined) throw noTask(taskId);
    const run = this.core.runs.get(taskId);
    const isWaiting = turn.opened === undefined && turn.closed === undefined;
    if (isWaiting && run !== undefined && !this.core.isStopping) await run.opening.wait(undefined, signal);
    return viewOfTask(turn);
  }

  async ended(taskId: string, signal: AbortSignal): Promise<TaskView> {
    // Held on to: a task that ended may be forgotten before its sender was told.
    const turn = this.core.state.turns.get(taskId);
    if (turn === undefined) throw noTask(taskId);
    const run = this.core.runs.get(taskId);
    if (turn.closed === undefined && run !== undefined && !this.core.isStopping) {
      await run.senders.wait(undefined, signal);
    }
    return viewOfTask(turn);
  }

  async cancel(taskId: string): Promise<CancelAnswer> {
    const run = this.core.runs.get(taskId);
    if (run === undefined) return this.#over(taskId);
    const admitted = run.gate.hold();
    if (admitted !== undefined) await admitted;
    let closing: Promise<void> | undefined;
    let outcome: CancelAnswer['outcome'] = 'canceled';
    try {
      const turn = this.core.state.turns.get(taskId);
      if (turn === undefined || turn.closed !== undefined) return this.#over(taskId);
      if (turn.ending !== undefined) {
        // Whoever was first decided: a reply that was accepted is not lost.
        outcome = 'ended';
        closing = this.closer.close(run, turn.ending);
      } else if (turn.opened === undefined) {
        await this.#keepUnopened(run, CANCELED);
        this.#endedUnopened(run);
      } else {
        const kept = this.core.keeper.keep(taskId, this.#ending(taskId));
        if (kept !== undefined) await kept;
        closing = this.closer.close(run, CANCELED);
      }
    } finally {
      run.gate.release();
    }
    const turn = this.core.state.turns.get(taskId);
    await closing;
    return { outcome, ...(turn !== undefined && { view: viewOfTask(turn) }) };
  }

  /** Ends one that never opens. @throws Refusal 503 when that cannot be written down. */
  async endUnopened(run: TurnRun): Promise<void> {
    const kept = this.#keepUnopened(run, UNSUPPORTED);
    if (kept !== undefined) await kept;
    this.#endedUnopened(run);
  }

  /** Its gate is held still: nobody cancels what ends by itself. */
  async #endSubmitted(run: TurnRun): Promise<TaskView> {
    try {
      await this.endUnopened(run);
      return this.#view(run.taskId);
    } catch (error) {
      // Its sender hears that at once; the task, which is written down, ends when that can be too.
      void this.#endLater(run);
      throw error;
    } finally {
      run.gate.release();
    }
  }

  async #endLater(run: TurnRun): Promise<void> {
    const tryOnce = async (): Promise<void> => {
      await run.gate.hold();
      try {
        // Meanwhile it may have been cancelled.
        if (this.core.runs.get(run.taskId) === run) await this.endUnopened(run);
      } finally {
        run.gate.release();
      }
    };
    try {
      await this.core.keeper.untilKept(tryOnce);
    } catch {
      // Shutting down: the next life finds it without an end, and ends it.
    }
  }

  /** A message sent again: the same task, once it is written down. */
  async #again(taskId: string): Promise<TaskView> {
    const run = this.core.runs.get(taskId);
    if (run !== undefined) {
      const admitted = run.gate.hold();
      if (admitted !== undefined) await admitted;
      run.gate.release();
    }
    const view = this.task(taskId);
    // The message that it repeats could not be written down.
    if (view === undefined) throw notKept();
    return view;
  }

  #over(taskId: string): CancelAnswer {
    const view = this.task(taskId);
    return view === undefined ? { outcome: 'unknown' } : { outcome: 'ended', view };
  }

  #view(taskId: string): TaskView {
    const view = this.task(taskId);
    if (view === undefined) throw noTask(taskId);
    return view;
  }

  #keepSubmitted(
    { taskId, contextId }: TurnRun,
    { message, messageId, texts, traceparent }: SubmitMessage,
  ): Promise<void> | undefined {
    const parent = readTraceParent(traceparent);
    return this.core.keeper.keep(taskId, {
      kind: 'turn_submitted',
      taskId,
      contextId,
      at: this.core.times.now(),
      message,
      messageId,
      texts: texts ?? [],
      systemPrompt: this.core.state.systemPrompt,
      traceId: parent?.traceId ?? this.core.random(16),
      spanId: this.core.random(8),
      ...(parent !== undefined && { parentSpanId: parent.spanId }),
    });
  }

  #ending(taskId: string): { kind: 'turn_ending'; taskId: string; at: number; end: TurnEnd } {
    return { kind: 'turn_ending', taskId, at: this.core.times.now(), end: CANCELED };
  }

  #keepUnopened({ taskId }: TurnRun, end: TurnEnd): Promise<void> | undefined {
    const { keeper, times, ids } = this.core;
    return keeper.keep(taskId, {
      kind: 'turn_closed',
      taskId,
      at: times.now(),
      end,
      messageId: ids(),
      toolCallCount: 0,
    });
  }

  #endedUnopened(run: TurnRun): void {
    this.core.runs.delete(run.taskId);
    this.core.queues.remove(run.contextId, run.taskId);
    run.senders.wake();
    run.opening.wake();
    this.kept.ended(run.taskId);
    this.opener.openReady();
  }
}

function noTask(taskId: string): Refusal {
  return new Refusal(404, `no task ${quote(taskId)}`);
}
