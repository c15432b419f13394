import type { Stream } from '@agentclientprotocol/sdk';

/** A child as its connection sees it: a program with pipes, or the record of one. */
export interface AcpChild {
  readonly stream: Stream;
  /** Resolves when it has ended and its last output was read. */
  readonly exited: Promise<unknown>;
  /** Undefined while it runs. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  /** Lines that were no messages, so far. */
  readonly garbageLines: number;
  /** How many of them are too many is counted from 0 again. */
  allowGarbageAgain(): void;
  /** Takes out of what it says what must not be told. */
  readonly safeText?: (text: string) => string;
  /** How it ended, in words. */
  describeExit(): string;
  /**
   * Ends it, and all that came from it. Idempotent; never rejects.
   *
   * @param atOnce without waiting for it to go by itself.
   */
  end(atOnce: boolean): Promise<unknown>;
}

/** @throws HarnessError if it cannot be started. Nothing is started when the signal is aborted. */
export type OpenChild = (signal: AbortSignal) => Promise<AcpChild>;
