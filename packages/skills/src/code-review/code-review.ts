import type { CapabilityDetail, Skill } from '@parley/agent';
import { z } from 'zod';
import { checkpoint } from '../checkpoint.js';
import { defineSkill } from '../define-skill.js';
import { readParameters } from '../parameters.js';
import { attemptsFor } from './attempts.js';
import { SEVERITIES, type Metrics } from './findings.js';
import { lint } from './lint.js';
import { countBySeverity, selectFindings, summarySentence, verdictOf } from './report.js';
import { countLines, textChecks } from './text-checks.js';

/** UTF-8 bytes of source and file name together: with JSON around them they fit into a body of 64 KiB. */
export const MAX_REVIEW_BYTES = 48 * 1024;

const LANGUAGE_CHOICES = ['typescript', 'javascript', 'auto'] as const;

const input = z
  .strictObject({
    source: z.string().max(MAX_REVIEW_BYTES),
    /** Only its ending counts: which language and dialect. Nothing is read from disk. */
    filename: z.string().min(1).max(255).optional(),
  })
  .refine(({ source, filename = '' }) => Buffer.byteLength(source) + Buffer.byteLength(filename) <= MAX_REVIEW_BYTES, {
    path: ['source'],
    error: `must be at most ${String(MAX_REVIEW_BYTES)} bytes of UTF-8, the file name included`,
  });

const parameters = {
  severity: {
    type: 'string',
    enum: SEVERITIES,
    default: 'info',
    description: 'The lowest severity to show.',
  },
  max_findings: {
    type: 'integer',
    minimum: 1,
    maximum: 200,
    default: 50,
    description: 'How many findings are shown at most; the severest stay.',
  },
  language: {
    type: 'string',
    enum: LANGUAGE_CHOICES,
    default: 'auto',
    description: 'What the source is written in; auto looks at the file name, then tries.',
  },
} as const satisfies CapabilityDetail['parameters'];

/** Ordinary code of the largest size takes well under a second. */
const DEFAULT_LIMIT_MS = 3_000;

export interface CodeReviewOptions {
  /** How long the linter may hold the event loop, in milliseconds. Default: 3,000. */
  readonly limitMs?: number;
  /** Milliseconds, for the limit. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Static review of JavaScript and TypeScript by ESLint and some checks of our own. The code is parsed, never run.
 *
 * Answers `{findings, counts, metrics, verdict, summary, truncated, language, offline}`. `counts` and `verdict` are
 * about everything that was found, also what `severity` and `max_findings` keep out of `findings`.
 */
export function createCodeReview(options: CodeReviewOptions = {}): Skill {
  const { limitMs = DEFAULT_LIMIT_MS, now = () => performance.now() } = options;
  return defineSkill<z.infer<typeof input>>({
    capability: 'code_review',
    detail: {
      version: '1.0.0',
      description:
        'Static review of JavaScript and TypeScript, JSX included: bugs, security, size. Never runs the code.',
      parameters,
    },
    input,
    // Linter and parser are large: loaded with the first review, they would hold up everything else for half a second.
    async prepare() {
      const signal = AbortSignal.timeout(60_000);
      for (const language of ['javascript', 'typescript'] as const) {
        await lint('', { attempts: attemptsFor(language, undefined), signal, limitMs: 60_000, now });
      }
    },
    async run({ source, filename }, context) {
      const given = readParameters(parameters, context.parameters);
      const lowest = given.choice('severity', SEVERITIES);
      const maxFindings = given.integer('max_findings');
      const attempts = attemptsFor(given.choice('language', LANGUAGE_CHOICES), filename);
      await checkpoint(context.signal);

      const linted = await lint(source, { attempts, signal: context.signal, limitMs, now });
      await checkpoint(context.signal);

      const findings = [...linted.findings, ...textChecks(source)];
      const counts = countBySeverity(findings);
      const verdict = verdictOf(counts);
      const metrics: Metrics = {
        lines: countLines(source),
        functions: linted.functions,
        max_complexity: linted.maxComplexity,
      };
      const { shown, truncated } = selectFindings(findings, lowest, maxFindings);
      return {
        findings: shown,
        counts,
        metrics,
        verdict,
        summary: summarySentence(counts, metrics, linted.language, verdict),
        truncated,
        language: linted.language,
        offline: true,
      };
    },
  });
}

/** {@link createCodeReview} with its defaults. */
export const codeReview = createCodeReview();
