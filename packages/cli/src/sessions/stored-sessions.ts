import {
  type AgentApi,
  DEFAULT_SESSION_BRANCH,
  messageOf,
  openSession,
  type Session,
  SessionLockTimeoutError,
  type SessionJournal,
  type SessionStorage,
} from '@parley/harness';
import { UsageError } from '../usage-error.js';
import { formatRef, newSessionId, parseRef, type SessionRef } from './session-ref.js';
import type { OpenSession, Sessions, SessionSummary } from './sessions.js';

/** All sessions of this program are one agent's: each can be gone on with by every later start. */
export const AGENT_ID = 'parley';

export interface StoredSessionsOptions {
  readonly storage: SessionStorage;
  readonly makeAgent: (journal: SessionJournal) => AgentApi;
  readonly now: () => number;
  /** At least four hexadecimal digits. */
  readonly randomHex: () => string;
}

/** A run of another process is not waited for: whoever asked would not know why nothing happens. */
const LOCK_WAIT_MS = 500;

/** Sessions in a storage of the harness. */
export class StoredSessions implements Sessions {
  readonly #options: StoredSessionsOptions;

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  async create(id?: string): Promise<OpenSession> {
    const { now, randomHex } = this.#options;
    const sessionId = id ?? newSessionId(now(), randomHex());
    return this.#open({ sessionId, branchId: DEFAULT_SESSION_BRANCH });
  }

  async open(ref: string): Promise<OpenSession> {
    return this.#open(await this.#find(ref));
  }

  async fork(ref: string): Promise<OpenSession> {
    const { storage } = this.#options;
    const { sessionId, branchId } = await this.#find(ref);
    const branches = new Set((await storage.listBranches(sessionId)).map((branch) => branch.branchId));
    let number = branches.size;
    while (branches.has(`fork-${number}`)) number += 1;
    const target = { sessionId, branchId: `fork-${number}` };
    await this.#translating(sessionId, async () => {
      // Nothing can begin inside a run: one whose process ended is closed first.
      await storage.abandon(sessionId, { branchId, waitMs: LOCK_WAIT_MS });
      await storage.fork(sessionId, { branchId: target.branchId, sourceBranchId: branchId });
    });
    return this.#open(target);
  }

  async list(limit = 100): Promise<SessionSummary[]> {
    const listed = await this.#options.storage.listSessions();
    const own = listed.filter(({ agentId }) => agentId === AGENT_ID).slice(0, limit);
    const summaries: SessionSummary[] = [];
    for (const { sessionId, modifiedMs } of own) summaries.push(...(await this.#summarize(sessionId, modifiedMs)));
    return summaries;
  }

  async #open(ref: SessionRef): Promise<OpenSession> {
    const { storage, makeAgent } = this.#options;
    const before = await this.#load(ref);
    const { journal, session } = await this.#translating(ref.sessionId, () =>
      openSession({ storage, agentId: AGENT_ID, ...ref, onUnfinished: 'abandon', runLockWaitMs: LOCK_WAIT_MS }),
    );
    const agent = makeAgent(journal);
    if (session !== null) agent.restore(session);
    const wasCutOff = before?.runs.some((run) => !run.finished) === true;
    const notices = wasCutOff ? ['the last run was cut off: what its unfinished tools did is unknown'] : [];
    return { ref: formatRef(ref), agent, notices };
  }

  /** Takes the beginning of an id for it, if only one session begins like this. */
  async #find(wanted: string): Promise<SessionRef> {
    const { storage } = this.#options;
    const { sessionId: start, branchId } = parseRef(wanted);
    const ids = (await storage.listSessions())
      .filter(({ agentId }) => agentId === AGENT_ID)
      .map(({ sessionId }) => sessionId);
    const fitting = ids.includes(start) ? [start] : ids.filter((id) => start !== '' && id.startsWith(start));
    const [sessionId] = fitting;
    if (sessionId === undefined) throw new UsageError(`there is no session ${wanted} (--sessions lists them)`);
    if (fitting.length > 1)
      throw new UsageError(`${fitting.length} sessions begin with ${start}: ${fitting.join(', ')}`);
    const branches = await storage.listBranches(sessionId);
    if (branches.some((branch) => branch.branchId === branchId)) return { sessionId, branchId };
    throw new UsageError(`session ${sessionId} has no branch ${branchId}`);
  }

  /** A row for each branch, the one that was written last first. One that cannot be read says so. */
  async #summarize(sessionId: string, updatedAt: number): Promise<SessionSummary[]> {
    const { storage } = this.#options;
    try {
      const branches = await storage.listBranches(sessionId);
      const loaded = await Promise.all(
        branches.map(async ({ branchId }) => {
          const checkout = await storage.checkout(sessionId, { branchId });
          return { branchId, session: checkout?.session, revision: checkout?.head.revision ?? 0 };
        }),
      );
      return loaded
        .sort((one, other) => other.revision - one.revision)
        .map(({ branchId, session }) => ({
          ref: formatRef({ sessionId, branchId }),
          title: session === undefined ? '' : titleOf(session),
          updatedAt,
          messageCount: session?.messages.length ?? 0,
        }));
    } catch (error) {
      return [{ ref: sessionId, title: `cannot be read: ${messageOf(error)}`, updatedAt, messageCount: 0 }];
    }
  }

  async #load({ sessionId, branchId }: SessionRef): Promise<Session | null> {
    return this.#translating(sessionId, () => this.#options.storage.load(sessionId, { branchId }));
  }

  async #translating<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SessionLockTimeoutError) {
        throw new UsageError(`session ${sessionId} is in use by another process`, { cause: error });
      }
      throw new UsageError(`session ${sessionId}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function titleOf(session: Session): string {
  return session.runs.find(({ task }) => task !== null)?.task ?? '';
}
