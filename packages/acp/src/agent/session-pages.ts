import type { ListSessionsResponse } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { invalidParams } from './rpc-failures.js';
import type { SessionFacts } from './session-directory.js';

const PAGE_SIZE = 50;

type Place = Pick<SessionFacts, 'updatedAt' | 'sessionId'>;
const placeSchema = z.tuple([z.number(), z.string()]);

/**
 * One page of sessions, newest first. A cursor is the place of the last one before: sessions that come and go meanwhile
 * make no other appear twice.
 *
 * @throws -32602 for a cursor that was not given out here.
 */
export function sessionPage(
  all: readonly SessionFacts[],
  { cwd, cursor }: { readonly cwd?: string | null | undefined; readonly cursor?: string | null | undefined },
): ListSessionsResponse {
  const after = cursor === undefined || cursor === null ? undefined : readCursor(cursor);
  const fitting = all
    .filter((facts) => (cwd ?? facts.cwd) === facts.cwd && (after === undefined || compare(facts, after) > 0))
    .toSorted(compare);
  const page = fitting.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  return {
    sessions: page.map(({ sessionId, cwd: folder, title, updatedAt }) => ({
      sessionId,
      cwd: folder,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
    })),
    ...(last !== undefined && fitting.length > page.length && { nextCursor: writeCursor(last) }),
  };
}

/** Those with one time are ordered by their ids, so that each has its place. */
function compare(one: Place, other: Place): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt;
  if (one.sessionId === other.sessionId) return 0;
  return one.sessionId < other.sessionId ? -1 : 1;
}

function writeCursor({ updatedAt, sessionId }: Place): string {
  return Buffer.from(JSON.stringify([updatedAt, sessionId])).toString('base64url');
}

function readCursor(cursor: string): Place {
  try {
    const [updatedAt, sessionId] = placeSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { updatedAt, sessionId };
  } catch {
    throw invalidParams({ path: 'cursor', message: 'is none that was given out' });
  }
}
