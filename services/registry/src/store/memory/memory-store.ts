import { timingSafeEqual } from 'node:crypto';
import { storeUnavailable } from '@parley/service-kit';
import { DeadlineHeap, type Due } from '../../domain/deadline-heap.js';
import { detectOutage, guardedDeadline, type GuardSettings } from '../../domain/guard.js';
import type { AgentRecord, Renewal } from '../../domain/types.js';
import type {
  AgreementCommand,
  AgreementFilter,
  AgreementPage,
  Authority,
  DeadlineView,
  DeregisterResult,
  LogBatch,
  LogPosition,
  Ownership,
  RegisterCommand,
  RegisterResult,
  RegistryStore,
  RenewResult,
  Snapshot,
  StoredAgreement,
  SweepCommand,
  SweepResult,
} from '../store.js';
import { MemoryAgreements } from './memory-agreements.js';
import { MemoryLog } from './memory-log.js';

export interface MemoryStoreOptions {
  readonly now?: () => number;
  /** Names this life of the store. */
  readonly epoch: string;
  readonly guard: GuardSettings;
  /** Lines that the log keeps at least. Default 10,000. */
  readonly changesMaxLength?: number;
  /** Default 250,000. */
  readonly maxAgents?: number;
  /** Default 100,000; past it, the one that ends first is forgotten. */
  readonly maxAgreements?: number;
}

/** An id with a deadline; without a registration it is an orphan. */
interface Slot extends Due {
  readonly agentId: string;
  deadlineMs: number;
  registration: { readonly record: AgentRecord; readonly owner: string } | undefined;
}

const SNAPSHOT_BATCH = 500;
const PRUNED_PER_SWEEP = 100;

/** The embedded default: everything within one process, gone with it. */
export class MemoryStore implements RegistryStore {
  readonly #slots = new Map<string, Slot>();
  readonly #deadlines = new DeadlineHeap<Slot>();
  readonly #agreements: MemoryAgreements;
  readonly #log: MemoryLog;
  readonly #now: () => number;
  readonly #guard: GuardSettings;
  readonly #maxAgents: number;
  readonly #closed = new AbortController();
  #sweptAtMs: number;
  #guardedSinceSweep = 0;

  constructor(options: MemoryStoreOptions) {
    this.#now = options.now ?? Date.now;
    this.#sweptAtMs = this.#now();
    this.#guard = options.guard;
    this.#maxAgents = options.maxAgents ?? 250_000;
    this.#agreements = new MemoryAgreements(options.maxAgreements ?? 100_000);
    this.#log = new MemoryLog({
      epoch: options.epoch,
      // Grows over restarts, so that a watcher of an earlier process is told to start afresh.
      firstRevision: Math.floor(this.#now()),
      capacity: options.changesMaxLength ?? 10_000,
    });
  }

  now(): number {
    return this.#now();
  }

  ping(): Promise<void> {
    return this.#run(() => undefined);
  }

  close(): Promise<void> {
    this.#closed.abort();
    this.#log.close();
    return Promise.resolve();
  }

  register(command: RegisterCommand): Promise<RegisterResult> {
    return this.#run((nowMs) => this.#register(command, nowMs));
  }

  #register(command: RegisterCommand, nowMs: number): RegisterResult {
    const { agentId, manifestJson, ttlMs } = command;
    const slot = this.#slots.get(agentId);
    if (slot === undefined && this.#slots.size >= this.#maxAgents) return { kind: 'full', nowMs };
    const living = slot !== undefined && slot.deadlineMs > nowMs ? slot : undefined;
    const held = living?.registration;
    if (held !== undefined && !sameHash(held.owner, command.callerTokenHash)) return { kind: 'taken', nowMs };
    if (slot !== undefined && living === undefined) this.#end(slot, 'expired', nowMs);

    const deadlineMs = nowMs + ttlMs;
    // An orphan that comes back was never gone for those who watch.
    const type = living === undefined ? 'registered' : 'updated';
    const { revision } = this.#log.append((at) => {
      const record = { agentId, manifestJson, ttlMs, deadlineMs, revision: at, registeredAtMs: nowMs };
      this.#put(agentId, deadlineMs, { record, owner: held?.owner ?? command.newTokenHash });
      return { type, revision: at, atMs: nowMs, agentId, record };
    });
    return { kind: held === undefined ? 'registered' : 'replaced', revision, deadlineMs, nowMs };
  }

  renew(agentId: string, tokenHash: string): Promise<RenewResult> {
    return this.#run((nowMs) => this.#renew(agentId, tokenHash, nowMs));
  }

  #renew(agentId: string, tokenHash: string, nowMs: number): RenewResult {
    const slot = this.#living(agentId, nowMs);
    if (slot?.registration === undefined) return { kind: 'unknown', nowMs };
    const { record, owner } = slot.registration;
    if (!sameHash(owner, tokenHash)) return { kind: 'forbidden', nowMs };
    this.#setDeadline(slot, nowMs + record.ttlMs);
    return { kind: 'renewed', deadlineMs: slot.deadlineMs, ttlMs: record.ttlMs, revision: record.revision, nowMs };
  }

  deregister(agentId: string, by: Authority): Promise<DeregisterResult> {
    return this.#run((nowMs) => this.#deregister(agentId, by, nowMs));
  }

  #deregister(agentId: string, by: Authority, nowMs: number): DeregisterResult {
    const slot = this.#living(agentId, nowMs);
    if (slot === undefined) return { kind: 'unknown', nowMs };
    if ('tokenHash' in by) {
      if (slot.registration === undefined) return { kind: 'unknown', nowMs };
      if (!sameHash(slot.registration.owner, by.tokenHash)) return { kind: 'forbidden', nowMs };
    }
    return { kind: 'done', revision: this.#end(slot, 'deregistered', nowMs), nowMs };
  }

  verifyOwner(agentId: string, tokenHash: string): Promise<Ownership> {
    return this.#run((nowMs) => {
      const registration = this.#living(agentId, nowMs)?.registration;
      if (registration === undefined) return 'unknown';
      return sameHash(registration.owner, tokenHash) ? 'owner' : 'other';
    });
  }

  snapshot(): Promise<Snapshot> {
    return this.#run((nowMs) => ({ position: this.#log.position(), nowMs, records: this.#records() }));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface is asynchronous, this map is not
  async *#records(): AsyncGenerator<readonly AgentRecord[]> {
    let batch: AgentRecord[] = [];
    for (const { registration, deadlineMs } of this.#slots.values()) {
      if (registration === undefined) continue;
      batch.push({ ...registration.record, deadlineMs });
      if (batch.length < SNAPSHOT_BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  changes(after: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#log.read(after, AbortSignal.any([signal, this.#closed.signal]));
  }

  publishRenewals(renewals: readonly Renewal[]): Promise<void> {
    return this.#run(() => {
      if (renewals.length > 0) this.#log.publish(renewals);
    });
  }

  deadlinesOf(agentIds: readonly string[]): Promise<readonly DeadlineView[]> {
    return this.#run(() => agentIds.map((agentId) => this.#view(agentId)));
  }

  adoptOrphans(
    orphans: readonly { readonly agentId: string; readonly deadlineMs: number }[],
  ): Promise<readonly DeadlineView[]> {
    return this.#run(() =>
      orphans.map(({ agentId, deadlineMs }) => {
        if (!this.#slots.has(agentId)) this.#put(agentId, Math.floor(deadlineMs), undefined);
        return this.#view(agentId);
      }),
    );
  }

  sweep({ limit, guard }: SweepCommand): Promise<SweepResult> {
    return this.#run((nowMs) => this.#sweep(limit, nowMs), guard);
  }

  #sweep(limit: number, nowMs: number): SweepResult {
    let expired = 0;
    let next = this.#firstDue(nowMs);
    for (; next !== undefined && expired < limit; next = this.#firstDue(nowMs)) {
      this.#end(next, 'expired', nowMs);
      expired++;
    }
    this.#agreements.prune(nowMs, PRUNED_PER_SWEEP);
    this.#sweptAtMs = nowMs;
    const guarded = this.#guardedSinceSweep;
    this.#guardedSinceSweep = 0;
    const { epoch, revision } = this.#log;
    return { epoch, revision, expired, guarded, more: next !== undefined, nowMs };
  }

  recordAgreement(command: AgreementCommand): Promise<{ readonly recorded: boolean; readonly revision?: number }> {
    return this.#run((nowMs) => {
      if (!this.#agreements.record(command, nowMs)) return { recorded: false };
      const { agreementId, json, changeType: type } = command;
      const change = { type, atMs: nowMs, agreementId, agreementJson: json };
      return { recorded: true, revision: this.#log.append((revision) => ({ ...change, revision })).revision };
    });
  }

  getAgreement(agreementId: string): Promise<StoredAgreement | undefined> {
    return this.#run((nowMs) => this.#agreements.get(agreementId, nowMs));
  }

  listAgreements(filter: AgreementFilter): Promise<AgreementPage> {
    return this.#run((nowMs) => this.#agreements.list(filter, nowMs));
  }

  /** Whatever an operation throws becomes its rejection, as with a store that is far away. */
  #run<T>(operation: (nowMs: number) => T, guard?: GuardSettings): Promise<T> {
    return new Promise((resolve) => {
      if (this.#closed.signal.aborted) throw storeUnavailable(new Error('The store is closed'));
      resolve(operation(this.#touch(guard)));
    });
  }

  /** Every operation begins here: the first one after a silence is the return from an outage (of this process: it was frozen). */
  #touch(settings: GuardSettings = this.#guard): number {
    const nowMs = this.#now();
    const sweptAtMs = this.#sweptAtMs;
    if (nowMs - sweptAtMs <= settings.awayThresholdMs) return nowMs;
    this.#sweptAtMs = nowMs;
    const dead = this.#deadlines.countDue(sweptAtMs - 1);
    const known = this.#slots.size;
    const outage = detectOutage(sweptAtMs, nowMs, { concerned: known - dead, known }, settings);
    if (outage === undefined) return nowMs;
    // Nothing can change between the return and here, so all leases are lengthened at once.
    for (const slot of this.#slots.values()) {
      const ttlMs = slot.registration?.record.ttlMs;
      if (ttlMs === undefined) continue;
      const deadlineMs = guardedDeadline(slot.deadlineMs, ttlMs, outage);
      if (deadlineMs === slot.deadlineMs) continue;
      this.#setDeadline(slot, deadlineMs);
      this.#guardedSinceSweep++;
    }
    return nowMs;
  }

  #firstDue(nowMs: number): Slot | undefined {
    const first = this.#deadlines.peek();
    return first !== undefined && first.deadlineMs <= nowMs ? first : undefined;
  }

  #living(agentId: string, nowMs: number): Slot | undefined {
    const slot = this.#slots.get(agentId);
    return slot !== undefined && slot.deadlineMs > nowMs ? slot : undefined;
  }

  #view(agentId: string): DeadlineView {
    const slot = this.#slots.get(agentId);
    if (slot === undefined) return { kind: 'unknown' };
    const { deadlineMs, registration } = slot;
    if (registration === undefined) return { kind: 'orphan', deadlineMs };
    return { kind: 'record', revision: registration.record.revision, deadlineMs };
  }

  #put(agentId: string, deadlineMs: number, registration: Slot['registration']): void {
    const slot = this.#slots.get(agentId);
    if (slot !== undefined) {
      slot.registration = registration;
      this.#setDeadline(slot, deadlineMs);
      return;
    }
    const made: Slot = { agentId, deadlineMs, registration, heapIndex: -1 };
    this.#slots.set(agentId, made);
    this.#deadlines.add(made);
  }

  #setDeadline(slot: Slot, deadlineMs: number): void {
    slot.deadlineMs = deadlineMs;
    this.#deadlines.update(slot);
  }

  #end(slot: Slot, type: 'expired' | 'deregistered', nowMs: number): number {
    this.#slots.delete(slot.agentId);
    this.#deadlines.remove(slot);
    return this.#log.append((at) => ({ type, revision: at, atMs: nowMs, agentId: slot.agentId })).revision;
  }
}

/** Hashes of equal length, so the comparison tells nothing by its time; the tokens themselves are never here. */
function sameHash(owner: string, shown: string | undefined): boolean {
  if (shown === undefined) return false;
  const a = Buffer.from(owner);
  const b = Buffer.from(shown);
  return a.length === b.length && timingSafeEqual(a, b);
}
