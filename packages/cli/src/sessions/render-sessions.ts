import { neutraliseLine } from '../ui/neutralise.js';
import { counted } from '../ui/numbers.js';
import { truncate } from '../ui/text-width.js';
import type { SessionSummary } from './sessions.js';

const MAX_TITLE_WIDTH = 60;

/** One row for a stored session: `ID  2026-11-30 02:15  4 messages  title`. Times are UTC. */
export function sessionRow(session: SessionSummary, refWidth = 0): string {
  const time = new Date(session.updatedAt).toISOString().slice(0, 16).replace('T', ' ');
  const title = session.title === '' ? '(nothing asked)' : truncate(neutraliseLine(session.title), MAX_TITLE_WIDTH);
  return `${neutraliseLine(session.ref).padEnd(refWidth)}  ${time}  ${counted(session.messageCount, 'message')}  ${title}`;
}

/** Rows with their columns in line. */
export function sessionRows(sessions: readonly SessionSummary[]): string[] {
  const width = Math.max(0, ...sessions.map(({ ref }) => ref.length));
  return sessions.map((session) => sessionRow(session, width));
}
