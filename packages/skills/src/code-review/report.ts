import {
  SEVERITIES,
  type Finding,
  type Metrics,
  type Severity,
  type SourceLanguage,
  type Verdict,
} from './findings.js';

export type Counts = Readonly<Record<Severity, number>>;

export function countBySeverity(findings: readonly Finding[]): Counts {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

/** Errors have to be mended, warnings are worth a word, remarks stop nobody. */
export function verdictOf(counts: Counts): Verdict {
  if (counts.error > 0) return 'request_changes';
  return counts.warning > 0 ? 'comment' : 'approve';
}

/**
 * The findings to show: none below `lowest`, at most `max`. Where there are more, the severest stay.
 * In the order of the source.
 */
export function selectFindings(
  findings: readonly Finding[],
  lowest: Severity,
  max: number,
): { readonly shown: readonly Finding[]; readonly truncated: boolean } {
  const least = SEVERITIES.indexOf(lowest);
  const wanted = findings.filter(({ severity }) => SEVERITIES.indexOf(severity) >= least).sort(byPlace);
  const shown = wanted
    .toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
    .slice(0, max)
    .sort(byPlace);
  return { shown, truncated: wanted.length > shown.length };
}

function byPlace(a: Finding, b: Finding): number {
  return a.line - b.line || a.column - b.column || compareText(a.rule, b.rule) || compareText(a.message, b.message);
}

/** By code unit: the same on every machine, unlike a locale's order. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const LANGUAGE_NAMES: Readonly<Record<SourceLanguage, string>> = { javascript: 'JavaScript', typescript: 'TypeScript' };
const CONCLUSIONS: Readonly<Record<Verdict, string>> = {
  approve: 'nothing stands against it',
  comment: 'worth a second look',
  request_changes: 'changes are needed',
};

/** One sentence for people, for example: `1 error, 2 warnings and no remarks in 12 lines of TypeScript: …` */
export function summarySentence(counts: Counts, metrics: Metrics, language: SourceLanguage, verdict: Verdict): string {
  const found = `${plural(counts.error, 'error')}, ${plural(counts.warning, 'warning')} and ${plural(counts.info, 'remark')}`;
  const sentence = `${found} in ${plural(metrics.lines, 'line')} of ${LANGUAGE_NAMES[language]}: ${CONCLUSIONS[verdict]}.`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}

function plural(count: number, word: string): string {
  if (count === 0) return `no ${word}s`;
  return `${String(count)} ${word}${count === 1 ? '' : 's'}`;
}
