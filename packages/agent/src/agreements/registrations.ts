import { termsHold } from '../negotiation/build-terms.js';
import type { EndReason } from '../wire/agreement.js';
import type { AgreementLedger } from './agreement-ledger.js';
import type { AgreementRecord, EndedBy } from './agreement-record.js';
import type { KeeperContext } from './keeper-context.js';
import type { SuspendResult } from './keeper-types.js';
import { isMass } from './mass-guard.js';

/** What registrations of the parties, and what this side offers, mean for the agreements. */
export class Registrations {
  readonly #context: KeeperContext;
  readonly #ledger: AgreementLedger;
  /** Suspensions of the last moments: agreement id to time. */
  readonly #recent = new Map<string, number>();
  /** Agents whose agreements wait to be suspended, with the time at which they are. */
  readonly #waiting = new Map<string, number>();

  constructor(context: KeeperContext, ledger: AgreementLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  async suspendFor(agentIds: readonly string[]): Promise<SuspendResult> {
    const now = this.#context.now();
    const living = await this.#context.store.living();
    const lapsed = new Set(agentIds);
    const affected = living.filter(
      (record) => record.state === 'active' && this.#partiesAmong(record, lapsed).length > 0,
    );
    this.#forgetOldSuspensions(now);
    if (isMass(affected.length + this.#recent.size, living.length)) {
      this.#context.logger.warn('Too many registrations lapsed at once; agreements wait for one lease', {
        agreements: affected.length,
        agents: agentIds.length,
      });
      for (const record of affected) {
        const due = now + record.terms.lease.ttl_seconds * 1_000;
        for (const id of this.#partiesAmong(record, lapsed))
          this.#waiting.set(id, Math.max(due, this.#waiting.get(id) ?? 0));
      }
      return { suspended: 0, waiting: affected.length };
    }
    return { suspended: await this.#suspend(living, lapsed), waiting: 0 };
  }

  /** Suspends what waited and whose party did not come back. */
  async suspendOverdue(now: number): Promise<void> {
    const due = [...this.#waiting].filter(([, at]) => at <= now).map(([id]) => id);
    if (due.length === 0) return;
    await this.#suspend(await this.#context.store.living(), new Set(due));
    for (const id of due) this.#waiting.delete(id);
  }

  async resumeFor(agentId: string, sameOwner: boolean): Promise<number> {
    this.#waiting.delete(agentId);
    const concerned = (await this.#context.store.living()).filter((record) => this.#concerns(record, agentId));
    let resumed = 0;
    for (const { agreementId } of concerned) {
      const changed = await this.#ledger.change(agreementId, (record) => {
        // Under the same name, but not the party that agreed.
        if (!sameOwner) return { type: 'end', reason: 'party_unreachable', by: 'keeper' };
        if (record.state !== 'suspended') return undefined;
        if (!termsHold(record.terms, this.#context.offered()))
          return { type: 'end', reason: 'terms_withdrawn', by: 'responder' };
        return { type: 'resume', agentId };
      });
      if (changed?.changed === true && changed.record.state === 'active') resumed += 1;
    }
    return resumed;
  }

  async endFor(agentId: string, reason: EndReason): Promise<number> {
    this.#waiting.delete(agentId);
    const by: EndedBy = agentId === this.#context.agentId ? 'responder' : 'keeper';
    const living = await this.#context.store.living();
    return this.#endAll(living.filter((record) => this.#concerns(record, agentId)), reason, by); // prettier-ignore
  }

  async endWithdrawn(): Promise<number> {
    const offered = this.#context.offered();
    const living = await this.#context.store.living();
    return this.#endAll(living.filter(({ terms }) => !termsHold(terms, offered)), 'terms_withdrawn', 'responder'); // prettier-ignore
  }

  async #endAll(records: readonly AgreementRecord[], reason: EndReason, by: EndedBy): Promise<number> {
    let ended = 0;
    for (const { agreementId } of records) {
      const changed = await this.#ledger.change(agreementId, () => ({ type: 'end', reason, by }));
      if (changed?.changed === true) ended += 1;
    }
    return ended;
  }

  async #suspend(living: readonly AgreementRecord[], lapsed: ReadonlySet<string>): Promise<number> {
    let suspended = 0;
    for (const record of living) {
      const { agreementId } = record;
      for (const agentId of this.#partiesAmong(record, lapsed)) {
        const changed = await this.#ledger.change(agreementId, () => ({ type: 'suspend', agentId }));
        if (changed?.changed !== true || changed.record.lapsed?.length !== 1) continue;
        suspended += 1;
        this.#recent.set(agreementId, this.#context.now());
      }
    }
    return suspended;
  }

  #partiesAmong(record: AgreementRecord, agentIds: ReadonlySet<string>): string[] {
    return [...new Set([record.initiator, record.responder])].filter(
      (id) => agentIds.has(id) && this.#concerns(record, id),
    );
  }

  /** Whether what happens to this agent's registration concerns the agreement. */
  #concerns(record: AgreementRecord, agentId: string): boolean {
    if (record.responder === agentId) return true;
    return record.initiator === agentId && record.initiatorRegistered !== false;
  }

  #forgetOldSuspensions(now: number): void {
    for (const [id, at] of this.#recent) {
      if (at + this.#context.settings.massWindowMs <= now) this.#recent.delete(id);
    }
  }
}
