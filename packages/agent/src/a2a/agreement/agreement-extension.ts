import type { AgentExtension } from '@a2a-js/sdk';
import { z } from 'zod';
import type { OfferedCapabilities } from '../../negotiation/match-capabilities.js';
import { agreementId, parameterMap } from '../../wire/agreement.js';
import { capabilityName, termsDigest } from '../../wire/identifiers.js';

/** The extension by which a message belongs to an agreement; also the name of its metadata. */
export const AGREEMENT_EXTENSION = 'urn:parley:agreement:v1';

/** Header, or gRPC metadata, with the secret of the initiator. A message would keep it with its task. */
export const AGREEMENT_PROOF_HEADER = 'parley-agreement-proof';

/** `message.metadata[AGREEMENT_EXTENSION]`. */
export const agreementMetadata = z.strictObject({
  agreement_id: agreementId,
  terms_digest: termsDigest,
  /** Needed when the agreement has several. */
  capability: capabilityName.optional(),
  /** Equal to what was agreed, or left out. */
  parameters: parameterMap.optional(),
});
export type AgreementMetadata = z.output<typeof agreementMetadata>;

export interface AgreementExtensionOptions {
  /** What can be negotiated; of a manifest: `offeredCapabilities(manifest)`. */
  readonly capabilities: OfferedCapabilities;
  /** Whether a message without an agreement is refused. Default false. */
  readonly required?: boolean;
}

/** How a card declares the extension: `params` says what can be agreed on, by capability. */
export function agreementExtension({ capabilities, required = false }: AgreementExtensionOptions): AgentExtension {
  const params = Object.fromEntries(
    [...capabilities].map(([name, { version, description, parameters }]) => [
      name,
      {
        ...(version === undefined ? {} : { version }),
        ...(description === undefined ? {} : { description }),
        parameters: parameters ?? {},
      },
    ]),
  );
  return {
    uri: AGREEMENT_EXTENSION,
    description: 'Work under an agreement that was negotiated before: with its parameters, within its limits.',
    required,
    // What is shared with the manifest must not be changed through the card.
    params: structuredClone({ capabilities: params }),
  };
}
