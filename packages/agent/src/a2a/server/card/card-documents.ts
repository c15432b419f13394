import { createHash } from 'node:crypto';
import { AgentCard } from '@a2a-js/sdk';
import { LEGACY } from '../protocol-version.js';

export interface CardDocument {
  readonly body: Buffer;
  readonly etag: string;
}

type Members = Record<string, unknown>;

/** The card of protocol 1.0. */
export function currentDocument(card: AgentCard): CardDocument {
  return document(AgentCard.toJSON(card) as Members);
}

/**
 * The card for those who say no version or 0.3: that of 1.0 whole, with the members of 0.3 beside it. The two do not
 * contradict each other, so that a reader of either finds all that it knows.
 */
export function legacyDocument(card: AgentCard): CardDocument {
  const [first, ...others] = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === LEGACY);
  const whole = AgentCard.toJSON(card) as Members;
  if (first === undefined) return document(whole);
  return document({
    ...whole,
    protocolVersion: LEGACY,
    url: first.url,
    preferredTransport: first.protocolBinding,
    additionalInterfaces: others.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })),
    supportsAuthenticatedExtendedCard: card.capabilities?.extendedAgentCard ?? false,
  });
}

function document(json: Members): CardDocument {
  // Old readers want these also where they are empty.
  const complete = { skills: [], defaultInputModes: [], defaultOutputModes: [], ...json };
  const body = Buffer.from(JSON.stringify(complete));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
