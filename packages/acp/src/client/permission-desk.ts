import { messageOf, type HarnessLogger } from '@parley/harness';
import {
  choosePermission,
  outcomeOf,
  PERMISSION_CANCELLED,
  type PermissionCallback,
  type PermissionOutcome,
  type PermissionPolicy,
} from './permission-policy.js';
import type { PermissionQuestion } from './permission-question.js';
import { waitFor } from './waits.js';

export interface PermissionDeskOptions {
  readonly sessionId: string;
  readonly permission: PermissionPolicy | PermissionCallback;
  readonly timeoutMs: number;
  readonly logger: HarnessLogger;
  /** Told when somebody else than the child is waited for, and when no longer. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Calls back as if from where the run was started. */
  readonly inCaller: <T>(work: () => T) => T;
}

/** Questions that wait for a callback at once; more are refused. */
const MAX_WAITING = 64;

/** Answers what the child of one run asks. Every question gets an answer, and after the end always "cancelled". */
export class PermissionDesk {
  readonly sessionId: string;
  readonly #closed = new AbortController();
  #waiting = 0;

  constructor(private readonly options: PermissionDeskOptions) {
    this.sessionId = options.sessionId;
  }

  /** @param childSignal aborted when the child has taken the question back, or is gone. Never rejects. */
  async answer(question: PermissionQuestion, childSignal: AbortSignal): Promise<PermissionOutcome> {
    if (this.#isClosed()) return PERMISSION_CANCELLED;
    const { permission, logger } = this.options;
    if (typeof permission === 'string') return choosePermission(permission, question.options);
    if (this.#waiting >= MAX_WAITING) return choosePermission('reject', question.options);
    this.#waiting += 1;
    this.options.onWait(true);
    try {
      return await this.#ask(permission, question, AbortSignal.any([this.#closed.signal, childSignal]));
    } catch (error) {
      if (this.#isClosed() || childSignal.aborted) return PERMISSION_CANCELLED;
      logger.warn('a permission was refused since nobody decided on it', { error: messageOf(error) });
      return choosePermission('reject', question.options);
    } finally {
      this.#waiting -= 1;
      this.options.onWait(false);
    }
  }

  /** The run was cancelled or has ended. Idempotent. */
  close(): void {
    this.#closed.abort();
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  async #ask(
    permission: PermissionCallback,
    question: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<PermissionOutcome> {
    const { timeoutMs, inCaller } = this.options;
    const asking = new AbortController();
    const everything = AbortSignal.any([signal, asking.signal]);
    try {
      const asked = (async () => inCaller(() => permission(question, everything)))();
      const answer = await waitFor(asked, {
        signal,
        timeoutMs,
        timeoutError: () => new Error(`no decision within ${timeoutMs} ms`),
        abortError: () => new Error('the question was taken back'),
      });
      return outcomeOf(answer, question.options);
    } finally {
      // A callback that is late learns that nobody waits.
      asking.abort();
    }
  }
}
