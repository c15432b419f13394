import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER, AgentCard, AGENT_CARD_PATH, type AgentInterface } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { AppError } from '@parley/service-kit';
import { invalidAnswer } from '../../peer/peer-errors.js';

/** What agents of protocol 0.2 and early 0.3 serve. */
const OLD_CARD_PATH = '.well-known/agent.json';

export interface CardCall {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * The card of an agent: `url` itself when it names a JSON file; otherwise below its path, then at its origin, then where
 * older agents have it. Only a 404 leads on to the next place.
 */
export async function fetchCard(url: string, call: CardCall): Promise<AgentCard> {
  const headers = { accept: 'application/json', ...call.headers, [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION };
  let missing: AppError | undefined;
  for (const place of cardPlaces(url)) {
    try {
      const response = await call.fetch(place, { headers, signal: call.signal });
      return checkedCard(await response.json().catch(() => undefined));
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== 'not_found') throw error;
      missing = error;
    }
  }
  throw new AppError('not_found', 'There is no agent card at this address.', {
    code: 'card_not_found',
    cause: missing,
  });
}

function cardPlaces(text: string): readonly URL[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new AppError('invalid_request', 'The target is not an absolute http or https URL.', {
      code: 'target_invalid',
    });
  }
  if (url.pathname.endsWith('.json')) return [url];
  const atOrigin = [AGENT_CARD_PATH, OLD_CARD_PATH].map((path) => new URL(`/${path}`, url));
  if (url.pathname === '/') return atOrigin;
  const below = new URL(`${url.pathname.replace(/\/+$/u, '')}/${AGENT_CARD_PATH}`, url);
  return [below, ...atOrigin];
}

/**
 * A card of 1.0 or 0.3 in the form of 1.0.
 * @throws AppError bad_gateway for a card without a name, or without an interface that has a URL.
 */
export function checkedCard(raw: unknown): AgentCard {
  const card = normalCard(raw);
  if (typeof card?.name !== 'string' || card.name === '') throw invalidAnswer('the card has no name');
  const supportedInterfaces = (card.supportedInterfaces as readonly AgentInterface[] | undefined)?.filter(
    ({ url, protocolBinding }) => url !== '' && protocolBinding !== '',
  );
  if (supportedInterfaces === undefined || supportedInterfaces.length === 0) {
    throw invalidAnswer('the card names no interface');
  }
  return { ...card, supportedInterfaces };
}

function normalCard(raw: unknown): AgentCard | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  try {
    // A card for both generations has both forms; the newer one counts.
    if (Array.isArray((raw as Partial<AgentCard>).supportedInterfaces)) return AgentCard.fromJSON(raw);
    return new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(raw);
  } catch (cause) {
    throw invalidAnswer('the card cannot be read', cause);
  }
}
