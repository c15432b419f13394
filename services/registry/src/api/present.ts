import type { AgentEntry } from '../domain/agent-entry.js';
import { isoTime } from '../domain/iso-time.js';
import type { NearMiss } from '../domain/query.js';
import type { LeaseView } from '../domain/types.js';
import type { DiscoverOutcome, RegistryEvent, ResyncEvent } from '../replica/core-types.js';

export interface LeaseJson {
  readonly ttl_seconds: number;
  readonly expires_at: string;
  readonly renew_every_seconds: number;
}

export function leaseJson(lease: LeaseView): LeaseJson {
  return {
    ttl_seconds: lease.ttlMs / 1_000,
    expires_at: isoTime(lease.expiresAtMs),
    renew_every_seconds: lease.renewEveryMs / 1_000,
  };
}

/** The JSON object of an agent with its lease, parsed: for answers that are not written as text. */
export function agentJson(agent: AgentEntry): object {
  return JSON.parse(agent.render()) as object;
}

export function nearMissJson(miss: NearMiss): object {
  return {
    agent_id: miss.agentId,
    missing: miss.missing,
    version_conflicts: miss.versionConflicts,
    labels: miss.labels,
  };
}

/**
 * A page of agents as JSON text, put together from the texts that the entries hold ready:
 * parsing and printing twenty manifests again would cost more than everything else of a discovery.
 */
export function pageText(page: DiscoverOutcome): string {
  let text = '{"agents":[';
  let first = true;
  for (const agent of page.agents) {
    text += first ? agent.render() : `,${agent.render()}`;
    first = false;
  }
  text += ']';
  if (page.nextCursor !== undefined) text += `,"next_cursor":${JSON.stringify(page.nextCursor)}`;
  if (page.nearMisses !== undefined) text += `,"near_misses":${JSON.stringify(page.nearMisses.map(nearMissJson))}`;
  if (page.staleSinceMs !== undefined) text += `,"stale_since":"${isoTime(page.staleSinceMs)}"`;
  if (page.total !== undefined) text += `,"total":${String(page.total)}`;
  return `${text}}`;
}

/** How to write the text of a page: ASCII needs no look at each character, neither for its length nor for its bytes. */
export function pageEncoding(page: DiscoverOutcome): 'latin1' | 'utf8' {
  return page.nearMisses === undefined && page.agents.every(({ ascii }) => ascii) ? 'latin1' : 'utf8';
}

export function pageJson(page: DiscoverOutcome): object {
  return JSON.parse(pageText(page)) as object;
}

/** Tells readers of a stale answer so, in the words of HTTP's stale-response warning. */
export function staleHeaders(staleSinceMs: number | undefined): Readonly<Record<string, string>> {
  return staleSinceMs === undefined ? {} : { Warning: '110 - "Response is Stale"' };
}

/** One watch event in the JSON form of `parley.v1.WatchResponse`. */
export function eventJson(event: RegistryEvent | ResyncEvent): string {
  const head = `{"type":"${event.type}","revision":${String(event.revision)},"at":"${isoTime(event.atMs)}"`;
  switch (event.type) {
    case 'registered':
    case 'updated':
      return `${head},"agent_id":${JSON.stringify(event.agentId)},"agent":${event.agent.render()}}`;
    case 'expired':
    case 'deregistered':
      return `${head},"agent_id":${JSON.stringify(event.agentId)}}`;
    case 'resync':
      return `${head},"reason":"${event.reason}"}`;
    case 'agreed':
    case 'suspended':
    case 'resumed':
    case 'ended':
      return `${head},"agreement":${event.agreementJson}}`;
  }
}
