import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import type { AgreementCommand, AgreementFilter, AgreementPage, StoredAgreement } from '../store.js';
import type { Keys } from './keys.js';
import { asArray, asNumber, asText } from './reply.js';
import type { ScriptRunner } from './script-runner.js';
import { LIST_AGREEMENTS, RECORD_AGREEMENT } from './scripts/agreements.js';

const LOOKED_AT_ONCE = 500;
/** A page may come out short, with a cursor, rather than take long. */
const MAX_ROUNDS = 20;

export interface AgreementSource {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly runner: ScriptRunner;
  readonly maxAgreements: number;
}

export async function recordAgreement(
  { runner, maxAgreements }: AgreementSource,
  command: AgreementCommand,
): Promise<{ readonly recorded: boolean; readonly revision?: number }> {
  const { agreementId, version, state, parties, json, ttlMs, changeType } = command;
  const args = [agreementId, version, state, ...parties, json, ttlMs, changeType, maxAgreements];
  const [recorded, , revision] = await runner.runInTime(RECORD_AGREEMENT, args);
  return recorded === 1 ? { recorded: true, revision: asNumber(revision) } : { recorded: false };
}

export async function getAgreement(
  { redis, keys }: AgreementSource,
  agreementId: string,
): Promise<StoredAgreement | undefined> {
  try {
    const [version, state, json] = await redis.hmget(
      `${keys.agreementPrefix}${agreementId}`,
      'version',
      'state',
      'json',
    );
    if (typeof version !== 'string' || typeof state !== 'string' || typeof json !== 'string') return undefined;
    return { agreementId, version: Number(version), state, json };
  } catch (error) {
    throw storeUnavailable(error);
  }
}

export async function listAgreements({ runner }: AgreementSource, filter: AgreementFilter): Promise<AgreementPage> {
  const { limit } = filter;
  const found: StoredAgreement[] = [];
  let after = filter.afterId;
  // One more than asked for tells whether there is a next page.
  for (let round = 0; round < MAX_ROUNDS && found.length <= limit; round++) {
    const place = after === undefined ? '-' : `(${after}`;
    const args = [place, limit + 1 - found.length, LOOKED_AT_ONCE, filter.state ?? '', filter.agentId ?? ''];
    const [, last, page] = await runner.run(LIST_AGREEMENTS, args);
    found.push(...asArray(page).map(toAgreement));
    if (last === null) return cut(found, limit);
    after = asText(last);
  }
  if (found.length > limit || after === undefined) return cut(found, limit);
  return { agreements: found, nextAfterId: after };
}

function cut(found: readonly StoredAgreement[], limit: number): AgreementPage {
  const agreements = found.slice(0, limit);
  const last = agreements.at(-1);
  return found.length > limit && last !== undefined ? { agreements, nextAfterId: last.agreementId } : { agreements };
}

function toAgreement(reply: unknown): StoredAgreement {
  const [agreementId, version, state, json] = asArray(reply);
  return { agreementId: asText(agreementId), version: asNumber(version), state: asText(state), json: asText(json) };
}
