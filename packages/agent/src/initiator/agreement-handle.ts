import type { Scalar } from '../skill.js';
import type { Agreement, Terms } from '../wire/agreement.js';

/** `pending` never shows here: a handle exists once its agreement was confirmed. */
export type HandleState = 'active' | 'suspended' | 'ended';

/**
 * The initiator's living copy of an agreement: renews itself at a third of its lease, and ends by either side, by the
 * responder's refusal or by the clock. Holds the secret, and shows it to nobody but the responder.
 */
export interface AgreementHandle {
  readonly agreementId: string;
  readonly sessionId: string;
  /** The responder. */
  readonly agentId: string;
  /** Of the responder: renewals and calls go there. */
  readonly endpoint: string;
  readonly terms: Terms;
  readonly termsDigest: string;
  readonly state: HandleState;
  /** Milliseconds of the own clock; the agreement is over then unless it is renewed. */
  readonly expiresAt: number;
  /** Why it ended; undefined while it lives. */
  readonly endReason: string | undefined;
  /** What was agreed for one capability; undefined when it is not part of the terms. */
  parametersOf(capability: string): Readonly<Record<string, Scalar>> | undefined;
  /** The agreement as last told by the responder, with the state as it is seen here and without any secret. */
  snapshot(): Agreement;
  /**
   * Renews now; otherwise it happens by itself.
   * @throws AppError when the responder cannot be asked or refuses; `gone`/`agreement_ended` when it is over.
   */
  renew(signal?: AbortSignal): Promise<void>;
  /**
   * Ends the agreement here at once and tells the responder, with repeats for at most ten seconds. Idempotent.
   * @param reason `completed` (default), `released_by_initiator`, `superseded`, `breach`, `shutdown`, `operator`, ...
   * @returns the first recorded reason.
   * @throws AppError invalid_request for a reason that only the responder can know (`expired`, ...).
   */
  end(reason?: string): Promise<string>;
  /** Calls the listener once when the agreement has ended (at once if it has). Returns a function that takes it back. */
  onEnd(listener: (reason: string) => void): () => void;
}
