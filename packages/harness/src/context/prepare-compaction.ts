import type { CompactionTrigger } from '../enums.js';
import type { Message } from '../messages.js';
import { thresholdTokens } from './compaction-decision.js';
import type { CompactionPolicy, CompactionPreparation } from './compaction-types.js';
import type { ContextMeter } from './context-meter.js';
import { MeasuredHistory } from './measured-history.js';
import { safeCuts, type SafeCut } from './safe-cuts.js';
import { defaultEstimator } from './token-estimator.js';

/** How a preparation is made where the defaults do not fit. */
export interface PrepareCompactionOptions {
  /** Default `explicit`. */
  readonly trigger?: CompactionTrigger;
  /**
   * The meter that measured the last request: its estimator is used, and the prompts and tools that it counted take up
   * room. Without it the history is taken to be all there is.
   */
  readonly meter?: Pick<ContextMeter, 'estimator' | 'leadingTokens'>;
}

/** What a cut may keep is this share of the room: the rest is for the summary and for the next messages. */
const GOOD_SHARE = 0.75;
/** More than this share of the room is not kept on purpose: the context would be full again at once. */
const KEEP_SHARE = 0.5;
/** Less than this share of the history is not worth a request: the next one would follow after a few messages. */
const WORTHWHILE_SHARE = 0.125;

/**
 * Cuts a history into what leads and stays, what is summarised and what is kept, and changes nothing.
 *
 * Leading system messages are protected. The cut is before the newest user message that leaves `keepRecentTokens` of
 * history behind it, or half of the room where that is less. If there is no such user message, or if what follows it
 * nearly fills the context again, the cut is inside that turn, before the newest assistant message that leaves enough.
 * An explicit compaction cuts inside a turn only if that turn nearly fills the context. A call and its results stay on
 * the same side. `canCompact` is false if no cut makes the history smaller by an amount worth a request.
 */
export function prepareCompaction(
  history: readonly Message[],
  policy: CompactionPolicy,
  options: PrepareCompactionOptions = {},
): CompactionPreparation {
  const measured = new MeasuredHistory(history, options.meter?.estimator ?? defaultEstimator);
  const trigger = options.trigger ?? 'explicit';
  const room = roomFor(measured, policy, trigger, options.meter?.leadingTokens ?? 0);
  const cut = chooseCut(measured, trigger, room, policy.budget.keepRecentTokens);
  const firstKept = cut?.index ?? measured.start;
  return {
    protectedMessages: history.slice(0, measured.start),
    messagesToSummarize: history.slice(measured.start, firstKept),
    messagesToKeep: history.slice(firstKept),
    previousSummary: measured.previous?.summary ?? null,
    historyStart: measured.start,
    firstKept,
    tokensBefore: measured.tokens,
    canCompact: cut !== undefined,
    insideTurn: cut?.atUser === false,
  };
}

/** What is left for kept history below the threshold once everything that stays has its place. */
function roomFor(
  measured: MeasuredHistory,
  policy: CompactionPolicy,
  trigger: CompactionTrigger,
  leadingTokens: number,
): number {
  const threshold = thresholdTokens(policy.budget);
  const leading = Math.max(leadingTokens, measured.protectedTokens);
  // A provider that refused less than the threshold has a smaller window than the policy believes.
  const limit = trigger === 'overflow' ? Math.min(threshold, leading + measured.tokens) : threshold;
  // A new summary takes the place of the previous one.
  const staying = leading - (measured.previous?.tokens ?? 0) + measured.leastSummaryTokens;
  return Math.max(0, limit - staying);
}

function chooseCut(
  measured: MeasuredHistory,
  trigger: CompactionTrigger,
  room: number,
  keepRecentTokens: number,
): SafeCut | undefined {
  const keep = Math.max(1, Math.min(keepRecentTokens, Math.floor(room * KEEP_SHARE)));
  const cuts = safeCuts(measured.history, measured.start).filter(({ index }) => measured.tokensFrom(index) >= keep);
  const anywhere = cuts.at(-1);
  const atUser = cuts.findLast((cut) => cut.atUser);
  const preferred = prefer(measured, trigger, room * GOOD_SHARE, atUser, anywhere);
  if (preferred === undefined || isWorthwhile(measured, trigger, preferred)) return preferred;
  return trigger !== 'explicit' && anywhere !== undefined && isWorthwhile(measured, trigger, anywhere)
    ? anywhere
    : undefined;
}

function prefer(
  measured: MeasuredHistory,
  trigger: CompactionTrigger,
  good: number,
  atUser: SafeCut | undefined,
  anywhere: SafeCut | undefined,
): SafeCut | undefined {
  if (anywhere === undefined) return undefined;
  if (atUser === undefined && trigger !== 'explicit') return anywhere;
  const kept = measured.tokensFrom(atUser?.index ?? measured.start);
  if (kept <= good) return atUser;
  const gain = kept - measured.tokensFrom(anywhere.index);
  return gain >= kept * WORTHWHILE_SHARE ? anywhere : atUser;
}

function isWorthwhile(measured: MeasuredHistory, trigger: CompactionTrigger, cut: SafeCut): boolean {
  const summarized = measured.tokens - measured.tokensFrom(cut.index);
  if (summarized <= measured.leastSummaryTokens) return false;
  return trigger !== 'pressure' || summarized >= measured.tokens * WORTHWHILE_SHARE;
}
