/** Where things lie in Redis; one hash tag, so that a cluster keeps everything of one agent in one place. */
export interface AgreementKeys {
  /** Hash: `doc` (JSON), `version`, `state`, `used`, `last` (time of the last call). */
  agreement(agreementId: string): string;
  /** Sorted set: call ids by the time they were first or last claimed. */
  calls(agreementId: string): string;
  /** Sorted set: running call ids by the time until which. */
  running(agreementId: string): string;
  /** Hash: `doc`, `version`. */
  session(initiator: string, sessionId: string): string;
  /** The initiator's secret made here, apart from its session because it lives shorter. */
  secret(initiator: string, sessionId: string): string;
  /** Sorted set: what an initiator has open, by the time until which. */
  open(initiator: string): string;
  /** Sorted set: agreements that have not ended, by deadline. */
  readonly living: string;
  /** Sorted set: all readable agreements, by creation. */
  readonly all: string;
  /** Sorted set: ended agreements, by the time at which they are forgotten. */
  readonly ended: string;
  /** Sorted set: keys of sessions, by the time at which they are forgotten. */
  readonly sessions: string;
  /** Sorted set: keys of sessions that may be forgotten earlier, by the time from which. */
  readonly spare: string;
  readonly agreementPrefix: string;
}

/** What stands between the braces in every key of an agent, in all its stores. */
export function agentHashTag(agentId: string): string {
  return `parley-agent:${agentId}`;
}

export function agreementKeys(agentId: string): AgreementKeys {
  const prefix = `{${agentHashTag(agentId)}}`;
  return {
    agreement: (id) => `${prefix}:agreement:${id}`,
    calls: (id) => `${prefix}:calls:${id}`,
    running: (id) => `${prefix}:running:${id}`,
    // An agent id holds no slash.
    session: (initiator, sessionId) => `${prefix}:session:${initiator}/${sessionId}`,
    secret: (initiator, sessionId) => `${prefix}:secret:${initiator}/${sessionId}`,
    open: (initiator) => `${prefix}:open:${initiator}`,
    living: `${prefix}:living`,
    all: `${prefix}:all`,
    ended: `${prefix}:ended`,
    sessions: `${prefix}:sessions`,
    spare: `${prefix}:spare`,
    agreementPrefix: `${prefix}:agreement:`,
  };
}
