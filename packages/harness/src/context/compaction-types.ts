import type { CompactionDecisionReason, CompactionStatus, CompactionTrigger, ContextUsageSource } from '../enums.js';
import type { Message, SummaryEntry } from '../messages.js';

/** Sizes in tokens. */
export interface ContextBudget {
  /** What the model can take in. */
  readonly windowTokens: number;
  /** Kept free for the answer: pressure begins at window − reserve. */
  readonly reserveTokens: number;
  /**
   * How much of the newest history a compaction keeps as it is, at least. Where half of what the threshold leaves for
   * history is less, that counts: the context would be full again at once.
   */
  readonly keepRecentTokens: number;
}

export interface CompactionPolicy {
  readonly budget: ContextBudget;
  /** Default true; false only observes. */
  readonly enabled?: boolean;
}

/** Automatic compaction; off without this. */
export interface AutoCompactionPolicy {
  /** Default true. */
  readonly onPressure?: boolean;
  /** Default true. */
  readonly onOverflow?: boolean;
}

export interface ContextUsageEstimate {
  readonly totalTokens: number;
  readonly source: ContextUsageSource;
  /** The part that a model reported; null if none did since the last compaction. */
  readonly reportedTokens: number | null;
  /** The part that was estimated: total − reported. */
  readonly estimatedTokens: number;
  readonly messageCount: number;
}

export interface CompactionDecision {
  readonly shouldCompact: boolean;
  readonly reason: CompactionDecisionReason;
  readonly estimate: ContextUsageEstimate;
  /** Pressure begins here: window − reserve. */
  readonly thresholdTokens: number;
}

/**
 * A history cut into three: what leads and stays, what is summarised, what is kept. Indices are those of the history
 * that was given.
 *
 * A summary is made for the messages from `historyStart` up to `firstKept`, without the one at `carriedIndex`. The
 * metadata of a summary say the same: its `historyStart` and `firstKept` are these, and its `messageCount` counts what
 * was summarised, now and for the summary that it replaces, but not the message that was carried along. That one is
 * counted once, when a later compaction summarises it.
 */
export interface CompactionPreparation {
  readonly protectedMessages: readonly Message[];
  /** Not contiguous where a message is carried along. */
  readonly messagesToSummarize: readonly Message[];
  /** The message at `carriedIndex`, if there is one, then everything from `firstKept` on. */
  readonly messagesToKeep: readonly Message[];
  readonly previousSummary: SummaryEntry | null;
  /** The first message after those that lead. */
  readonly historyStart: number;
  /** The first message after the cut. */
  readonly firstKept: number;
  /**
   * The user message of a turn that is cut inside, if it is kept as it is; less than `firstKept`. Null if the cut is at
   * a user message, or if there is no such message, or if it is too long to be kept.
   */
  readonly carriedIndex: number | null;
  readonly tokensBefore: number;
  /** False if nothing can be summarised, or too little to be worth a summary. */
  readonly canCompact: boolean;
  /** True if the cut is inside one long turn. */
  readonly insideTurn: boolean;
}

export interface CompactionRequest {
  readonly operationId: string;
  readonly trigger: CompactionTrigger;
  readonly preparation: CompactionPreparation;
  readonly previousSummary: SummaryEntry | null;
}

export interface CompactorOutput {
  readonly content: string;
  /** Who wrote it. */
  readonly source: string;
}

/** Writes the summary. Nothing of the history changes until it has returned. */
export interface Compactor {
  compact(request: CompactionRequest, signal: AbortSignal): Promise<CompactorOutput>;
}

export interface CompactionResult {
  readonly operationId: string;
  readonly trigger: CompactionTrigger;
  readonly status: CompactionStatus;
  readonly summary: SummaryEntry | null;
  readonly error: string | null;
}
