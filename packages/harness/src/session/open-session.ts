import { SessionRecorder, type SessionRecorderOptions } from './session-recorder.js';
import type { StoredSession } from './session-types.js';

export interface OpenedSession {
  /** To be given to the agent as its `session`. */
  readonly journal: SessionRecorder;
  /** To be given to `Agent.restore`; null if nothing was recorded yet. */
  readonly session: StoredSession | null;
}

/**
 * Opens a session, new or stored, for one agent.
 *
 * @example
 * const { journal, session } = await openSession({ storage, sessionId: 'project-42', agentId: 'core' });
 * const agent = new Agent(model, { agentId: 'core', session: journal });
 * if (session !== null) agent.restore(session);
 *
 * @throws SessionConflictError for a run that its process left unfinished, unless `onUnfinished` is `abandon`.
 * @throws SessionLockTimeoutError for a run that is active for longer than `runLockWaitMs`.
 */
export async function openSession(
  options: SessionRecorderOptions & { readonly signal?: AbortSignal },
): Promise<OpenedSession> {
  const { signal, ...recorder } = options;
  const journal = new SessionRecorder(recorder);
  const { session } = await journal.open(signal === undefined ? {} : { signal });
  return { journal, session };
}
