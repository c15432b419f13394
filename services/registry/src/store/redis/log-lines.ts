import type { AgreementChangeType, Change, Renewal } from '../../domain/types.js';
import { asArray, asFields, asNumber, asText } from './reply.js';

export interface LogLine {
  readonly change: Change;
  readonly mark: string;
}

/** Reads one entry of the stream of changes. @throws TypeError when it is not one of ours. */
export function readLine(entry: unknown): LogLine {
  const [streamId, flat] = asArray(entry);
  const revision = Number.parseInt(asText(streamId), 10);
  const fields = asFields(flat);
  const type = asText(fields.get('type'));
  const id = asText(fields.get('id'));
  const atMs = asNumber(fields.get('at'));
  return { change: toChange(type, id, revision, atMs, fields), mark: markOf(type, id, atMs) };
}

/** Tells the line from another one that has got the same revision in another life of the log. */
export function markOf(type: string, id: string, atMs: number): string {
  return `${type}/${id}/${String(atMs)}`;
}

function toChange(
  type: string,
  id: string,
  revision: number,
  atMs: number,
  fields: ReadonlyMap<string, string>,
): Change {
  switch (type) {
    case 'registered':
    case 'updated': {
      const ttlMs = asNumber(fields.get('ttl'));
      const deadlineMs = asNumber(fields.get('deadline'));
      const manifestJson = asText(fields.get('json'));
      const record = { agentId: id, manifestJson, ttlMs, deadlineMs, revision, registeredAtMs: atMs };
      return { type, revision, atMs, agentId: id, record };
    }
    case 'expired':
    case 'deregistered':
      return { type, revision, atMs, agentId: id };
    default:
      return {
        type: type as AgreementChangeType,
        revision,
        atMs,
        agreementId: id,
        agreementJson: asText(fields.get('json')),
      };
  }
}

/** One entry of the stream of renewals: who sent it, and `[[agent id, revision, deadline], ...]`. */
export function packRenewals(renewals: readonly Renewal[]): string {
  return JSON.stringify(renewals.map(({ agentId, revision, deadlineMs }) => [agentId, revision, deadlineMs]));
}

export function unpackRenewals(text: string): Renewal[] {
  return (JSON.parse(text) as [string, number, number][]).map(([agentId, revision, deadlineMs]) => ({
    agentId,
    revision,
    deadlineMs,
  }));
}
