import { DEFAULT_SESSION_BRANCH } from '@parley/harness';

/** One branch of a session. */
export interface SessionRef {
  readonly sessionId: string;
  readonly branchId: string;
}

/** `ID`, or `ID@BRANCH` for a branch that is not the main one. */
export function formatRef({ sessionId, branchId }: SessionRef): string {
  return branchId === DEFAULT_SESSION_BRANCH ? sessionId : `${sessionId}@${branchId}`;
}

export function parseRef(ref: string): SessionRef {
  const at = ref.indexOf('@');
  if (at === -1) return { sessionId: ref, branchId: DEFAULT_SESSION_BRANCH };
  return { sessionId: ref.slice(0, at), branchId: ref.slice(at + 1) };
}

/** An id that can be read and typed, and sorts by time: `20261130-0215-3fa9`. */
export function newSessionId(nowMs: number, randomHex: string): string {
  const time = new Date(nowMs).toISOString();
  return `${time.slice(0, 10).replaceAll('-', '')}-${time.slice(11, 16).replace(':', '')}-${randomHex.slice(0, 4)}`;
}
