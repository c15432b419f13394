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
/** A user message that takes more than this share of the room is not carried past a cut. */
const CARRY_SHARE = 0.25;
/** More than this share of the room is not kept on purpose: the context would be full again at once. */
const KEEP_SHARE = 0.5;
/** Less than this share of the history is not worth a request: the next one would follow after a few messages. */
const WORTHWHILE_SHARE = 0.125;

/** A cut, and what stays with it. */
interface Cut extends SafeCut {
  /** Index of the user message before the cut that stays nevertheless. */
  readonly carriedIndex: number | null;
  readonly keptTokens: number;
}

/**
 * Cuts a history into what leads and stays, what is summarised and what is kept, and changes nothing.
 *
 * Leading system messages are protected. The cut is before the newest user message that leaves `keepRecentTokens` of
 * history behind it, or half of the room where that is less. If there is no such user message, or if what follows it
 * nearly fills the context again, the cut is inside that turn, before the newest assistant message that leaves enough.
 * An explicit compaction cuts inside a turn only if that turn nearly fills the context. A call and its results stay on
 * the same side. Behind a cut inside a turn the user message of that turn is kept as it is, if it takes no more than a
 * quarter of the room: the task stays in the user's own words, and many chat templates want a user message before the
 * first answer. `canCompact` is false if no cut makes the history smaller by an amount worth a request.
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
  const carriedIndex = cut?.carriedIndex ?? null;
  return {
    protectedMessages: history.slice(0, measured.start),
    messagesToSummarize: history.filter((_, at) => at >= measured.start && at < firstKept && at !== carriedIndex),
    messagesToKeep: history.filter((_, at) => at >= firstKept || at === carriedIndex),
    previousSummary: measured.previous?.summary ?? null,
    historyStart: measured.start,
    firstKept,
    carriedIndex,
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
): Cut | undefined {
  const keep = Math.max(1, Math.min(keepRecentTokens, Math.floor(room * KEEP_SHARE)));
  const cuts = safeCuts(measured.history, measured.start).filter(({ index }) => measured.tokensFrom(index) >= keep);
  const anywhere = withCarried(measured, room, cuts.at(-1));
  const atUser = withCarried(
    measured,
    room,
    cuts.findLast((cut) => cut.atUser),
  );
  const preferred = prefer(measured, trigger, room * GOOD_SHARE, atUser, anywhere);
  if (preferred === undefined || isWorthwhile(measured, trigger, preferred)) return preferred;
  return trigger !== 'explicit' && anywhere !== undefined && isWorthwhile(measured, trigger, anywhere)
    ? anywhere
    : undefined;
}

function withCarried(measured: MeasuredHistory, room: number, cut: SafeCut | undefined): Cut | undefined {
  if (cut === undefined) return undefined;
  const keptTokens = measured.tokensFrom(cut.index);
  const userIndex = cut.atUser ? null : measured.lastUserBefore(cut.index);
  const userTokens = userIndex === null ? 0 : measured.tokensFrom(userIndex) - measured.tokensFrom(userIndex + 1);
  // What a last step leaves free comes first: a retry that would have fitted must not fail for the task's wording.
  const fits = userTokens <= room * CARRY_SHARE && (keptTokens > room || keptTokens + userTokens <= room);
  if (!fits) return { ...cut, carriedIndex: null, keptTokens };
  return { ...cut, carriedIndex: userIndex, keptTokens: keptTokens + userTokens };
}

function prefer(
  measured: MeasuredHistory,
  trigger: CompactionTrigger,
  good: number,
  atUser: Cut | undefined,
  anywhere: Cut | undefined,
): Cut | undefined {
  if (anywhere === undefined) return undefined;
  if (atUser === undefined && trigger !== 'explicit') return anywhere;
  const kept = atUser?.keptTokens ?? measured.tokens;
  if (kept <= good) return atUser;
  const gain = kept - anywhere.keptTokens;
  return gain >= kept * WORTHWHILE_SHARE ? anywhere : atUser;
}

function isWorthwhile(measured: MeasuredHistory, trigger: CompactionTrigger, cut: Cut): boolean {
  const summarized = measured.tokens - cut.keptTokens;
  if (summarized <= measured.leastSummaryTokens) return false;
  return trigger !== 'pressure' || summarized >= measured.tokens * WORTHWHILE_SHARE;
}
