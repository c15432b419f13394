import type { Logger } from '@parley/service-kit';
import type { AgentEntry } from '../domain/agent-entry.js';
import type { Catalogue } from '../domain/catalogue.js';
import { guardedDeadline, type Outage } from '../domain/guard.js';
import type { AgentRecord, Change, Renewal } from '../domain/types.js';
import type { DeadlineView, RegistryStore, Snapshot } from '../store/store.js';
import type { RegistryEvent } from './core-types.js';

const BATCH = 500;
/** A sweep logs an expiry within a second or two; what is still unannounced after this never will be. */
const RETIRED_KEPT_MS = 60_000;

type RegistrationChange = Extract<Change, { type: 'registered' | 'updated' }>;

export interface CatalogueSyncOptions {
  readonly catalogue: Catalogue;
  readonly store: RegistryStore;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Brings what the store tells into the catalogue. Everything may arrive twice; nothing is applied twice. */
export class CatalogueSync {
  readonly #catalogue: Catalogue;
  readonly #store: RegistryStore;
  readonly #logger: Logger;
  readonly #now: () => number;
  /** Ids that are over, but not yet in the log; with the local time of the finding. */
  readonly #retired = new Map<string, number>();
  #generation = 0;

  constructor(options: CatalogueSyncOptions) {
    this.#catalogue = options.catalogue;
    this.#store = options.store;
    this.#logger = options.logger;
    this.#now = options.now;
  }

  /** Takes over a snapshot. Answers the entries that it did not contain. */
  async load(snapshot: Snapshot, signal: AbortSignal): Promise<AgentEntry[]> {
    const generation = ++this.#generation;
    for await (const records of snapshot.records) {
      signal.throwIfAborted();
      for (const record of records) {
        const entry = this.#takeOver(record);
        if (entry !== undefined) entry.generation = generation;
      }
    }
    return [...this.#catalogue.entries()].filter((entry) => entry.generation !== generation);
  }

  #takeOver(record: AgentRecord): AgentEntry | undefined {
    const known = this.#catalogue.entry(record.agentId);
    if (known?.revision === record.revision) {
      // A renewal may have overtaken the snapshot; the deadline of one registration only grows.
      if (record.deadlineMs > known.deadlineMs) this.#catalogue.setDeadline(known, record.deadlineMs);
      return known;
    }
    return this.#upsert(record);
  }

  #upsert(record: AgentRecord): AgentEntry | undefined {
    this.#retired.delete(record.agentId);
    try {
      return this.#catalogue.upsert(record);
    } catch (error) {
      // Somebody else wrote into the store: one damaged record must not stop the others.
      this.#logger.error('A registration in the store cannot be read', { agent_id: record.agentId, error });
      return undefined;
    }
  }

  /** They ended while nobody looked at the log. */
  forget(entries: readonly AgentEntry[]): void {
    for (const { agentId } of entries) this.#catalogue.remove(agentId);
    this.#retired.clear();
  }

  /**
   * The store has lost its data: the agents it does not know go on being served until their deadline, and the store
   * learns of that deadline, so that each of them registers again or expires once.
   */
  async adopt(entries: readonly AgentEntry[], outage: Outage | undefined, signal: AbortSignal): Promise<void> {
    const held = entries.map((entry) => ({
      agentId: entry.agentId,
      deadlineMs: guardedDeadline(entry.deadlineMs, entry.ttlMs, outage),
    }));
    const over = [...this.#retired.keys()].map((agentId) => ({ agentId, deadlineMs: 0 }));
    const all = [...held, ...over];
    for (let at = 0; at < all.length; at += BATCH) {
      signal.throwIfAborted();
      const batch = all.slice(at, at + BATCH);
      const views = await this.#store.adoptOrphans(batch);
      batch.forEach(({ agentId }, index) => {
        const entry = this.#catalogue.entry(agentId);
        const view = views[index];
        if (entry === undefined || view === undefined) return;
        if (view.kind === 'orphan') this.#catalogue.setDeadline(entry, view.deadlineMs);
        else if (view.kind === 'unknown') this.#catalogue.remove(agentId);
      });
    }
  }

  /** Applies one line of the log. Answers what it means to those who watch. */
  apply(change: Change): RegistryEvent | undefined {
    if ('record' in change) return this.#applyRegistration(change);
    if ('agentId' in change) {
      const known = this.#catalogue.entry(change.agentId);
      if (known !== undefined && known.revision < change.revision) this.#catalogue.remove(change.agentId);
      this.#retired.delete(change.agentId);
    }
    return change;
  }

  #applyRegistration({ type, revision, atMs, agentId, record }: RegistrationChange): RegistryEvent | undefined {
    const known = this.#catalogue.entry(agentId);
    if (known !== undefined && known.revision >= revision) return { type, revision, atMs, agentId, agent: known };
    // Over here, but nobody has been told.
    const wasRetired = this.#retired.has(agentId);
    const agent = this.#upsert(record);
    if (agent === undefined) return undefined;
    // Known already although the store thought it new: the store had lost it in between. And the other way round, when
    // another replica has told the store of an agent that it had lost.
    const told = known !== undefined ? 'updated' : wasRetired ? type : 'registered';
    return { type: told, revision, atMs, agentId, agent };
  }

  renewed(renewals: readonly Renewal[]): void {
    for (const { agentId, revision, deadlineMs } of renewals) {
      const entry = this.#catalogue.entry(agentId);
      if (entry?.revision === revision && deadlineMs > entry.deadlineMs) this.#catalogue.setDeadline(entry, deadlineMs);
    }
  }

  /**
   * Before a deadline is believed, the store is asked: another replica may have renewed the lease and the news been
   * lost. Answers how many leases turned out to be longer than they seemed.
   */
  async reconcile(nowMs: number, untilMs: number, signal: AbortSignal): Promise<number> {
    const due = this.#catalogue.due(untilMs, Number.POSITIVE_INFINITY);
    let renewedLate = 0;
    for (let at = 0; at < due.length && !signal.aborted; at += BATCH) {
      const batch = due.slice(at, at + BATCH);
      const views = await this.#store.deadlinesOf(batch.map(({ agentId }) => agentId));
      batch.forEach((entry, index) => {
        const view = views[index];
        if (view !== undefined && this.#reconcileOne(entry, view, nowMs)) renewedLate++;
      });
    }
    this.#dropOldRetired();
    return renewedLate;
  }

  #reconcileOne(entry: AgentEntry, view: DeadlineView, nowMs: number): boolean {
    // While the store was asked, the log may have replaced the entry.
    if (this.#catalogue.entry(entry.agentId) !== entry) return false;
    const sameLease = view.kind === 'orphan' || (view.kind === 'record' && view.revision === entry.revision);
    const later = sameLease && view.deadlineMs > entry.deadlineMs;
    if (later) this.#catalogue.setDeadline(entry, view.deadlineMs);
    if (entry.deadlineMs > nowMs) return later;
    this.#catalogue.remove(entry.agentId);
    this.#retired.set(entry.agentId, this.#now());
    return later;
  }

  #dropOldRetired(): void {
    const oldest = this.#now() - RETIRED_KEPT_MS;
    for (const [agentId, atMs] of this.#retired) {
      if (atMs > oldest) return;
      this.#retired.delete(agentId);
    }
  }
}
