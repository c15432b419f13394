import { DeadlineHeap, type Due } from '../../domain/deadline-heap.js';
import type { AgreementCommand, AgreementFilter, AgreementPage, StoredAgreement } from '../store.js';

interface Witnessed extends Due {
  readonly stored: StoredAgreement;
  readonly parties: readonly [string, string];
}

/** Agreements as their responders reported them, each until its time is over, and a bounded number of them. */
export class MemoryAgreements {
  readonly #byId = new Map<string, Witnessed>();
  /** Sorted, for paging. */
  readonly #ids: string[] = [];
  readonly #ends = new DeadlineHeap<Witnessed>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** False when the known version is as new. */
  record(command: AgreementCommand, nowMs: number): boolean {
    const { agreementId, version, state, json, parties } = command;
    const known = this.#living(agreementId, nowMs);
    if (known !== undefined && known.stored.version >= version) return false;
    this.#drop(agreementId);
    const entry = {
      stored: { agreementId, version, state, json },
      parties,
      deadlineMs: nowMs + command.ttlMs,
      heapIndex: -1,
    };
    this.#byId.set(agreementId, entry);
    this.#ids.splice(this.#placeOf(agreementId), 0, agreementId);
    this.#ends.add(entry);
    const first = this.#ends.peek();
    if (this.#byId.size > this.#capacity && first !== undefined) this.#drop(first.stored.agreementId);
    return true;
  }

  get(agreementId: string, nowMs: number): StoredAgreement | undefined {
    return this.#living(agreementId, nowMs)?.stored;
  }

  list(filter: AgreementFilter, nowMs: number): AgreementPage {
    const agreements: StoredAgreement[] = [];
    let at = filter.afterId === undefined ? 0 : this.#placeOf(filter.afterId);
    if (filter.afterId !== undefined && this.#ids[at] === filter.afterId) at++;
    for (; at < this.#ids.length; at++) {
      const entry = this.#living(this.#ids[at] ?? '', nowMs);
      if (entry === undefined) continue;
      if (filter.state !== undefined && entry.stored.state !== filter.state) continue;
      if (filter.agentId !== undefined && !entry.parties.includes(filter.agentId)) continue;
      const last = agreements.at(-1);
      if (agreements.length === filter.limit && last !== undefined)
        return { agreements, nextAfterId: last.agreementId };
      agreements.push(entry.stored);
    }
    return { agreements };
  }

  prune(nowMs: number, limit: number): void {
    for (const { stored } of this.#ends.due(nowMs, limit)) this.#drop(stored.agreementId);
  }

  #living(agreementId: string, nowMs: number): Witnessed | undefined {
    const entry = this.#byId.get(agreementId);
    return entry !== undefined && entry.deadlineMs > nowMs ? entry : undefined;
  }

  #drop(agreementId: string): void {
    const entry = this.#byId.get(agreementId);
    if (entry === undefined) return;
    this.#byId.delete(agreementId);
    this.#ids.splice(this.#placeOf(agreementId), 1);
    this.#ends.remove(entry);
  }

  #placeOf(agreementId: string): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] ?? '') < agreementId) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
