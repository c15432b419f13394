import type { CompactionResult } from '../context/compaction-types.js';
import type { ControlReceipt } from '../control.js';
import { CONTINUABLE_STOP_REASONS, type AgentStatus, type ContinueRejectedReason } from '../enums.js';
import { HarnessError } from '../errors.js';
import type { AgentEvent } from '../events.js';
import { EventHub } from '../events/event-hub.js';
import type { Message } from '../messages.js';
import type { ModelAdapter } from '../model/model-adapter.js';
import { emptyRunUsage } from '../model/usage-accounting.js';
import type { AgentRunResult } from '../result.js';
import { AgentCancelledError, Cancellation } from '../run/cancellation.js';
import { compactHistory } from '../run/compact-history.js';
import { FollowUpQueue } from '../run/follow-up-queue.js';
import { History } from '../run/history.js';
import { performRun } from '../run/perform-run.js';
import { type FollowUpRun, RunChain } from '../run/run-chain.js';
import { failedWith, resultOf } from '../run/run-ending.js';
import { AgentActiveError, ContinueRejectedError } from '../run/run-errors.js';
import { RunLedger } from '../run/run-ledger.js';
import { checkedBudget, count } from '../run/run-policy.js';
import { Run, type RunServices } from '../run/run.js';
import { controlText, SteeringQueue } from '../run/steering-queue.js';
import { SessionError } from '../session/session-errors.js';
import type { Session } from '../session/session-types.js';
import type { AgentApi, FollowUpHandle } from './agent-api.js';
import type { AgentOptions, RunOptions } from './agent-options.js';
import { composeAgent } from './compose-agent.js';
import type { Resources } from './resources.js';

const DEFAULT_QUEUE_CAPACITY = 16;
const SHUTDOWN_REASON = 'the agent is shutting down';

/** What goes on at the moment; only a run can be steered. */
interface Operation {
  readonly cancellation: Cancellation;
  readonly steering: SteeringQueue | null;
}

/**
 * A model with a history, tools and everything around them. Runs come one after the other; see {@link AgentApi} for
 * what can be done with it meanwhile.
 *
 * @example
 * const agent = new Agent(model, { systemPrompt: 'You are brief.', handlers: [files] });
 * const result = await agent.run('What is in README.md?');
 * await agent.shutdown();
 */
export class Agent implements AgentApi {
  readonly agentId: string;
  readonly #options: AgentOptions;
  readonly #services: RunServices;
  readonly #resources: Resources;
  readonly #events: EventHub;
  readonly #history = new History();
  readonly #chain = new RunChain();
  readonly #followUps: FollowUpQueue;
  readonly #steeringCapacity: number;
  #operation: Operation | null = null;
  /** Follow-ups are taken as long as a run goes on in front of them. */
  #takesFollowUps = false;
  #lastResult: AgentRunResult | null = null;
  #shutdown: Promise<void> | null = null;

  /** @throws RangeError for an option that is out of range. */
  constructor(model: ModelAdapter, options: AgentOptions = {}) {
    const { services, resources } = composeAgent(model, options);
    const { agentId, logger, newId } = services;
    this.agentId = agentId;
    this.#options = options;
    this.#services = services;
    this.#resources = resources;
    this.#events = new EventHub({ agentId, sinks: options.sinks ?? [], logger });
    this.#steeringCapacity = count('steeringQueueCapacity', options.steeringQueueCapacity, DEFAULT_QUEUE_CAPACITY);
    const followUps = count('followUpQueueCapacity', options.followUpQueueCapacity, DEFAULT_QUEUE_CAPACITY);
    this.#followUps = new FollowUpQueue(followUps, newId);
  }

  get status(): AgentStatus {
    if (this.#chain.isBusy) return 'running';
    return this.#lastResult?.status ?? 'idle';
  }

  get messages(): readonly Message[] {
    return this.#history.snapshot();
  }

  get lastResult(): AgentRunResult | null {
    return this.#lastResult;
  }

  get canContinue(): boolean {
    return this.continueRejectionReason === null;
  }

  get continueRejectionReason(): ContinueRejectedReason | null {
    if (this.#chain.isClosed) return 'agent_shutting_down';
    if (this.#chain.isBusy) return 'agent_active';
    if (this.#lastResult === null) return 'no_previous_run';
    if (!CONTINUABLE_STOP_REASONS.has(this.#lastResult.stopReason)) return 'unsupported_stop_reason';
    return this.#history.hasOpenCalls ? 'incomplete_tool_state' : null;
  }

  async start(): Promise<void> {
    if (this.#resources.isStarted && !this.#chain.isClosed) return;
    await this.#chain.run(
      () => this.#during(new Cancellation(), (signal) => this.#resources.start(signal)),
      noFollowUp,
    );
  }

  async run(task: string, options: RunOptions = {}): Promise<AgentRunResult> {
    return this.#enqueue(task, options);
  }

  async continueRun(options: Omit<RunOptions, 'skill'> = {}): Promise<AgentRunResult> {
    const reason = this.continueRejectionReason;
    if (reason !== null) throw new ContinueRejectedError(reason);
    return this.#enqueue(null, options);
  }

  steer(text: string): ControlReceipt {
    const content = controlText(text);
    const { steering = null, cancellation } = this.#operation ?? {};
    if (steering === null) return { status: 'agent_idle', kind: 'steering', inputId: null, queueSize: 0 };
    if (cancellation?.signal.aborted === true) steering.close();
    return steering.offer(content);
  }

  followUp(text: string, options: Omit<RunOptions, 'signal'> = {}): FollowUpHandle {
    const task = controlText(text);
    checkedBudget(options.budget ?? {});
    if (this.#chain.isClosed) return this.#followUps.refuse('run_closing');
    if (!this.#takesFollowUps) return this.#followUps.refuse('agent_idle');
    if (this.#operation?.cancellation.signal.aborted === true) return this.#followUps.refuse('run_closing');
    return this.#followUps.offer(task, options);
  }

  abort(reason?: string): boolean {
    return this.#operation?.cancellation.abort(reason) ?? false;
  }

  async compact(options: { readonly signal?: AbortSignal } = {}): Promise<CompactionResult> {
    const { signal } = options;
    try {
      return await this.#chain.run(() => this.#compactNow(signal), noFollowUp, signal);
    } catch (error) {
      if (!(error instanceof AgentCancelledError)) throw error;
      const operationId = this.#services.newId();
      return { operationId, trigger: 'explicit', status: 'cancelled', summary: null, error: error.message };
    }
  }

  async waitForIdle(): Promise<void> {
    await this.#chain.idle();
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  reset(messages: readonly Message[] = []): void {
    if (this.#chain.isBusy) throw new AgentActiveError();
    if (this.#options.session !== undefined) {
      // The journal would go on from messages that the agent no longer has.
      throw new SessionError('session_attached', 'the history of a recorded session is changed by its storage only');
    }
    this.#history.become(new History(messages));
    this.#lastResult = null;
  }

  restore(session: Session): void {
    if (this.#chain.isBusy) throw new AgentActiveError();
    if (session.agentId !== null && session.agentId !== this.agentId) {
      throw new SessionError('session_of_other_agent', 'the session belongs to another agent');
    }
    const journal = this.#options.session;
    if (journal !== undefined && (journal.sessionId !== session.sessionId || journal.branchId !== session.branchId)) {
      throw new SessionError('session_mismatch', 'the agent records another session or branch');
    }
    if (session.runs.some((run) => !run.finished)) {
      throw new SessionError('session_unfinished_run', 'the session has an unfinished run: abandon it first');
    }
    this.#history.become(new History(session.messages));
    this.#lastResult = session.runs.at(-1)?.result ?? null;
  }

  events(options: { readonly signal?: AbortSignal; readonly capacity?: number } = {}): AsyncIterable<AgentEvent> {
    return this.#events.subscribe(options);
  }

  /** A run behind all that came before it, with its follow-ups behind itself. */
  async #enqueue(task: string | null, options: RunOptions): Promise<AgentRunResult> {
    checkedBudget(options.budget ?? {});
    const { signal } = options;
    try {
      return await this.#chain.run(
        () => this.#runNow(task, options),
        () => this.#nextFollowUp(),
        signal,
      );
    } catch (error) {
      if (!(error instanceof AgentCancelledError)) throw error;
      // It left the line: there is a result, but nothing happened that an event could tell of.
      const ending = failedWith('external_abort', error.message);
      return resultOf(ending, { runId: this.#services.newId(), turn: 0, usage: emptyRunUsage() });
    }
  }

  #runNow(task: string | null, options: RunOptions): Promise<AgentRunResult> {
    this.#takesFollowUps = true;
    const { newId, policy } = this.#services;
    const { session } = this.#options;
    const cancellation = new Cancellation(options.signal);
    const steering = new SteeringQueue(this.#steeringCapacity, newId);
    const runId = newId();
    const events = this.#events.openRun(runId);
    const ledger = new RunLedger(this.#history, session, events);
    const budget = options.budget ?? policy.budget;
    const keepResult = (result: AgentRunResult): void => {
      this.#lastResult = result;
    };
    const parts = { runId, events, ledger, history: this.#history, steering, cancellation, budget, keepResult };
    const run = new Run(this.#services, parts);
    const startResources = (signal: AbortSignal): Promise<void> => this.#resources.start(signal);
    const assignment = { task, skill: options.skill, sessionId: session?.sessionId ?? null, startResources };
    return this.#during(cancellation, () => performRun(run, assignment), steering);
  }

  #nextFollowUp(): FollowUpRun | undefined {
    const failed = this.#lastResult?.status !== 'completed';
    if (failed && this.#options.followUpFailurePolicy !== 'continue') {
      this.#followUps.discardAll('previous_run_not_completed');
    }
    const next = this.#followUps.takeOldest();
    this.#takesFollowUps = next !== undefined;
    if (next === undefined) return undefined;
    return () =>
      this.#runNow(next.task, next.options).then(
        (result) => () => next.settled.resolve(result),
        (error: unknown) => () => next.settled.reject(error),
      );
  }

  #compactNow(callerSignal: AbortSignal | undefined): Promise<CompactionResult> {
    const { compactor, pressure, newId } = this.#services;
    if (compactor === null || pressure === null) {
      throw new HarnessError('compaction_not_configured', 'the agent has no compactor');
    }
    const events = this.#events.openRun(newId());
    const ledger = new RunLedger(this.#history, this.#options.session, events);
    const preparation = pressure.prepare(this.#history.messages, 'explicit');
    return this.#during(new Cancellation(callerSignal), (signal) =>
      compactHistory({ compactor, events, ledger, signal }, 'explicit', preparation),
    );
  }

  /** What `abort` and `shutdown` reach as long as `work` goes on. */
  async #during<T>(
    cancellation: Cancellation,
    work: (signal: AbortSignal) => Promise<T>,
    steering: SteeringQueue | null = null,
  ): Promise<T> {
    this.#operation = { cancellation, steering };
    try {
      return await work(cancellation.signal);
    } finally {
      this.#operation = null;
      cancellation.dispose();
    }
  }

  async #shutDown(): Promise<void> {
    this.#chain.close();
    this.#followUps.discardAll('agent_shutdown');
    this.#operation?.cancellation.abort(SHUTDOWN_REASON);
    await this.#chain.idle();
    await this.#resources.stop();
    this.#events.close();
  }
}

function noFollowUp(): undefined {
  return undefined;
}
