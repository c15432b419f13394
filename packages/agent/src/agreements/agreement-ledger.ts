import type { Absence } from './absence.js';
import { agreementBusy } from './agreement-errors.js';
import type { AgreementRecord } from './agreement-record.js';
import type { CommitResult, SessionCommit } from './agreement-store.js';
import type { EventHub } from './event-hub.js';
import type { KeeperContext } from './keeper-context.js';
import { applyChange, deadlineOf, isDue, leaseDeadline, type AgreementChange, type Deadline } from './transitions.js';
import { UncertainWrites } from './uncertain-writes.js';

export interface Changed {
  readonly record: AgreementRecord;
  /** False: nothing had to be done, or somebody else had done it. */
  readonly changed: boolean;
}

const MAX_ATTEMPTS = 16;

/**
 * The one way in which agreements are read and changed: what is past its deadline is ended before anybody sees it,
 * each change is one compare-and-set, and whoever wins it publishes the event.
 */
export class AgreementLedger {
  readonly #context: KeeperContext;
  readonly #events: EventHub;
  readonly #absence: Absence;
  readonly #uncertain = new UncertainWrites();

  constructor(context: KeeperContext, events: EventHub, absence: Absence) {
    this.#context = context;
    this.#events = events;
    this.#absence = absence;
  }

  /** The agreement as it is at `now`; reading one that is past its deadline ends it. */
  async find(agreementId: string, now = this.#context.now()): Promise<AgreementRecord | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const record = await this.#read(agreementId);
      if (record === undefined || !isDue(record, now)) return record;
      await this.#absence.settle();
      const after = await this.#endIfDue(await this.#read(agreementId), now);
      if (after !== 'changed meanwhile') return after;
    }
    throw agreementBusy();
  }

  /**
   * Changes an agreement as `decide` says of its present state; undefined leaves it as it is.
   * @returns undefined when there is no such agreement.
   */
  async change(
    agreementId: string,
    decide: (record: AgreementRecord, now: number) => AgreementChange | undefined,
  ): Promise<Changed | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const record = await this.find(agreementId);
      if (record === undefined) return undefined;
      const now = this.#context.now();
      const change = decide(record, now);
      const next = change === undefined ? undefined : applyChange(record, change, now);
      if (next === undefined) return { record, changed: false };
      if (await this.#write(record, next)) return { record: next, changed: true };
    }
    throw agreementBusy();
  }

  /** Stores a session, with the agreement that came out of it if there is one. */
  async commit(commit: SessionCommit): Promise<CommitResult> {
    const { agreement } = commit;
    try {
      const result = await this.#context.store.commit(commit);
      if (result === 'done' && agreement !== undefined) this.#events.publish(undefined, agreement);
      return result;
    } catch (error) {
      if (agreement !== undefined) this.#uncertain.add(undefined, agreement);
      throw error;
    }
  }

  /** Looks after writes whose answer was lost. */
  async settleUncertain(): Promise<void> {
    for (const agreementId of this.#uncertain.agreementIds) await this.#read(agreementId);
  }

  /** One more lease, without looking at the deadline that has passed. */
  async spare(record: AgreementRecord): Promise<void> {
    const next = applyChange(record, { type: 'spare' }, this.#context.now());
    if (next !== undefined) await this.#write(record, next);
  }

  async #read(agreementId: string): Promise<AgreementRecord | undefined> {
    const record = await this.#context.store.get(agreementId);
    const done = this.#uncertain.settle(agreementId, record);
    if (done !== undefined) this.#events.publish(done.before, done.after);
    return record;
  }

  async #endIfDue(
    record: AgreementRecord | undefined,
    now: number,
  ): Promise<AgreementRecord | undefined | 'changed meanwhile'> {
    if (record === undefined) return undefined;
    const deadline = await this.#deadlineOf(record, now);
    if (deadline === undefined || deadline.at > now) return record;
    const next = applyChange(record, { type: 'end', reason: deadline.reason, by: 'keeper' }, now);
    if (next === undefined) return record;
    return (await this.#write(record, next)) ? next : 'changed meanwhile';
  }

  async #deadlineOf(record: AgreementRecord, now: number): Promise<Deadline | undefined> {
    const deadline = deadlineOf(record);
    if (deadline?.reason !== 'released_by_responder') return deadline;
    // An agreement under which a call still runs is not idle.
    const { running } = await this.#context.store.usage(record.agreementId, now);
    return running > 0 ? leaseDeadline(record) : deadline;
  }

  async #write(before: AgreementRecord, after: AgreementRecord): Promise<boolean> {
    try {
      const done = await this.#context.store.compareAndSet(before.version, after);
      if (done) this.#events.publish(before, after);
      return done;
    } catch (error) {
      this.#uncertain.add(before, after);
      throw error;
    }
  }
}
