import type { JournalIndex } from './journal-index.js';
import { planAppend, type JournalPlan } from './journal-plan.js';
import type { JournalStore } from './journal-store.js';
import { drafts } from './record-drafts.js';
import { SessionError } from './session-errors.js';
import type {
  AbandonedRun,
  AbandonOptions,
  AppendOptions,
  BranchOptions,
  ForkOptions,
  RepairReport,
  RetryOptions,
  RollbackOptions,
  RunLockOptions,
  SessionListing,
  SessionRunLock,
  SessionStorage,
} from './session-storage.js';
import { planBranch, planRetry } from './session-tree.js';
import {
  DEFAULT_SESSION_BRANCH,
  type SessionBranch,
  type SessionCheckout,
  type SessionRecord,
  type SessionRecordDraft,
  type SessionRetry,
  type StoredSession,
} from './session-types.js';
import { closingDrafts, unfinishedRun, type UnfinishedRun } from './unfinished-run.js';

const DEFAULT_REASON = 'the process that executed this run ended before the run did';

/** The rules of sessions over any place where journals are kept. */
export class JournalSessionStorage implements SessionStorage {
  readonly #store: JournalStore;
  readonly #newId: () => string;

  protected constructor(store: JournalStore, newId: () => string) {
    this.#store = store;
    this.#newId = newId;
  }

  async append(
    sessionId: string,
    agentId: string | null,
    records: readonly SessionRecordDraft[],
    options: AppendOptions = {},
  ): Promise<readonly SessionRecord[]> {
    const branchId = options.branchId ?? DEFAULT_SESSION_BRANCH;
    const id = validId(sessionId);
    const plan = (index: JournalIndex) => planAppend(index, agentId, records, branchId, options.expectedHead);
    return (await this.#store.write(id, plan, options.signal)).records;
  }

  async records(sessionId: string): Promise<readonly SessionRecord[]> {
    return [...(await this.#store.read(validId(sessionId))).records];
  }

  async load(sessionId: string, options: BranchOptions = {}): Promise<StoredSession | null> {
    return (await this.checkout(sessionId, options))?.session ?? null;
  }

  async checkout(
    sessionId: string,
    options: BranchOptions & { readonly recordId?: string } = {},
  ): Promise<SessionCheckout | null> {
    const index = await this.#store.read(validId(sessionId));
    if (options.recordId !== undefined) return index.checkoutAt(options.recordId);
    return index.checkout(options.branchId ?? DEFAULT_SESSION_BRANCH);
  }

  async head(sessionId: string, options: BranchOptions = {}): Promise<SessionRecord | null> {
    const index = await this.#store.read(validId(sessionId));
    const headId = index.headId(options.branchId ?? DEFAULT_SESSION_BRANCH);
    return headId === null ? null : (index.record(headId) ?? null);
  }

  async listBranches(sessionId: string): Promise<readonly SessionBranch[]> {
    return (await this.#store.read(validId(sessionId))).branches;
  }

  async listSessions(): Promise<readonly SessionListing[]> {
    const sessions = [...(await this.#store.list())];
    return sessions.sort((left, right) => right.modifiedMs - left.modifiedMs);
  }

  fork(sessionId: string, options: ForkOptions = {}): Promise<SessionCheckout> {
    const plan = (index: JournalIndex) => planBranch(index, 'fork', options, this.#newId);
    return this.#addBranch(sessionId, plan, options.signal);
  }

  rollback(sessionId: string, options: RollbackOptions): Promise<SessionCheckout> {
    const fork: ForkOptions = { ...options, fromRecordId: options.toRecordId };
    const plan = (index: JournalIndex) => planBranch(index, 'rollback', fork, this.#newId);
    return this.#addBranch(sessionId, plan, options.signal);
  }

  async prepareRetry(sessionId: string, options: RetryOptions): Promise<SessionRetry> {
    let task = '';
    const plan = (index: JournalIndex) => {
      const retry = planRetry(index, options, this.#newId);
      task = retry.task;
      return retry.plan;
    };
    const checkout = await this.#addBranch(sessionId, plan, options.signal);
    return { checkout, task, retriedRunId: options.runId };
  }

  async abandon(sessionId: string, options: AbandonOptions = {}): Promise<AbandonedRun | null> {
    const id = validId(sessionId);
    const branchId = options.branchId ?? DEFAULT_SESSION_BRANCH;
    if ((await this.#unfinished(id, branchId)) === null) return null;
    const lock = options.lock ?? (await this.lockRun(id, options));
    try {
      // Read again under the lock: the run may have ended while it was waited for.
      const unfinished = await this.#unfinished(id, branchId);
      if (unfinished === null) return null;
      const { agentId } = unfinished.session;
      const closing = closingDrafts(unfinished, 'external_abort', options.reason ?? DEFAULT_REASON);
      const plan = (index: JournalIndex) => planAppend(index, agentId, closing, branchId, unfinished.session.headId);
      const { index } = await this.#store.write(id, plan, options.signal);
      const session = index.checkout(branchId)?.session ?? unfinished.session;
      const unknownCallIds = unfinished.unansweredCalls.map((call) => call.id);
      return { runId: unfinished.run.runId, unknownCallIds, session };
    } finally {
      if (options.lock === undefined) lock.release();
    }
  }

  repair(sessionId: string): Promise<RepairReport> {
    return this.#store.repair(validId(sessionId));
  }

  lockRun(sessionId: string, options: RunLockOptions = {}): Promise<SessionRunLock> {
    return this.#store.lockRun(validId(sessionId), options.branchId ?? DEFAULT_SESSION_BRANCH, options);
  }

  async save(session: StoredSession): Promise<SessionRecord> {
    const draft = drafts.checkpoint(session);
    const plan = (index: JournalIndex) => {
      if (index.openRunId(index.headId(DEFAULT_SESSION_BRANCH)) !== null) {
        throw new SessionError('session_run_unfinished', 'a session with an unfinished run cannot be replaced');
      }
      return planAppend(index, session.agentId, [draft], DEFAULT_SESSION_BRANCH, undefined);
    };
    const { records } = await this.#store.write(validId(session.sessionId), plan);
    const [record] = records;
    if (record === undefined) throw new SessionError('session_storage', 'the checkpoint was not stored');
    return record;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #addBranch(
    sessionId: string,
    plan: (index: JournalIndex) => JournalPlan,
    signal: AbortSignal | undefined,
  ): Promise<SessionCheckout> {
    const { records, index } = await this.#store.write(validId(sessionId), plan, signal);
    // At that very record: somebody may have added to the branch since.
    return index.checkoutAt(records[0]?.recordId ?? '');
  }

  async #unfinished(
    sessionId: string,
    branchId: string,
  ): Promise<(UnfinishedRun & { readonly session: StoredSession }) | null> {
    const session = (await this.#store.read(sessionId)).checkout(branchId)?.session;
    const unfinished = session === undefined ? null : unfinishedRun(session);
    return session === undefined || unfinished === null ? null : { ...unfinished, session };
  }
}

/** Ids are compared without the blanks around them. */
function validId(sessionId: string): string {
  const id = sessionId.trim();
  if (id === '') throw new SessionError('session_invalid_id', 'a session id must not be empty');
  return id;
}
