import type { IncomingMessage } from 'node:http';
import { CARD_PATHS, JSON_RPC_PATH, REST_PATH } from '@parley/agent';

/** Paths that both dialects have. */
const SHARED: ReadonlySet<string> = new Set([...CARD_PATHS, JSON_RPC_PATH]);
const OLD = /^0\.3(?:\.\d+)?$/u;

/** Whether a request is one of A2A 1.0; whoever says no version means 0.3. */
export function wantsCurrent(request: IncomingMessage): boolean {
  const url = request.url ?? '';
  const at = url.indexOf('?');
  const path = at === -1 ? url : url.slice(0, at);
  if (path === REST_PATH || path.startsWith(`${REST_PATH}/`)) return true;
  if (!SHARED.has(path)) return false;
  if (request.method === 'OPTIONS') return asksToSayVersion(request);
  const version = saidVersion(request, at === -1 ? '' : url.slice(at + 1));
  return version !== '' && !OLD.test(version);
}

/** The header counts; without one, the query. */
function saidVersion({ headers }: IncomingMessage, query: string): string {
  const header = headers['a2a-version'];
  if (typeof header === 'string' && header.trim() !== '') return header.trim();
  if (query === '') return '';
  for (const [name, value] of new URLSearchParams(query)) if (name.toLowerCase() === 'a2a-version') return value.trim();
  return '';
}

/** What a browser asks before it sends the header. */
function asksToSayVersion({ headers }: IncomingMessage): boolean {
  return /(?:^|,)\s*a2a-version\s*(?:,|$)/iu.test(headers['access-control-request-headers'] ?? '');
}
