import type { ModelUsage, RunUsage } from './usage.js';

const NOTHING: RunUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  requestCount: 0,
  reportedRequestCount: 0,
});

/** The usage of a run that has not asked the model yet. */
export function emptyRunUsage(): RunUsage {
  return NOTHING;
}

/** `run` and one more request, which used `usage`; null: it failed, or did not say. */
export function addUsage(run: RunUsage, usage: ModelUsage | null): RunUsage {
  const requestCount = run.requestCount + 1;
  if (usage === null) return { ...run, requestCount };
  const first = run.reportedRequestCount === 0;
  const sum = (before: number | null, added: number | null): number | null => {
    if (first || added === null) return added;
    return before === null ? null : before + added;
  };
  return {
    inputTokens: sum(run.inputTokens, usage.inputTokens),
    outputTokens: sum(run.outputTokens, usage.outputTokens),
    totalTokens: sum(run.totalTokens, usage.totalTokens),
    cacheReadTokens: sum(run.cacheReadTokens, usage.cacheReadTokens),
    cacheWriteTokens: sum(run.cacheWriteTokens, usage.cacheWriteTokens),
    reasoningTokens: sum(run.reasoningTokens, usage.reasoningTokens),
    requestCount,
    reportedRequestCount: run.reportedRequestCount + 1,
  };
}

/** True if every request of the run reported what it used. */
export function isUsageComplete(run: RunUsage): boolean {
  return run.reportedRequestCount === run.requestCount;
}

/** Counters as somebody else wrote them: any of them may be missing or no sensible number. */
export type RawUsage = Readonly<Partial<Record<keyof ModelUsage, unknown>>>;

export interface NormalizedUsage {
  /** Null: unknown. */
  readonly usage: ModelUsage | null;
  /** Why a report was not believed, or null. */
  readonly warning: string | null;
}

const UNREPORTED: NormalizedUsage = { usage: null, warning: null };

/**
 * Makes a usage of a report that may be wrong; never throws, because a wrong count must not fail a good answer.
 *
 * - A counter that is no whole number from 0 up is unknown. A missing total is the sum of input and output.
 * - Zero input and output for an answer that shows something (`visibleOutput`) is no report.
 * - A report in which total ≠ input + output, cache > input or reasoning > output is not believed at all.
 */
export function normalizeUsage(
  raw: RawUsage | null | undefined,
  options: { readonly visibleOutput: boolean },
): NormalizedUsage {
  if (raw === null || raw === undefined || typeof raw !== 'object') return UNREPORTED;
  const inputTokens = counter(raw.inputTokens);
  const outputTokens = counter(raw.outputTokens);
  const usage: ModelUsage = {
    inputTokens,
    outputTokens,
    totalTokens: isAbsent(raw.totalTokens) ? plus(inputTokens, outputTokens) : counter(raw.totalTokens),
    cacheReadTokens: counter(raw.cacheReadTokens),
    cacheWriteTokens: counter(raw.cacheWriteTokens),
    reasoningTokens: counter(raw.reasoningTokens),
  };
  const broken = brokenInvariant(usage, options.visibleOutput);
  if (broken !== null) return { usage: null, warning: `the usage report was ignored: ${broken}` };
  const odd = oddCounters(raw);
  const warning = odd.length === 0 ? null : `the usage report has no sensible number for ${odd.join(', ')}`;
  return { usage: isEmpty(usage) ? null : usage, warning };
}

const COUNTERS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof ModelUsage)[];

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function counter(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function exceeds(part: number | null, whole: number | null): boolean {
  return part !== null && whole !== null && part > whole;
}

function brokenInvariant(usage: ModelUsage, visibleOutput: boolean): string | null {
  const { inputTokens, outputTokens, totalTokens } = usage;
  const sum = plus(inputTokens, outputTokens);
  if (visibleOutput && sum === 0) return 'it counts no tokens for a visible answer';
  if (sum !== null && totalTokens !== null && sum !== totalTokens) return 'its total is not input plus output';
  if (exceeds(usage.cacheReadTokens, inputTokens) || exceeds(usage.cacheWriteTokens, inputTokens)) {
    return 'it has more cached than input tokens';
  }
  if (exceeds(usage.reasoningTokens, outputTokens)) return 'it has more reasoning than output tokens';
  return null;
}

function oddCounters(raw: RawUsage): readonly string[] {
  return COUNTERS.filter((name) => !isAbsent(raw[name]) && counter(raw[name]) === null);
}

function isEmpty(usage: ModelUsage): boolean {
  return COUNTERS.every((name) => usage[name] === null);
}
