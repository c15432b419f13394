import { HarnessError, messageOf } from '../errors.js';
import type { CompactionTrigger } from '../enums.js';
import type { Message, SummaryEntry } from '../messages.js';
import { abortable } from '../model/abortable.js';
import type {
  CompactionPreparation,
  CompactionRequest,
  CompactionResult,
  Compactor,
  CompactorOutput,
} from './compaction-types.js';
import { deadlineOf } from './deadline.js';
import { withoutReport } from './reported-tokens.js';
import { isSummary, summaryMessage } from './summary-message.js';
import { defaultEstimator, type MessageTokenEstimator } from './token-estimator.js';

const DEFAULT_TIMEOUT_MS = 300_000;
const UNKNOWN_SOURCE = 'compactor';

export interface CompactionRunnerOptions {
  readonly compactor: Compactor;
  /** 32 hexadecimal digits, new each time. */
  readonly newId: () => string;
  readonly estimator?: MessageTokenEstimator;
  /** How long a compactor may take, in milliseconds; then the compaction has failed. Default 300,000. */
  readonly timeoutMs?: number;
}

export interface CompactionOperation {
  readonly trigger: CompactionTrigger;
  readonly operationId: string;
  readonly preparation: CompactionPreparation;
  readonly signal: AbortSignal;
}

export interface CompactionOutcome {
  readonly result: CompactionResult;
  /** What the history is from now on: protected messages, summary, kept messages. Null unless completed. */
  readonly history: readonly Message[] | null;
}

/** Has a compactor write a summary and makes the new history of it. Changes nothing itself and tells nobody. */
export class CompactionRunner {
  readonly #compactor: Compactor;
  readonly #newId: () => string;
  readonly #estimator: MessageTokenEstimator;
  readonly #timeoutMs: number;

  constructor(options: CompactionRunnerOptions) {
    this.#compactor = options.compactor;
    this.#newId = options.newId;
    this.#estimator = options.estimator ?? defaultEstimator;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** What a compactor is asked, with an operation id of its own: for the event that comes before {@link run}. */
  request(trigger: CompactionTrigger, preparation: CompactionPreparation): CompactionRequest {
    return { operationId: this.#newId(), trigger, preparation, previousSummary: preparation.previousSummary };
  }

  /**
   * Never rejects: a failure is a result. A compactor that does not end when the signal is aborted or its time is over
   * is left alone, and what it says later is ignored.
   */
  async run(operation: CompactionOperation): Promise<CompactionOutcome> {
    const { operationId, trigger, preparation, signal } = operation;
    const base = { operationId, trigger, summary: null, error: null };
    if (!preparation.canCompact) return { result: { ...base, status: 'skipped' }, history: null };
    try {
      const summary = summaryOf(await this.#compact(operation), preparation);
      signal.throwIfAborted();
      this.#requireSmaller(summary, preparation);
      return { result: { ...base, status: 'completed', summary }, history: historyWith(summary, preparation) };
    } catch (error) {
      const status = signal.aborted ? 'cancelled' : 'failed';
      const text = signal.aborted ? messageOf(signal.reason) : messageOf(error);
      return { result: { ...base, status, error: text }, history: null };
    }
  }

  async #compact({ operationId, trigger, preparation, signal }: CompactionOperation): Promise<CompactorOutput> {
    signal.throwIfAborted();
    const { previousSummary } = preparation;
    const deadline = deadlineOf(signal, this.#timeoutMs, `the summary was not written within ${this.#timeoutMs} ms`);
    try {
      const request = { operationId, trigger, preparation, previousSummary };
      // A promise of its own, so that a compactor which throws before it returns one is no different.
      const work = (async () => this.#compactor.compact(request, deadline.signal))();
      return await abortable(work, deadline.signal);
    } finally {
      deadline.release();
    }
  }

  #requireSmaller(summary: SummaryEntry, preparation: CompactionPreparation): void {
    const before = replacedMessages(preparation).reduce((sum, each) => sum + this.#estimator.estimateMessage(each), 0);
    const after = this.#estimator.estimateMessage(summaryMessage(summary));
    if (after < before) return;
    const text = `the summary takes ${after} tokens, which is no less than the ${before} that it replaces`;
    throw new HarnessError('summary_too_large', text);
  }
}

/** The text is the compactor's, everything else is known here and taken from nobody. */
function summaryOf(output: unknown, preparation: CompactionPreparation): SummaryEntry {
  const { content, source } = (output ?? {}) as Partial<CompactorOutput>;
  if (typeof content !== 'string' || content.trim() === '') {
    throw new HarnessError('summary_empty', 'the compactor returned no text');
  }
  return {
    content: content.trim(),
    source: typeof source === 'string' && source.trim() !== '' ? source.trim() : UNKNOWN_SOURCE,
    historyStart: preparation.historyStart,
    firstKept: preparation.firstKept,
    messageCount: (preparation.previousSummary?.messageCount ?? 0) + preparation.messagesToSummarize.length,
    tokensBefore: preparation.tokensBefore,
  };
}

function replacedMessages(preparation: CompactionPreparation): readonly Message[] {
  const { previousSummary, protectedMessages, messagesToSummarize } = preparation;
  return [...protectedMessages.filter((message) => isSummaryOf(message, previousSummary)), ...messagesToSummarize];
}

function historyWith(summary: SummaryEntry, preparation: CompactionPreparation): readonly Message[] {
  const { previousSummary, protectedMessages, messagesToKeep } = preparation;
  return [
    ...protectedMessages.filter((message) => !isSummaryOf(message, previousSummary)),
    summaryMessage(summary),
    ...messagesToKeep.map(withoutReport),
  ];
}

function isSummaryOf(message: Message, summary: SummaryEntry | null): boolean {
  return isSummary(message) && message.summary === summary;
}
