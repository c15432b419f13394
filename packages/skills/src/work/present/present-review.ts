import { z } from 'zod';
import { escapeMarkdown } from './escape-markdown.js';
import type { Presented } from './present.js';

const review = z.object({
  summary: z.string(),
  verdict: z.string(),
  truncated: z.boolean(),
  findings: z.array(
    z.object({
      line: z.number(),
      column: z.number(),
      severity: z.string(),
      rule: z.string(),
      message: z.string(),
      suggestion: z.string().optional(),
    }),
  ),
});

type Finding = z.infer<typeof review>['findings'][number];

/** Verdict and a table of findings; as plain text one sentence per finding. */
export function presentReview(output: Readonly<Record<string, unknown>>): Presented | undefined {
  const { success, data } = review.safeParse(output);
  if (!success) return undefined;
  const { summary, verdict, findings, truncated } = data;
  const parts = [`## Code review: ${escapeMarkdown(verdict.replaceAll('_', ' '))}`, escapeMarkdown(summary)];
  if (findings.length > 0) parts.push(tableOf(findings));
  if (truncated) parts.push('More was found than is shown.');
  return {
    markdown: parts.join('\n\n'),
    text: [summary, ...findings.map(sentenceOf)].join('\n'),
    headline: summary,
  };
}

function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => {
    const { line, column, severity, rule, message, suggestion } = finding;
    const text = suggestion === undefined ? message : `${asSentence(message)} ${suggestion}`;
    return `| ${line}:${column} | ${[severity, rule, text].map(escapeMarkdown).join(' | ')} |`;
  });
  return ['| Place | Severity | Rule | Finding |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function sentenceOf({ line, severity, message }: Finding): string {
  return `Line ${line}, ${severity}: ${asSentence(message.replace(/\s+/gu, ' '))}`;
}

function asSentence(text: string): string {
  return /[.!?…]$/u.test(text) ? text : `${text}.`;
}
