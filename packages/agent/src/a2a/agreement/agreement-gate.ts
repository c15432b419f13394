import type { Message } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Scalar } from '../../skill.js';

/** Work that an agreement admits; counted once per agreement and message id. */
export interface AdmittedWork {
  readonly agreement: { readonly agreementId: string; readonly termsDigest: string };
  readonly capability: string;
  /** What the work is done with: the agreed parameters, complete with defaults. */
  readonly parameters: Readonly<Record<string, Scalar>>;
  /** For the metadata of the answer, under the extension's URI: `{applied, terms_digest, remaining}`. */
  readonly answerMetadata: Readonly<Record<string, unknown>>;
  /** Gives the place back; idempotent, never throws. */
  release(): Promise<void>;
}

/** Decides whether a message may be worked on. */
export interface AgreementGate {
  /**
   * @returns undefined for a message that names no agreement, where none is required.
   * @throws A2A errors with an ErrorInfo reason: AGREEMENT_UNKNOWN, AGREEMENT_ENDED, AGREEMENT_SUSPENDED,
   * AGREEMENT_SCOPE, AGREEMENT_LIMIT, AGREEMENT_TERMS_MISMATCH; ExtensionSupportRequired where one is required.
   */
  admit(message: Message, context: ServerCallContext): Promise<AdmittedWork | undefined>;
}
