import type { JsonObject } from '../json.js';
import type { JournalIndex } from './journal-index.js';
import { SessionConflictError, SessionError } from './session-errors.js';
import {
  DEFAULT_SESSION_BRANCH,
  type SessionRecord,
  type SessionRecordDraft,
  type SessionRecordKind,
} from './session-types.js';

/** Records to be added after a record of a branch, before they have ids. */
export interface JournalPlan {
  readonly agentId: string | null;
  readonly branchId: string;
  readonly parentId: string | null;
  readonly entries: readonly PlannedRecord[];
}

export interface PlannedRecord {
  readonly type: SessionRecordKind;
  readonly sequence: number;
  readonly data: JsonObject;
}

/** Drafts at the head of a branch. @throws SessionConflictError if that is not the expected one. */
export function planAppend(
  index: JournalIndex,
  agentId: string | null,
  drafts: readonly SessionRecordDraft[],
  branchId: string,
  expectedHead: string | null | undefined,
): JournalPlan {
  const parentId = index.headId(branchId);
  if (parentId === null && branchId !== DEFAULT_SESSION_BRANCH) throw unknownBranch();
  if (expectedHead !== undefined && expectedHead !== parentId) {
    throw new SessionConflictError('the history was changed by somebody else: load the session again');
  }
  return { agentId, branchId, parentId, entries: drafts };
}

/** Gives planned records their ids and places. */
export function placeRecords(index: JournalIndex, plan: JournalPlan, newId: () => string): readonly SessionRecord[] {
  let { parentId } = plan;
  let revision = index.records.length;
  return plan.entries.map(({ type, sequence, data }) => {
    revision += 1;
    const recordId = newId();
    const record: SessionRecord = {
      recordId,
      parentId,
      branchId: plan.branchId,
      revision,
      sessionId: index.sessionId,
      agentId: plan.agentId,
      sequence,
      type,
      data,
    };
    parentId = recordId;
    return record;
  });
}

export function unknownBranch(): SessionError {
  return new SessionError('session_unknown_branch', 'the session has no such branch');
}
