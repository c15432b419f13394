import type { SessionRecord } from '../src/negotiation/session-record.js';
import { START } from './keeper-fixture.js';

/** A session that ended with a decline, changed by `over`. */
export function sessionRecord(over: Partial<SessionRecord> = {}): SessionRecord {
  return {
    initiator: 'agent_A',
    sessionId: 'session-1',
    version: 1,
    state: 'declined',
    round: 1,
    maxRounds: 4,
    supersededOfferIds: [],
    answers: {},
    expiresAt: START + 600_000,
    ...over,
  };
}
