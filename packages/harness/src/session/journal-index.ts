import { SessionError, SessionSerializationError } from './session-errors.js';
import { readMutation, type BranchOrigin, type SessionMutation } from './session-mutation.js';
import { SessionProjection } from './session-projection.js';
import {
  DEFAULT_SESSION_BRANCH,
  type SessionBranch,
  type SessionCheckout,
  type SessionRecord,
} from './session-types.js';

interface IndexedRecord {
  readonly record: SessionRecord;
  readonly mutation: SessionMutation;
  /** The run that is unfinished after this record. */
  readonly openRunId: string | null;
}

interface CachedProjection {
  readonly projection: SessionProjection;
  headId: string;
}

/** The records of one session in memory: checks each one that is added, knows branches and heads. */
export class JournalIndex {
  readonly #byId = new Map<string, IndexedRecord>();
  readonly #records: SessionRecord[] = [];
  readonly #branches = new Map<string, SessionBranch>();
  readonly #runIds = new Set<string>();
  /** One per branch that was asked for; only what was added since is applied to it. */
  readonly #projections = new Map<string, CachedProjection>();
  #agentId: string | null = null;

  constructor(
    readonly sessionId: string,
    records: readonly SessionRecord[] = [],
  ) {
    for (const record of records) this.add(record);
  }

  get records(): readonly SessionRecord[] {
    return this.#records;
  }

  get agentId(): string | null {
    return this.#agentId;
  }

  /** In the order of their creation: a map keeps the order in which its keys came. */
  get branches(): readonly SessionBranch[] {
    return [...this.#branches.values()];
  }

  branch(branchId: string): SessionBranch | undefined {
    return this.#branches.get(branchId);
  }

  headId(branchId: string): string | null {
    return this.#branches.get(branchId)?.headId ?? null;
  }

  record(recordId: string): SessionRecord | undefined {
    return this.#byId.get(recordId)?.record;
  }

  /** The run that is unfinished at a record; null also before everything. */
  openRunId(recordId: string | null): string | null {
    return recordId === null ? null : (this.#byId.get(recordId)?.openRunId ?? null);
  }

  /** From a record back to the first one. */
  *ancestry(recordId: string | null): Generator<SessionRecord> {
    for (let id = recordId; id !== null;) {
      const indexed = this.#byId.get(id);
      if (indexed === undefined) return;
      yield indexed.record;
      id = indexed.record.parentId;
    }
  }

  /** @throws SessionSerializationError if it cannot come next; then nothing has changed. */
  add(record: SessionRecord): void {
    this.#checkIdentity(record);
    const mutation = readMutation(record.type, record.data);
    const branch = this.#placeOnBranch(record, mutation);
    const openRunId = this.#openRunAfter(record, mutation);
    this.#byId.set(record.recordId, { record, mutation, openRunId });
    this.#records.push(record);
    this.#branches.set(record.branchId, branch);
    this.#agentId ??= record.agentId;
    if (mutation.kind === 'run_start') this.#runIds.add(mutation.runId);
  }

  /** A branch at its head; null if there is no such branch. */
  checkout(branchId: string): SessionCheckout | null {
    const branch = this.#branches.get(branchId);
    const head = branch?.headId === undefined || branch.headId === null ? undefined : this.record(branch.headId);
    if (branch === undefined || head === undefined) return null;
    const cached = this.#projections.get(branchId);
    const projection = this.#project(head.recordId, cached);
    this.#projections.set(branchId, { projection, headId: head.recordId });
    return { session: projection.snapshot(this.sessionId, this.#agentId, head), branch, head };
  }

  /** A branch at any of its records. @throws SessionError if there is no such record. */
  checkoutAt(recordId: string): SessionCheckout {
    const head = this.record(recordId);
    const branch = head === undefined ? undefined : this.#branches.get(head.branchId);
    if (head === undefined || branch === undefined) {
      throw new SessionError('session_unknown_record', 'the session has no such record');
    }
    const session = this.#project(recordId, undefined).snapshot(this.sessionId, this.#agentId, head);
    return { session, branch: { ...branch, headId: recordId }, head };
  }

  #project(headId: string, cached: CachedProjection | undefined): SessionProjection {
    const added: IndexedRecord[] = [];
    let known = false;
    for (const { recordId } of this.ancestry(headId)) {
      known = recordId === cached?.headId;
      if (known) break;
      const indexed = this.#byId.get(recordId);
      if (indexed !== undefined) added.push(indexed);
    }
    const projection = known && cached !== undefined ? cached.projection : new SessionProjection();
    for (const { mutation, record } of added.reverse()) projection.apply(mutation, record.sequence);
    return projection;
  }

  #checkIdentity(record: SessionRecord): void {
    if (record.sessionId !== this.sessionId) {
      throw new SessionSerializationError('the record belongs to another session');
    }
    if (this.#agentId !== null && record.agentId !== this.#agentId) {
      throw new SessionSerializationError('the record belongs to another agent');
    }
    if (record.agentId === null && record.type !== 'checkpoint' && record.type !== 'branch_created') {
      throw new SessionSerializationError(`a record of type ${record.type} needs an agent`);
    }
    if (this.#byId.has(record.recordId)) throw new SessionSerializationError('the record id was there before');
    const revision = this.#records.length + 1;
    if (record.revision !== revision) {
      throw new SessionSerializationError(`revision ${record.revision} comes where ${revision} should`);
    }
  }

  #placeOnBranch(record: SessionRecord, mutation: SessionMutation): SessionBranch {
    const branch = this.#branches.get(record.branchId);
    if (mutation.kind === 'branch') return this.#newBranch(record, mutation.origin, branch);
    if (branch !== undefined) {
      if (record.parentId !== branch.headId) throw new SessionSerializationError('the parent is not the branch head');
      return { ...branch, headId: record.recordId };
    }
    if (record.branchId !== DEFAULT_SESSION_BRANCH) {
      throw new SessionSerializationError('the branch of the record was never created');
    }
    if (record.parentId !== null) throw new SessionSerializationError('the first record has a parent');
    return {
      branchId: record.branchId,
      intent: null,
      createdRevision: record.revision,
      headId: record.recordId,
      baseRecordId: null,
      sourceBranchId: null,
    };
  }

  #newBranch(record: SessionRecord, origin: BranchOrigin, existing: SessionBranch | undefined): SessionBranch {
    const { branchId, parentId, recordId, revision } = record;
    if (existing !== undefined || branchId === DEFAULT_SESSION_BRANCH) {
      throw new SessionSerializationError('a branch is created that was there before');
    }
    if (parentId !== origin.baseRecordId) throw new SessionSerializationError('a branch has two different bases');
    if (this.headId(origin.sourceBranchId) !== origin.sourceHeadId) {
      throw new SessionSerializationError('the head of the source branch is another one');
    }
    if (parentId !== null && !this.isAncestor(parentId, origin.sourceHeadId)) {
      throw new SessionSerializationError('the base of a branch is not on its source branch');
    }
    return {
      branchId,
      intent: origin.intent,
      createdRevision: revision,
      headId: recordId,
      baseRecordId: origin.baseRecordId,
      sourceBranchId: origin.sourceBranchId,
    };
  }

  isAncestor(recordId: string, descendantId: string): boolean {
    for (const record of this.ancestry(descendantId)) if (record.recordId === recordId) return true;
    return false;
  }

  #openRunAfter(record: SessionRecord, mutation: SessionMutation): string | null {
    const before = this.openRunId(record.parentId);
    switch (mutation.kind) {
      case 'checkpoint':
        return this.#openRunOfCheckpoint(record, mutation);
      case 'branch':
      case 'compaction':
        return before;
      case 'run_start':
        if (before !== null) throw new SessionSerializationError('a run starts inside of another');
        if (this.#runIds.has(mutation.runId)) throw new SessionSerializationError('the run id was there before');
        return mutation.runId;
      case 'messages':
        if (before !== mutation.runId)
          throw new SessionSerializationError('a message belongs to a run that is not open');
        return before;
      case 'run_finish':
        if (before !== mutation.runId) throw new SessionSerializationError('a run ends that is not open');
        return null;
    }
  }

  #openRunOfCheckpoint(
    record: SessionRecord,
    { content }: Extract<SessionMutation, { readonly kind: 'checkpoint' }>,
  ): string | null {
    if (content.sessionId !== record.sessionId || content.agentId !== record.agentId) {
      throw new SessionSerializationError('a checkpoint belongs to another session or agent');
    }
    return content.runs.find(({ finished }) => !finished)?.runId ?? null;
  }
}
