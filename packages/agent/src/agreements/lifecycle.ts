import { AppError, invalidField } from '@parley/service-kit';
import { proofMatches } from '../negotiation/proof.js';
import type { Agreement, EndReason } from '../wire/agreement.js';
import { agreementEnded, agreementUnknown, termsMismatch } from './agreement-errors.js';
import type { AgreementLedger } from './agreement-ledger.js';
import type { AgreementRecord } from './agreement-record.js';
import { toAgreement } from './agreement-view.js';
import type { KeeperContext } from './keeper-context.js';
import type { AgreementPage, ConfirmInput, EndInput, GetInput, ListInput, RenewInput } from './keeper-types.js';
import type { AgreementChange } from './transitions.js';
import { withDeadline } from './with-deadline.js';

/** Reasons that only the keeper itself can know. */
const NOT_FOR_INITIATORS: ReadonlySet<EndReason> = new Set([
  'released_by_responder',
  'expired',
  'not_confirmed',
  'renewal_declined',
  'terms_withdrawn',
  'limit_exhausted',
]);

/** What the parties do with an agreement once it is made. */
export class Lifecycle {
  readonly #context: KeeperContext;
  readonly #ledger: AgreementLedger;

  constructor(context: KeeperContext, ledger: AgreementLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  async confirm(agreementId: string, { termsDigest, proof }: ConfirmInput): Promise<Agreement> {
    const changed = await this.#ledger.change(agreementId, (record) => {
      this.#mustBeParty(record, proof);
      if (record.state === 'ended') throw agreementEnded(record);
      if (record.termsDigest !== termsDigest) throw termsMismatch();
      return { type: 'confirm' };
    });
    return this.#view(changed?.record);
  }

  async renew(agreementId: string, input: RenewInput): Promise<Agreement> {
    const before = await this.#ledger.find(agreementId);
    this.#mustBeParty(before, input.proof);
    // Asked outside of the change, which may be tried more than once.
    const declines = before.state !== 'ended' && (await this.#declines(before));
    const exhausted = await this.#isExhausted(before);
    let refusal: AppError | undefined;
    const changed = await this.#ledger.change(agreementId, (record): AgreementChange | undefined => {
      refusal = undefined;
      if (record.state === 'ended') throw agreementEnded(record);
      if (differs(record, input)) {
        refusal = viewMismatch();
        return { type: 'end', reason: 'view_mismatch', by: 'keeper' };
      }
      if (exhausted) return { type: 'end', reason: 'limit_exhausted', by: 'keeper' };
      // The answer to the last renewal got lost, and it is asked for again.
      if (record.leaseRevision > 1 && input.leaseRevision === record.leaseRevision - 1) return undefined;
      if (input.leaseRevision !== record.leaseRevision) {
        refusal = leaseRevisionStale(record);
        return undefined;
      }
      if (!declines) return { type: 'renew', ttlSeconds: this.#ttl(record, input.ttlSeconds) };
      refusal = renewalDeclined();
      return { type: 'decline_renewal' };
    });
    // What was decided is stored before it is told.
    if (refusal !== undefined) throw refusal;
    if (changed?.record.state === 'ended') throw agreementEnded(changed.record);
    return this.#view(changed?.record);
  }

  async end(agreementId: string, input: EndInput): Promise<Agreement> {
    const internal = 'internal' in input;
    const reason = input.reason ?? 'released_by_initiator';
    if (!internal && NOT_FOR_INITIATORS.has(reason)) {
      throw invalidField('reason', 'not a reason that an initiator can give');
    }
    const changed = await this.#ledger.change(agreementId, (record) => {
      if (!internal) this.#mustBeParty(record, input.proof);
      return { type: 'end', reason, by: internal ? 'responder' : 'initiator' };
    });
    return this.#view(changed?.record);
  }

  async get(agreementId: string, input: GetInput): Promise<Agreement> {
    const record = await this.#ledger.find(agreementId);
    if (!('internal' in input)) this.#mustBeParty(record, input.proof);
    return this.#view(record);
  }

  async list({ state, agentId, limit = 100, cursor }: ListInput): Promise<AgreementPage> {
    const filter = { ...(state === undefined ? {} : { state }), ...(agentId === undefined ? {} : { agentId }) };
    const { store, now } = this.#context;
    const { records, nextCursor } = await store.list(filter, Math.min(Math.max(1, limit), 1_000), cursor);
    return {
      agreements: records.map((record) => toAgreement(record, now())),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    };
  }

  #view(record: AgreementRecord | undefined): Agreement {
    if (record === undefined) throw agreementUnknown();
    return toAgreement(record, this.#context.now());
  }

  #mustBeParty(record: AgreementRecord | undefined, proof: string | undefined): asserts record is AgreementRecord {
    if (record === undefined || !proofMatches(record.proofHash, proof)) throw agreementUnknown();
  }

  #ttl(record: AgreementRecord, wish: number | undefined): number {
    const agreed = record.terms.lease.ttl_seconds;
    return Math.min(Math.max(wish ?? agreed, this.#context.settings.minTtlSeconds), agreed);
  }

  async #declines(record: AgreementRecord): Promise<boolean> {
    const { renewalPolicy, settings, logger, now } = this.#context;
    if (record.renewalDeclined === true) return true;
    if (renewalPolicy === undefined) return false;
    const allowed = await withDeadline<boolean>(
      (signal) => renewalPolicy(toAgreement(record, now()), { signal }),
      settings.policyTimeoutMs,
      true,
      (error) => {
        logger.warn('The renewal policy failed; the agreement is renewed', { agreement_id: record.agreementId, error });
      },
    );
    return !allowed;
  }

  /** All calls are used up and none runs, but the process that ran the last one did not live to end the agreement. */
  async #isExhausted(record: AgreementRecord): Promise<boolean> {
    const max = record.terms.limits?.max_calls;
    if (record.state === 'ended' || max === undefined || record.callsUsed < max) return false;
    const { used, running } = await this.#context.store.usage(record.agreementId, this.#context.now());
    return used >= max && running === 0;
  }
}

/**
 * Whether the caller sees another agreement than the one that is kept. Pending, active and suspended are not told
 * apart: an answer to a confirmation may be under way, and of a suspension the other side need not know yet.
 */
function differs(record: AgreementRecord, { termsDigest, state }: RenewInput): boolean {
  return record.termsDigest !== termsDigest || state === 'ended';
}

function viewMismatch(): AppError {
  return new AppError('conflict', 'The two sides hold different agreements; this one has been ended.', {
    code: 'view_mismatch',
  });
}

function leaseRevisionStale({ leaseRevision }: AgreementRecord): AppError {
  return new AppError('conflict', `The lease is at revision ${String(leaseRevision)} already.`, {
    code: 'lease_revision_stale',
  });
}

function renewalDeclined(): AppError {
  return new AppError('conflict', 'The responder does not renew this agreement; it runs out at its end.', {
    code: 'renewal_declined',
  });
}
