/** What is known of a session besides its journal. */
export interface SessionFacts {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  /** What was asked first, on one line. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

/** Where facts about sessions are kept. */
export interface SessionDirectory {
  /** Replaces what was known. */
  remember(facts: SessionFacts): Promise<void>;
  find(sessionId: string): Promise<SessionFacts | undefined>;
  /** In any order. */
  list(): Promise<readonly SessionFacts[]>;
  forget(sessionId: string): Promise<void>;
}

/** Forgets with its process. */
export class MemorySessionDirectory implements SessionDirectory {
  readonly #facts = new Map<string, SessionFacts>();

  remember(facts: SessionFacts): Promise<void> {
    this.#facts.set(facts.sessionId, facts);
    return Promise.resolve();
  }

  find(sessionId: string): Promise<SessionFacts | undefined> {
    return Promise.resolve(this.#facts.get(sessionId));
  }

  list(): Promise<readonly SessionFacts[]> {
    return Promise.resolve([...this.#facts.values()]);
  }

  forget(sessionId: string): Promise<void> {
    this.#facts.delete(sessionId);
    return Promise.resolve();
  }
}
