import type { ControlInput } from '../control.js';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../messages.js';
import type { AgentRunResult } from '../result.js';
import { drafts } from './record-drafts.js';
import { SessionConflictError, SessionError } from './session-errors.js';
import type { RunOpening, SessionJournal } from './session-journal.js';
import type { SessionRunLock, SessionStorage } from './session-storage.js';
import { DEFAULT_SESSION_BRANCH, type SessionRecordDraft, type StoredSession } from './session-types.js';
import { closingDrafts, unfinishedRun } from './unfinished-run.js';

/** What to do about a run whose process ended: nothing goes on until somebody looked, or it is closed. */
export type UnfinishedRunPolicy = 'refuse' | 'abandon';

export interface SessionRecorderOptions {
  readonly storage: SessionStorage;
  readonly sessionId: string;
  readonly agentId: string;
  /** Default `main`. */
  readonly branchId?: string;
  /** Default `refuse`. */
  readonly onUnfinished?: UnfinishedRunPolicy;
  /** How long an active run of somebody else is waited for, in milliseconds. Default 10,000. */
  readonly runLockWaitMs?: number;
}

/**
 * Records the runs of one agent on one branch. It remembers the head up to which the agent knows the history: a run
 * begins only there, so that what an agent tells its model is what the journal holds.
 */
export class SessionRecorder implements SessionJournal {
  readonly sessionId: string;
  readonly agentId: string;
  readonly branchId: string;
  readonly #storage: SessionStorage;
  readonly #onUnfinished: UnfinishedRunPolicy;
  readonly #runLockWaitMs: number;
  /** Null until the session is opened or first written: then it must be empty. */
  #head: string | null = null;
  #lock: SessionRunLock | null = null;
  /** The run that was begun here and whose end is not recorded. */
  #runId: string | null = null;
  #newestAppend: Promise<unknown> = Promise.resolve();

  constructor(options: SessionRecorderOptions) {
    this.sessionId = options.sessionId;
    this.agentId = options.agentId;
    this.branchId = options.branchId ?? DEFAULT_SESSION_BRANCH;
    this.#storage = options.storage;
    this.#onUnfinished = options.onUnfinished ?? 'refuse';
    this.#runLockWaitMs = options.runLockWaitMs ?? 10_000;
  }

  /**
   * Reads the branch and remembers its head; give the session to `Agent.restore`. A run that is active is waited for,
   * one whose process ended is abandoned or refused.
   *
   * @returns a null session if nothing was recorded yet.
   * @throws SessionConflictError for an unfinished run, SessionLockTimeoutError for an active one.
   */
  async open(options: { readonly signal?: AbortSignal } = {}): Promise<{ readonly session: StoredSession | null }> {
    if (this.#lock !== null) throw new SessionError('session_run_active', 'a run of this journal is active');
    const stored = await this.#load();
    const session = stored === null || unfinishedRun(stored) === null ? stored : await this.#settle(options.signal);
    this.#head = session?.headId ?? null;
    this.#runId = null;
    return { session };
  }

  async beginRun(run: RunOpening): Promise<void> {
    if (this.#lock !== null) throw new SessionConflictError('another run of this journal is active');
    const lock = await this.#lockRun(run.signal);
    try {
      await this.#checkHead();
      if (this.#runId !== null) await this.#closeOwnRun();
      const { runId, sequence, task } = run;
      const isTask = run.intent === 'task';
      await this.#append([
        isTask ? drafts.runStarted(runId, sequence, task ?? '') : drafts.runContinued(runId, sequence),
      ]);
      this.#runId = runId;
      this.#lock = lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  appendAssistant(runId: string, sequence: number, message: AssistantMessage): Promise<void> {
    return this.#record(runId, () => drafts.assistant(runId, sequence, message));
  }

  appendToolMessages(runId: string, sequence: number, messages: readonly ToolMessage[]): Promise<void> {
    return this.#record(runId, () => drafts.toolMessages(runId, sequence, messages));
  }

  applySteering(runId: string, sequence: number, control: ControlInput, targetTurn: number): Promise<void> {
    return this.#record(runId, () => drafts.steering(runId, sequence, control, targetTurn));
  }

  async applyCompaction(
    sequence: number,
    operationId: string,
    summary: SummaryEntry,
    messages: readonly Message[],
  ): Promise<void> {
    const draft = drafts.compaction(sequence, operationId, summary, messages);
    if (this.#lock !== null) return this.#append([draft]);
    const lock = await this.#lockRun(undefined);
    try {
      await this.#append([draft]);
    } finally {
      lock.release();
    }
  }

  async finishRun(runId: string, sequence: number, result: AgentRunResult): Promise<void> {
    await this.#record(runId, () => drafts.runFinished(runId, sequence, result));
    this.#runId = null;
    await this.release();
  }

  release(): Promise<void> {
    this.#lock?.release();
    this.#lock = null;
    return Promise.resolve();
  }

  async #record(runId: string, draft: () => SessionRecordDraft): Promise<void> {
    if (this.#lock === null || this.#runId !== runId) {
      throw new SessionError('session_no_run', 'the run is not the active one of this journal');
    }
    await this.#append([draft()]);
  }

  /** One after the other: each record's parent is the one before it. */
  #append(records: readonly SessionRecordDraft[]): Promise<void> {
    const appended = this.#newestAppend.then(async () => {
      const { sessionId, agentId, branchId } = this;
      const added = await this.#storage.append(sessionId, agentId, records, { branchId, expectedHead: this.#head });
      this.#head = added.at(-1)?.recordId ?? this.#head;
    });
    this.#newestAppend = appended.catch(() => undefined);
    return appended;
  }

  async #checkHead(): Promise<void> {
    const head = await this.#storage.head(this.sessionId, { branchId: this.branchId });
    if ((head?.recordId ?? null) === this.#head) return;
    const session = await this.#load();
    if (session !== null && unfinishedRun(session) !== null) throw unfinishedError();
    throw new SessionConflictError('the session holds a history that this agent has not read: open and restore it');
  }

  /**
   * An earlier run of this journal could not record its end. The agent knows all of it, unless calls were left without
   * a result: then the journal's word for it counts, and the agent has to take it over.
   */
  async #closeOwnRun(): Promise<void> {
    const session = await this.#load();
    const unfinished = session === null ? null : unfinishedRun(session);
    if (unfinished !== null) {
      const known = this.#head;
      await this.#append(closingDrafts(unfinished, 'persistence_failed', 'the end of this run could not be recorded'));
      if (unfinished.unansweredCalls.length > 0) {
        this.#head = known;
        throw new SessionConflictError(
          'results of tool calls were lost with the last run: open and restore the session',
        );
      }
    }
    this.#runId = null;
  }

  async #settle(signal: AbortSignal | undefined): Promise<StoredSession | null> {
    const { sessionId, branchId } = this;
    const lock = await this.#lockRun(signal);
    try {
      const session = await this.#load();
      if (session === null || unfinishedRun(session) === null) return session;
      if (this.#onUnfinished === 'refuse') throw unfinishedError();
      const abandoned = await this.#storage.abandon(sessionId, { branchId, lock, ...(signal && { signal }) });
      return abandoned?.session ?? session;
    } finally {
      lock.release();
    }
  }

  #lockRun(signal: AbortSignal | undefined): Promise<SessionRunLock> {
    const { sessionId, branchId } = this;
    const waitMs = this.#runLockWaitMs;
    return this.#storage.lockRun(sessionId, { branchId, waitMs, ...(signal && { signal }) });
  }

  async #load(): Promise<StoredSession | null> {
    const { agentId, branchId, sessionId } = this;
    const session = await this.#storage.load(sessionId, { branchId });
    if (session === null) {
      if (branchId !== DEFAULT_SESSION_BRANCH) {
        throw new SessionError('session_unknown_branch', 'the session has no such branch');
      }
      return null;
    }
    if (session.agentId !== null && session.agentId !== agentId) {
      throw new SessionConflictError('the session belongs to another agent');
    }
    return session;
  }
}

function unfinishedError(): SessionConflictError {
  return new SessionConflictError('a run of this session ended with its process: abandon it before the next one');
}
