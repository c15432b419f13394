import type { JsonObject } from '../../domain/facts.js';

export type TransferFailureCode =
  | 'invalid_transfer'
  | 'grant_expired'
  | 'transfer_too_large'
  | 'integrity_mismatch'
  | 'transfer_rejected'
  | 'transfer_unavailable'
  | 'transfer_timeout';

const FAILURES: Readonly<Record<TransferFailureCode, { status: number; message: string; retryable: boolean }>> = {
  invalid_transfer: { status: 400, message: 'The transfer cannot be made as it was asked for.', retryable: false },
  grant_expired: { status: 410, message: 'The object-transfer grant has expired.', retryable: false },
  transfer_too_large: { status: 413, message: 'The transfer exceeds its configured size limit.', retryable: false },
  integrity_mismatch: {
    status: 422,
    message: 'The downloaded object does not match its descriptor.',
    retryable: false,
  },
  transfer_rejected: { status: 502, message: 'The object store rejected the transfer.', retryable: false },
  transfer_unavailable: { status: 502, message: 'The object store is temporarily unavailable.', retryable: true },
  transfer_timeout: { status: 504, message: 'The object transfer timed out.', retryable: true },
};

/** A transfer that failed. Neither the address of the store nor its answer is told: grants are credentials. */
export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
  readonly status: number;
  readonly retryable: boolean;

  constructor(
    readonly code: TransferFailureCode,
    options?: ErrorOptions,
  ) {
    super(FAILURES[code].message, options);
    this.status = FAILURES[code].status;
    this.retryable = FAILURES[code].retryable;
  }

  get body(): JsonObject {
    return { error: { code: this.code, message: this.message, retryable: this.retryable } };
  }
}
