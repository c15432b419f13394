import { methods } from '@agentclientprotocol/sdk';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { messageOf, quietLogger, SubagentStartError } from '@parley/harness';
import { within } from '@parley/shell';
import type { AcpChild, OpenChild } from './acp-child.js';
import { AcpConnection } from './acp-connection.js';
import type { AcpDeadlines } from './acp-deadlines.js';
import { AcpCancelledError, AcpChildError, AcpTimeoutError } from './acp-errors.js';
import type { AcpSubagentOptions } from './acp-options.js';
import { waitFor } from './waits.js';
import { WarmPool } from './warm-pool.js';

/** A child for one run. Whoever has it gives it back or ends it. */
export interface AcpLease {
  readonly connection: AcpConnection;
  readonly sessionId: string;
  /** Whether it had runs before. */
  readonly isWarm: boolean;
  /** Lines that were no messages, before this run. */
  readonly garbageLines: number;
  /** Updates of other sessions, before this run. */
  readonly foreignUpdates: number;
}

/** A child has to remember every session that it ever had; then it makes room for a new one. */
const MAX_SESSIONS = 1_000;

/** How long a start is waited for that was given up. */
const LATE_START_MS = 10_000;

/** The children of a provider: opens them, and keeps some for the next run. */
export class AcpChildren {
  readonly #pool: WarmPool<AcpConnection> | undefined;

  constructor(
    private readonly options: AcpSubagentOptions,
    private readonly deadlines: AcpDeadlines,
    private readonly open: OpenChild,
  ) {
    this.#pool = options.pool === undefined ? undefined : new WarmPool(options.pool);
  }

  /**
   * A child with a new session. If one that was kept turns out to be of no use, a new one takes its place: it has not
   * been asked anything yet.
   *
   * @throws SubagentStartError when nothing of the child is left.
   */
  async lease(signal: AbortSignal): Promise<AcpLease> {
    const warm = this.#pool?.take();
    if (warm !== undefined) {
      try {
        return await this.#session(warm, true, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        const { logger = quietLogger } = this.options;
        logger.warn('a subagent that was kept could not be used again', { error: messageOf(error) });
      }
    }
    return this.#session(await this.#connect(signal), false, signal);
  }

  /** Resolves when the child is kept or gone. Never rejects. */
  async giveBack({ connection, sessionId, garbageLines }: AcpLease, isOrderly: boolean): Promise<void> {
    const isGood = isOrderly && connection.garbageLines === garbageLines && connection.sessionCount < MAX_SESSIONS;
    if (this.#pool === undefined || !isGood) return connection.end();
    // Where there is nothing to wait for, it can be taken as soon as the result is known.
    const isClosed = !connection.closesSessions || (await connection.closeSession(sessionId));
    if (!isClosed || !this.#pool.put(connection)) await connection.end();
  }

  /** Ends those that are kept. */
  async close(): Promise<void> {
    await this.#pool?.close();
  }

  async #session(connection: AcpConnection, isWarm: boolean, signal: AbortSignal): Promise<AcpLease> {
    try {
      connection.allowGarbageAgain();
      const { garbageLines, foreignUpdates } = connection;
      const { cwd, mcpServers = [] } = this.options;
      const sessionId = await connection.newSession({ cwd, mcpServers }, signal);
      return { connection, sessionId, isWarm, garbageLines, foreignUpdates };
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<AcpConnection> {
    const startedAt = performance.now();
    // What is kept for others does not belong to the trace of the run that opened it.
    const child = await context.with(ROOT_CONTEXT, () => this.#start(signal));
    const connection = new AcpConnection(child, this.deadlines);
    try {
      await connection.initialize(performance.now() - startedAt, signal);
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  /** A program is started in no time, but its working folder may be on a server that does not answer. */
  async #start(signal: AbortSignal): Promise<AcpChild> {
    const { initializeMs: timeoutMs } = this.deadlines;
    const opening = this.open(signal);
    try {
      return await waitFor(opening, {
        signal,
        timeoutMs,
        timeoutError: () => new AcpTimeoutError(methods.agent.initialize, timeoutMs),
        abortError: () => new AcpCancelledError(signal.reason),
      });
    } catch (error) {
      const gone = opening.then((late) => late.end(true));
      await within(LATE_START_MS, gone);
      if (signal.aborted) throw new AcpCancelledError(signal.reason);
      throw error instanceof SubagentStartError ? error : new AcpChildError(messageOf(error), error);
    }
  }
}
