import type { Message } from '@a2a-js/sdk';
import { ExtensionSupportRequiredError } from '@a2a-js/sdk/errors';
import { STATE_HEADERS_KEY, type ServerCallContext } from '@a2a-js/sdk/server';
import { AppError, validate } from '@parley/service-kit';
import { z } from 'zod';
import type { AgreementKeeper, CallReservation } from '../../agreements/index.js';
import { callId } from '../../wire/agreement.js';
import {
  AGREEMENT_EXTENSION,
  AGREEMENT_PROOF_HEADER,
  agreementMetadata,
  type AgreementMetadata,
} from './agreement-extension.js';
import type { AdmittedWork, AgreementGate } from './agreement-gate.js';

export interface AgreementGateOptions {
  readonly keeper: Pick<AgreementKeeper, 'reserveCall' | 'get'>;
  /** Whether a message without an agreement is refused. */
  readonly required: boolean;
}

/** As the parts of a message that the gate reads are called in errors. */
const requestShape = z.object({
  message: z.object({ messageId: callId, metadata: z.object({ [AGREEMENT_EXTENSION]: agreementMetadata }) }),
});

/** Admits messages under the agreements of a keeper, in the order of the keeper's own checks. */
export function createAgreementGate({ keeper, required }: AgreementGateOptions): AgreementGate {
  return {
    admit: async (message, context) => {
      const asked = context.requestedExtensions?.includes(AGREEMENT_EXTENSION) === true;
      // Active also for a message without an agreement: its sender learns that one would have been honoured.
      if (asked) context.addActivatedExtension(AGREEMENT_EXTENSION);
      if (message.metadata?.[AGREEMENT_EXTENSION] === undefined) {
        if (required) throw extensionRequired('This agent works under agreements only');
        return undefined;
      }
      // Whoever does not ask for the extension gets no answer in its words, and would not know what was applied.
      if (!asked) {
        throw extensionRequired('A message that names an agreement must ask for the extension');
      }
      const named = namedAgreement(message);
      const proof = proofOf(context);
      const capability = named.capability ?? (await onlyCapability(keeper, named, proof));
      const reservation = await reserve(keeper, named, capability, { callId: message.messageId, proof });
      return admitted(named, capability ?? '', reservation);
    },
  };
}

function extensionRequired(why: string): Error {
  return new ExtensionSupportRequiredError(`${why}: send A2A-Extensions: ${AGREEMENT_EXTENSION}.`);
}

function namedAgreement({ messageId, metadata }: Message): AgreementMetadata {
  return validate(requestShape, { message: { messageId, metadata } }).message.metadata[AGREEMENT_EXTENSION];
}

/** Several headers of the name are none: which one counts must not depend on the wire. */
function proofOf(context: ServerCallContext): string | undefined {
  const headers = context.state.get(STATE_HEADERS_KEY) as Readonly<Record<string, unknown>> | undefined;
  const value = headers?.[AGREEMENT_PROOF_HEADER];
  const [first, ...others] = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return typeof first === 'string' && others.length === 0 ? first : undefined;
}

/** Undefined when several were agreed. @throws AppError agreement_unknown, also for whoever is no party. */
async function onlyCapability(
  keeper: AgreementGateOptions['keeper'],
  { agreement_id }: AgreementMetadata,
  proof: string | undefined,
): Promise<string | undefined> {
  const { terms } = await keeper.get(agreement_id, { proof });
  const [first, ...others] = terms.capabilities;
  return others.length === 0 ? first?.name : undefined;
}

async function reserve(
  keeper: AgreementGateOptions['keeper'],
  { agreement_id, terms_digest, parameters }: AgreementMetadata,
  capability: string | undefined,
  call: { readonly callId: string; readonly proof: string | undefined },
): Promise<CallReservation> {
  try {
    return await keeper.reserveCall({
      agreementId: agreement_id,
      termsDigest: terms_digest,
      // No agreement has a capability without a name: what comes before it in the order is still checked.
      capability: capability ?? '',
      ...(parameters === undefined ? {} : { parameters }),
      ...call,
    });
  } catch (error) {
    if (capability !== undefined || !(error instanceof AppError) || error.code !== 'agreement_scope') throw error;
    const field = { path: 'capability', message: 'must be named: several were agreed' };
    throw new AppError('forbidden', `${field.path}: ${field.message}`, { code: 'agreement_scope', errors: [field] });
  }
}

function admitted(
  { agreement_id: agreementId, terms_digest: termsDigest }: AgreementMetadata,
  capability: string,
  reservation: CallReservation,
): AdmittedWork {
  const { applied, remaining } = reservation;
  return {
    agreement: { agreementId, termsDigest },
    capability,
    parameters: applied,
    answerMetadata: { applied: { ...applied }, terms_digest: termsDigest, remaining: { ...remaining } },
    release: () => reservation.release(),
  };
}
