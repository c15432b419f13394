import type { FollowUpHandle } from '../agent/agent-api.js';
import type { RunOptions } from '../agent/agent-options.js';
import type { ControlReceipt } from '../control.js';
import type { ControlStatus, FollowUpDiscardReason } from '../enums.js';
import { abortable } from '../model/abortable.js';
import type { AgentRunResult } from '../result.js';
import { FollowUpDiscardedError, FollowUpRejectedError } from './run-errors.js';

/** A follow-up that waits for its turn. */
export interface QueuedFollowUp {
  readonly task: string;
  readonly options: RunOptions;
  readonly settled: PromiseWithResolvers<AgentRunResult>;
}

/** Tasks that run one after the other behind the run that is going on, oldest first. */
export class FollowUpQueue {
  #waiting: QueuedFollowUp[] = [];

  constructor(
    private readonly capacity: number,
    private readonly newId: () => string,
  ) {}

  get size(): number {
    return this.#waiting.length;
  }

  offer(task: string, options: RunOptions): FollowUpHandle {
    if (this.#waiting.length >= this.capacity) return this.refuse('queue_full');
    const settled = Promise.withResolvers<AgentRunResult>();
    // Nobody has to wait for a follow-up: one that is discarded unheard must not end the process.
    settled.promise.catch(() => undefined);
    this.#waiting.push({ task, options, settled });
    return handleOf(this.#receipt('accepted', this.newId()), settled.promise);
  }

  refuse(status: Exclude<ControlStatus, 'accepted'>): FollowUpHandle {
    const receipt = this.#receipt(status, null);
    const rejected = Promise.reject<AgentRunResult>(new FollowUpRejectedError(receipt));
    rejected.catch(() => undefined);
    return handleOf(receipt, rejected);
  }

  takeOldest(): QueuedFollowUp | undefined {
    return this.#waiting.shift();
  }

  discardAll(reason: FollowUpDiscardReason): void {
    const discarded = this.#waiting;
    this.#waiting = [];
    for (const followUp of discarded) followUp.settled.reject(new FollowUpDiscardedError(reason));
  }

  #receipt(status: ControlStatus, inputId: string | null): ControlReceipt {
    return { status, kind: 'follow_up', inputId, queueSize: this.#waiting.length };
  }
}

function handleOf(receipt: ControlReceipt, result: Promise<AgentRunResult>): FollowUpHandle {
  return {
    receipt,
    accepted: receipt.status === 'accepted',
    wait: (signal) => (signal === undefined ? result : abortable(result, signal)),
  };
}
