import type { AppError } from '@parley/service-kit';
import type { AttemptOutcome } from '../registry-client/wire.js';
import type { Scalar } from '../skill.js';
import type { AgreementLimits } from '../wire/agreement.js';
import type { Offer } from '../wire/answers.js';
import type { AgreementHandle } from './agreement-handle.js';

export interface NegotiationTarget {
  /** When it is known, an answer in another name is refused. */
  readonly agentId?: string;
  readonly endpoint: string;
}

/** What an initiator asks for. */
export interface NegotiationWish {
  /** `name` or `name@range`. */
  readonly capabilities: readonly string[];
  /** By `name` (every capability that declares it) or `capability/name`. */
  readonly parameters?: Readonly<Record<string, Scalar>>;
  /** Parameters the responder must understand; others it may leave out, and names them then. */
  readonly requiredParameters?: readonly string[];
  readonly agreementTtlSeconds?: number;
  readonly limits?: AgreementLimits;
  /** For the log of the other side. */
  readonly message?: string;
}

/** Which values other than the one asked for are welcome. */
export interface AcceptableValue {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly Scalar[];
}

/** True takes the offer, false declines it; parameters go back as a proposal of our own. */
export type CounterVerdict = boolean | { readonly parameters: Readonly<Record<string, Scalar>> };

export interface CounterRules {
  /** Decides about counter-offers; text from the peer should not. Default: `acceptable`. */
  readonly acceptCounter?: (offer: Offer, wish: NegotiationWish) => CounterVerdict;
  /** Takes every counter. Default false. */
  readonly acceptCounters?: boolean;
  /** By the same names as the parameters. A counter that changes anything else is declined. */
  readonly acceptable?: Readonly<Record<string, AcceptableValue>>;
}

export interface NegotiateOptions extends CounterRules, Omit<NegotiationWish, 'capabilities' | 'parameters'> {
  readonly signal?: AbortSignal;
  /** For the whole negotiation with one responder, confirmation included. Default 5,000. */
  readonly timeoutMs?: number;
  /** Own bound on rounds; the smaller of both sides counts. Default 4. */
  readonly maxRounds?: number;
}

/** Why there is no agreement; `code` is the responder's own where it gave one. */
export interface NoAgreement {
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

interface ResultBase {
  readonly sessionId: string;
  /** Undefined when the responder never said who it is. */
  readonly agentId: string | undefined;
  readonly durationMs: number;
}

export type NegotiationResult =
  | (ResultBase & {
      readonly accepted: true;
      readonly outcome: 'accepted';
      readonly agreement: AgreementHandle;
      /** As the responder answered them: complete and effective. */
      readonly parameters: Readonly<Record<string, Scalar>>;
      /** Asked for, but not declared by any requested capability: not in force. */
      readonly unsupportedParameters: readonly string[];
    })
  | (ResultBase & {
      readonly accepted: false;
      readonly outcome: Exclude<AttemptOutcome, 'accepted'>;
      readonly reason: NoAgreement;
      /** The last counter-offer that was not taken. */
      readonly offer?: Offer;
      /** What failed, when it was no answer. */
      readonly error?: AppError;
    });
