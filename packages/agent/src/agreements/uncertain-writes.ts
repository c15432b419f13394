import type { AgreementRecord } from './agreement-record.js';

interface Write {
  readonly before: AgreementRecord | undefined;
  readonly after: AgreementRecord;
}

const MAX_WRITES = 1_024;

/**
 * Writes whose answer was lost: they may have been done. Whoever sees the record again knows, and the event of the
 * transition can still be told, once.
 */
export class UncertainWrites {
  readonly #writes = new Map<string, Write>();

  add(before: AgreementRecord | undefined, after: AgreementRecord): void {
    const [oldest] = this.#writes.keys();
    if (this.#writes.size >= MAX_WRITES && oldest !== undefined) this.#writes.delete(oldest);
    this.#writes.set(after.agreementId, { before, after });
  }

  get agreementIds(): readonly string[] {
    return [...this.#writes.keys()];
  }

  /** The write, when the record as it is stored now shows that it was done. */
  settle(agreementId: string, stored: AgreementRecord | undefined): Write | undefined {
    const write = this.#writes.get(agreementId);
    if (write === undefined) return undefined;
    this.#writes.delete(agreementId);
    if (stored === undefined) return undefined;
    // An id is made by one keeper only; a later version of the same record still shows that it was created.
    if (write.before === undefined) return write;
    return isSame(stored, write.after) ? write : undefined;
  }
}

function isSame(a: AgreementRecord, b: AgreementRecord): boolean {
  const identity = ({ version, state, expiresAt, suspendedAt, endedAt, endReason, endedBy }: AgreementRecord): string =>
    JSON.stringify([version, state, expiresAt, suspendedAt, endedAt, endReason, endedBy]);
  return identity(a) === identity(b);
}
