import type { AgentCard } from '@a2a-js/sdk';
import type { Metrics } from '@parley/service-kit';
import type { Request, Response } from 'express';
import { protocolFailure } from '../errors/a2a-failure.js';
import { restError } from '../errors/wire-errors.js';
import { LEGACY, minorVersion } from '../protocol-version.js';
import { currentDocument, legacyDocument, type CardDocument } from './card-documents.js';

/** `agent.json` is where clients of 0.2 look. */
export const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

const MAX_AGE_SECONDS = 300;

export interface CardEndpointOptions {
  readonly card: AgentCard;
  readonly compat: boolean;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  readonly metrics: Metrics | undefined;
}

/** Serves the card from bytes that are made once. */
export function cardEndpoint(options: CardEndpointOptions) {
  const current = currentDocument(options.card);
  const legacy = options.compat ? legacyDocument(options.card) : current;
  // HTTP dates have whole seconds.
  const modified = Math.floor(options.lastModified / 1_000) * 1_000;
  return (request: Request, response: Response): void => {
    const started = performance.now();
    const version = versionOf(request);
    const chosen = version === undefined || version === LEGACY ? legacy : current;
    response.append('Vary', 'A2A-Version');
    if (request.method === 'GET' || request.method === 'HEAD') send(request, response, chosen, modified);
    else refuse(request, response);
    const seconds = (performance.now() - started) / 1_000;
    options.metrics?.httpRequest(request.method, CARD_PATHS[0] ?? '', response.statusCode, seconds);
  };
}

function versionOf(request: Request): string | undefined {
  const header = request.headers['a2a-version'];
  if (typeof header === 'string') return minorVersion(header);
  const query = new URLSearchParams(request.url.split('?')[1]);
  return minorVersion(query.get('A2A-Version') ?? query.get('a2a-version') ?? undefined);
}

function send(request: Request, response: Response, { body, etag }: CardDocument, modified: number): void {
  response.setHeader('ETag', etag);
  response.setHeader('Last-Modified', new Date(modified).toUTCString());
  response.setHeader('Cache-Control', `public, max-age=${String(MAX_AGE_SECONDS)}`);
  if (isKnown(request, etag, modified)) {
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', body.length);
  response.status(200);
  if (request.method === 'HEAD') response.end();
  else response.end(body);
}

/** RFC 9110, section 13.2.2: with a list of tags, the date does not count. */
function isKnown(request: Request, etag: string, modified: number): boolean {
  const tags = request.headers['if-none-match'];
  if (tags !== undefined) return tags.trim() === '*' || (tags.match(/(?:W\/)?"[^"]*"/g) ?? []).some(sameTag(etag));
  const since = Date.parse(request.headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && modified <= since;
}

/** The weak comparison, as for If-None-Match. */
function sameTag(etag: string): (tag: string) => boolean {
  return (tag) => tag.replace(/^W\//, '') === etag;
}

function refuse(request: Request, response: Response): void {
  response.setHeader('Allow', 'GET, HEAD, OPTIONS');
  const failure = protocolFailure('METHOD_NOT_ALLOWED', `${request.method} is not allowed here.`);
  response
    .status(failure.http)
    .type('application/json')
    .send(JSON.stringify(restError(failure)));
}
