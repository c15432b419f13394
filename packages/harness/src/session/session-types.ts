import type { SessionBranchIntent, SessionRunIntent } from '../enums.js';
import type { JsonObject } from '../json.js';
import type { Message, SummaryEntry } from '../messages.js';
import type { AgentRunResult } from '../result.js';

export const SESSION_SCHEMA_VERSION = 1;
export const SESSION_JOURNAL_SCHEMA_VERSION = 1;
export const DEFAULT_SESSION_BRANCH = 'main';

export const SESSION_RECORD_KINDS = [
  'checkpoint',
  'branch_created',
  'run_started',
  'run_continued',
  'message_appended',
  'messages_appended',
  'steering_applied',
  'compaction_applied',
  'run_finished',
] as const;
export type SessionRecordKind = (typeof SESSION_RECORD_KINDS)[number];

/** One line of a journal. Ids are 32 hexadecimal digits. */
export interface SessionRecord {
  readonly recordId: string;
  /** The branch's head before it; null for the first. */
  readonly parentId: string | null;
  readonly branchId: string;
  /** From 1, without gaps, over all branches. */
  readonly revision: number;
  readonly sessionId: string;
  /** Null only where a session was imported that no agent has used yet. */
  readonly agentId: string | null;
  /** Sequence of the event that it belongs to; 0 where there is none. */
  readonly sequence: number;
  readonly type: SessionRecordKind;
  readonly data: JsonObject;
}

export interface SessionRun {
  readonly runId: string;
  readonly intent: SessionRunIntent;
  /** Null for a run that continues. */
  readonly task: string | null;
  readonly startSequence: number;
  readonly finishSequence: number | null;
  readonly finished: boolean;
  readonly result: AgentRunResult | null;
}

export interface SessionCompaction {
  readonly operationId: string;
  readonly summary: SummaryEntry;
}

/** A record before the journal gave it its place. */
export interface SessionRecordDraft {
  readonly type: Exclude<SessionRecordKind, 'branch_created'>;
  /** From 0. */
  readonly sequence: number;
  readonly data: JsonObject;
}

/** What the records of one branch add up to. */
export interface Session {
  readonly sessionId: string;
  /** Null for an imported session that no agent has used yet. */
  readonly agentId: string | null;
  readonly branchId: string;
  /** Without the agent's own system prompt. */
  readonly messages: readonly Message[];
  readonly runs: readonly SessionRun[];
  readonly compactions: readonly SessionCompaction[];
  readonly revision: number;
  readonly headId: string | null;
}

export interface SessionBranch {
  readonly branchId: string;
  readonly intent: SessionBranchIntent | null;
  readonly createdRevision: number;
  readonly headId: string | null;
  readonly baseRecordId: string | null;
  readonly sourceBranchId: string | null;
}

/** A message with the run that brought it; compaction removes none of them. */
export interface SessionEntry {
  readonly runId: string;
  readonly sequence: number;
  readonly message: Message;
}

/** A compaction with the history that it left. */
export interface AppliedCompaction extends SessionCompaction {
  readonly sequence: number;
  readonly messages: readonly Message[];
  /** How many entries came before it. */
  readonly coveredEntryCount: number;
}

/** A session as storage gives it back: with everything that was ever said in it. */
export interface StoredSession extends Session {
  readonly entries: readonly SessionEntry[];
  readonly compactions: readonly AppliedCompaction[];
}

/** One point of a journal. */
export interface SessionCheckout {
  readonly session: StoredSession;
  readonly branch: SessionBranch;
  readonly head: SessionRecord;
}

/** A branch on which a run can be tried again; nothing has been run yet. */
export interface SessionRetry {
  readonly checkout: SessionCheckout;
  /** What the run was asked to do. */
  readonly task: string;
  readonly retriedRunId: string;
}
