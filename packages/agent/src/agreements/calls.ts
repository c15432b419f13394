import { AppError } from '@parley/service-kit';
import { proofMatches } from '../negotiation/proof.js';
import type { Scalar } from '../skill.js';
import { splitParameterKey, type CapabilityTerms } from '../wire/agreement.js';
import {
  agreementBusy,
  agreementEnded,
  agreementSuspended,
  agreementUnknown,
  termsMismatch,
} from './agreement-errors.js';
import type { AgreementLedger } from './agreement-ledger.js';
import type { AgreementRecord } from './agreement-record.js';
import type { CallClaimResult } from './agreement-store.js';
import type { KeeperContext } from './keeper-context.js';
import type { CallReservation, ReserveCallInput } from './keeper-types.js';

const MAX_ATTEMPTS = 4;

/** Admits calls under agreements and counts them. */
export class Calls {
  readonly #context: KeeperContext;
  readonly #ledger: AgreementLedger;

  constructor(context: KeeperContext, ledger: AgreementLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  async reserve(input: ReserveCallInput): Promise<CallReservation> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { record, capability } = this.#check(await this.#ledger.find(input.agreementId), input);
      // The first call that would be allowed says what a confirmation says.
      if (record.state === 'pending') {
        await this.#ledger.change(record.agreementId, ({ state }) =>
          state === 'pending' ? { type: 'confirm' } : undefined,
        );
      }
      const claim = await this.#claim(record, input.callId);
      // Ended or suspended since it was read: the next look says which.
      if (claim.outcome !== 'not_active') return this.#reservation(record, capability, input.callId, claim);
    }
    throw agreementBusy();
  }

  #check(
    record: AgreementRecord | undefined,
    input: ReserveCallInput,
  ): { readonly record: AgreementRecord; readonly capability: CapabilityTerms } {
    if (record === undefined || !proofMatches(record.proofHash, input.proof)) throw agreementUnknown();
    if (record.state === 'ended') throw agreementEnded(record);
    if (record.state === 'suspended') throw agreementSuspended(record, this.#context.now());
    if (record.termsDigest !== input.termsDigest) throw termsMismatch();
    const capability = record.terms.capabilities.find(({ name }) => name === input.capability);
    if (capability === undefined) throw outOfScope('capability', 'not part of the agreement');
    const wrong = parameterOutOfScope(capability, input.parameters ?? {});
    if (wrong !== undefined) throw outOfScope(`parameters.${wrong}`, 'not what was agreed');
    return { record, capability };
  }

  #claim({ agreementId, terms }: AgreementRecord, callId: string): Promise<CallClaimResult> {
    const { store, settings, now } = this.#context;
    const { max_calls, max_concurrent_calls } = terms.limits ?? {};
    const at = now();
    return store.claimCall({
      agreementId,
      callId,
      now: at,
      runsUntil: at + settings.callDeadlineMs,
      ...(max_calls === undefined ? {} : { maxCalls: max_calls }),
      ...(max_concurrent_calls === undefined ? {} : { maxConcurrentCalls: max_concurrent_calls }),
    });
  }

  #reservation(
    record: AgreementRecord,
    capability: CapabilityTerms,
    callId: string,
    { outcome, used, holdsPlace }: CallClaimResult,
  ): CallReservation {
    if (outcome === 'exhausted') throw limitReached('All calls of the agreement have been used.');
    if (outcome === 'busy') throw limitReached('As many calls as agreed run at the moment.', 1);
    const max = record.terms.limits?.max_calls;
    let held = holdsPlace;
    return {
      applied: { ...capability.parameters },
      termsDigest: record.termsDigest,
      remaining: max === undefined ? {} : { calls: Math.max(0, max - used) },
      repeated: outcome === 'repeated',
      initiator: record.initiator,
      release: async () => {
        if (!held) return;
        held = false;
        await this.#release(record.agreementId, callId, max);
      },
    };
  }

  async #release(agreementId: string, callId: string, maxCalls: number | undefined): Promise<void> {
    const { store, now, logger } = this.#context;
    try {
      const { used, running } = await store.releaseCall(agreementId, callId, now());
      if (maxCalls === undefined || used < maxCalls || running > 0) return;
      await this.#ledger.change(agreementId, () => ({ type: 'end', reason: 'limit_exhausted', by: 'keeper' }));
    } catch (error) {
      // The place frees itself at the call's deadline, the agreement ends with its lease.
      logger.warn('A finished call could not be given back', { agreement_id: agreementId, call_id: callId, error });
    }
  }
}

/** The key of the first parameter that was not agreed so. */
function parameterOutOfScope(
  { name: capability, parameters }: CapabilityTerms,
  given: Readonly<Record<string, Scalar>>,
): string | undefined {
  const agreed = new Map(Object.entries(parameters ?? {}));
  return Object.keys(given).find((key) => {
    const split = splitParameterKey(key);
    if (split.capability !== undefined && split.capability !== capability) return true;
    return agreed.get(split.name) !== given[key];
  });
}

function outOfScope(path: string, message: string): AppError {
  return new AppError('forbidden', `${path}: ${message}`, { code: 'agreement_scope', errors: [{ path, message }] });
}

function limitReached(message: string, retryAfterSeconds?: number): AppError {
  return new AppError('too_many_requests', message, {
    code: 'agreement_limit',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
