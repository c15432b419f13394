/** A proxy that was agreed on: nobody else's until the agreement ends. It is renewed by itself. */
export interface AgreedProxy {
  readonly agentId: string;
  readonly url: string;
  readonly agreementId: string;
  /** What is shown with the claim. Holds the agreement's secret. */
  readonly claimHeaders: Readonly<Record<string, string>>;
  /** Told once when the agreement has ended, at once if it has. @returns what takes the listener back. */
  onEnd(listener: (reason: string) => void): () => void;
  /** Frees the proxy; does nothing if the agreement has ended. Never rejects, and is done soon also if nobody answers. */
  end(reason: 'completed' | 'released_by_initiator' | 'shutdown'): Promise<void>;
}

/** Finds proxies that are free. */
export interface ProxyFinder {
  /**
   * @param exclude ids of agents that are not asked.
   * @throws ProxySearchFailed; the reason of `signal`.
   */
  find(exclude: readonly string[], signal: AbortSignal): Promise<AgreedProxy>;
  /** Ends what was agreed, and all connections. */
  close(): Promise<void>;
}
