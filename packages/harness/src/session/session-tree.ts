import type { SessionBranchIntent } from '../enums.js';
import type { JournalIndex } from './journal-index.js';
import { unknownBranch, type JournalPlan } from './journal-plan.js';
import { SessionError } from './session-errors.js';
import type { ForkOptions, RetryOptions } from './session-storage.js';
import { DEFAULT_SESSION_BRANCH, type SessionBranch, type SessionRecord } from './session-types.js';

/** One segment of letters and digits first, so that a name is never blank, hidden or taken for an option. */
const BRANCH_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,127}$/u;

export interface RetryPlan {
  readonly plan: JournalPlan;
  readonly task: string;
}

/** A branch from a record of its source, outside of a run. @throws SessionError */
export function planBranch(
  index: JournalIndex,
  intent: Exclude<SessionBranchIntent, 'retry'>,
  options: ForkOptions,
  newId: () => string,
): JournalPlan {
  const source = sourceBranch(index, options.sourceBranchId);
  const branchId = newBranchName(index, options.branchId, intent, newId);
  const baseId = options.fromRecordId ?? source.headId;
  if (index.record(baseId) === undefined) {
    throw new SessionError('session_unknown_record', 'the session has no such record');
  }
  if (!index.isAncestor(baseId, source.headId)) {
    throw new SessionError('session_not_ancestor', 'the record is not on the source branch');
  }
  if (index.openRunId(baseId) !== null) {
    throw new SessionError('session_run_unfinished', 'no branch can begin inside of a run: finish or abandon it first');
  }
  return branchPlan(index, source, branchId, baseId, intent);
}

/** A branch from just before a run. @throws SessionError if the branch has no such run with a task. */
export function planRetry(index: JournalIndex, options: RetryOptions, newId: () => string): RetryPlan {
  const source = sourceBranch(index, options.sourceBranchId);
  const branchId = newBranchName(index, options.branchId, 'retry', newId);
  const { task, start } = findRun(index, source.headId, options.runId);
  return { plan: branchPlan(index, source, branchId, start.parentId, 'retry', options.runId), task };
}

function findRun(
  index: JournalIndex,
  headId: string,
  runId: string,
): { readonly task: string; readonly start: SessionRecord } {
  for (const start of index.ancestry(headId)) {
    if (start.data['run_id'] !== runId) continue;
    if (start.type === 'run_continued') {
      throw new SessionError('session_run_has_no_task', 'a run that continued another has no task to retry');
    }
    const { task } = start.data;
    if (start.type === 'run_started' && typeof task === 'string') return { task, start };
  }
  throw new SessionError('session_unknown_run', 'the branch has no such run');
}

type HeadedBranch = SessionBranch & { readonly headId: string };

function sourceBranch(index: JournalIndex, branchId = DEFAULT_SESSION_BRANCH): HeadedBranch {
  const branch = index.branch(branchId);
  if (branch?.headId === undefined || branch.headId === null) throw unknownBranch();
  return { ...branch, headId: branch.headId };
}

function newBranchName(
  index: JournalIndex,
  wanted: string | undefined,
  intent: SessionBranchIntent,
  newId: () => string,
): string {
  const name = wanted ?? `${intent}-${newId().slice(0, 12)}`;
  if (!BRANCH_NAME.test(name)) {
    throw new SessionError(
      'session_invalid_branch',
      'a branch name has 1 to 128 letters, digits and ._/- and begins with a letter or digit',
    );
  }
  if (index.branch(name) !== undefined || name === DEFAULT_SESSION_BRANCH) {
    throw new SessionError('session_branch_exists', 'the session has a branch of that name');
  }
  return name;
}

function branchPlan(
  index: JournalIndex,
  source: HeadedBranch,
  branchId: string,
  baseId: string | null,
  intent: SessionBranchIntent,
  retriedRunId?: string,
): JournalPlan {
  const data = {
    base_record_id: baseId,
    intent,
    ...(retriedRunId !== undefined && { retried_run_id: retriedRunId }),
    source_branch_id: source.branchId,
    source_head_id: source.headId,
  };
  return {
    agentId: index.agentId,
    branchId,
    parentId: baseId,
    entries: [{ type: 'branch_created', sequence: 0, data }],
  };
}
