import { invalidField } from '@parley/service-kit';
import type { AgreementRecord } from './agreement-record.js';
import type { ListFilter } from './agreement-store.js';

type Position = Pick<AgreementRecord, 'createdAt' | 'agreementId'>;

/** Newest first; of the same time, the greater id first. */
export function newestFirst(a: Position, b: Position): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.agreementId < b.agreementId ? 1 : a.agreementId > b.agreementId ? -1 : 0;
}

export function matchesFilter(record: AgreementRecord, { state, agentId }: ListFilter): boolean {
  if (state !== undefined && record.state !== state) return false;
  return agentId === undefined || record.initiator === agentId || record.responder === agentId;
}

/** Names the last one of a page: the next page begins behind it. */
export function cursorOf({ createdAt, agreementId }: Position): string {
  return `${String(createdAt)}.${agreementId}`;
}

/** @throws AppError `invalid_request` for a text that is no cursor. */
export function parseCursor(cursor: string): Position {
  const [, createdAt, agreementId] = /^(\d{1,16})\.(.{1,128})$/.exec(cursor) ?? [];
  if (createdAt === undefined || agreementId === undefined) throw invalidField('cursor', 'not a cursor of this list');
  return { createdAt: Number(createdAt), agreementId };
}
