import type { NegotiationAttempt } from '@parley/agent';
import { ProxySearchFailed } from './proxy-search-failed.js';

/** Named at most. */
const MAX_NAMED = 8;
const MAX_NAME = 64;

/** What it means that nobody of those who were asked agreed. */
export function explainAttempts(
  attempts: readonly NegotiationAttempt[],
  { registryUrl, capability }: { readonly registryUrl: string; readonly capability: string },
): ProxySearchFailed {
  if (attempts.length === 0) {
    return new ProxySearchFailed('nobody_playable', `nobody at ${registryUrl} offers ${capability}`);
  }
  const taken = attempts.filter(isTaken);
  if (taken.length === attempts.length) {
    return new ProxySearchFailed('all_taken', `all proxies at ${registryUrl} are taken: ${named(taken, nameOf)}`);
  }
  // Those that give no answer are not there: the others decide what there is to say.
  const others = attempts.filter((attempt) => !isTaken(attempt) && !isAway(attempt));
  const code = taken.length > 0 && others.length === 0 ? 'all_taken' : 'no_agreement';
  return new ProxySearchFailed(code, `no proxy at ${registryUrl} can be had: ${named(attempts, described)}`);
}

function isTaken({ outcome, reason }: NegotiationAttempt): boolean {
  return outcome === 'declined' && reason === 'capacity';
}

function isAway({ outcome }: NegotiationAttempt): boolean {
  return outcome === 'timeout' || outcome === 'unreachable';
}

function described(attempt: NegotiationAttempt): string {
  if (isTaken(attempt)) return `${nameOf(attempt)} taken`;
  const { outcome, reason } = attempt;
  const isSaid = outcome === 'declined' && reason !== undefined;
  return `${nameOf(attempt)} ${outcome.replaceAll('_', ' ')}${isSaid ? ` (${reason.slice(0, MAX_NAME)})` : ''}`;
}

function named(attempts: readonly NegotiationAttempt[], describe: (attempt: NegotiationAttempt) => string): string {
  const shown = attempts.slice(0, MAX_NAMED).map(describe).join(', ');
  return attempts.length <= MAX_NAMED ? shown : `${shown} and ${attempts.length - MAX_NAMED} more`;
}

function nameOf({ agent_id: id }: NegotiationAttempt): string {
  return id.length <= MAX_NAME ? id : `${id.slice(0, MAX_NAME)}…`;
}
