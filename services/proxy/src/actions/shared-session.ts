import { withSignal } from '@parley/service-kit';
import type { EnvServer } from '../domain/facts.js';
import { readTarget } from './env-target.js';
import { linkSignals } from './linked-signal.js';
import { turnOver } from './mcp-errors.js';
import { McpSession, type McpSessionOptions } from './mcp-session.js';

interface Opening {
  readonly session: Promise<McpSession>;
  readonly giveUp: AbortController;
  waiting: number;
}

/** The one session of a turn with one server: opened by the first who needs it, shared, opened anew after it was lost. */
export class SharedSession {
  readonly #server: EnvServer;
  readonly #options: McpSessionOptions;
  readonly #farewells = new Set<Promise<void>>();
  #opening: Opening | undefined;
  #closed = false;

  constructor(server: EnvServer, options: McpSessionOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** An opening that nobody waits for any more is given up, so that the next to come does not inherit a dead one. */
  async get(signal: AbortSignal): Promise<McpSession> {
    if (this.#closed) throw turnOver();
    signal.throwIfAborted();
    this.#opening ??= this.#open();
    const opening = this.#opening;
    opening.waiting += 1;
    let opened = false;
    try {
      const session = await withSignal(opening.session, signal);
      opened = true;
      return session;
    } finally {
      opening.waiting -= 1;
      if (!opened && opening.waiting === 0) this.#forget(opening, signal.reason);
    }
  }

  /** The next to come gets a new one. */
  drop(session: McpSession): void {
    const opening = this.#opening;
    void opening?.session.then(
      (current) => {
        if (current === session && this.#opening === opening) this.#opening = undefined;
      },
      () => undefined,
    );
  }

  /** Says goodbye to the server; takes no longer than the time to close. */
  async close(): Promise<void> {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    opening?.giveUp.abort(turnOver());
    const session = await opening?.session.catch(() => undefined);
    await Promise.all([session?.close(), ...this.#farewells]);
  }

  #open(): Opening {
    const giveUp = new AbortController();
    const opening: Opening = { session: this.#opened(giveUp.signal), giveUp, waiting: 0 };
    opening.session.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  async #opened(signal: AbortSignal): Promise<McpSession> {
    const session = new McpSession(readTarget(this.#server), this.#options);
    try {
      await session.open(signal);
      signal.throwIfAborted();
      return session;
    } catch (error) {
      // The server may have given it an id before it failed.
      const farewell = session.close().finally(() => this.#farewells.delete(farewell));
      this.#farewells.add(farewell);
      throw error;
    }
  }

  #forget(opening: Opening, reason: unknown): void {
    opening.giveUp.abort(reason);
    if (this.#opening === opening) this.#opening = undefined;
  }
}

/** Runs `work` with a signal that ends with the time, with the caller and with the turn. */
export async function within<T>(
  sources: readonly AbortSignal[],
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = linkSignals(sources, timeoutMs);
  try {
    return await work(signal);
  } finally {
    release();
  }
}
