import { z } from 'zod';
import { SEVERITIES } from './findings.js';

const count = z.int().min(0);

const finding = z.strictObject({
  line: z.int().min(1),
  column: z.int().min(1),
  severity: z.enum(SEVERITIES),
  rule: z.string().min(1).max(100),
  message: z.string().max(300),
  suggestion: z.string().max(300).optional(),
});

/** What a review answers, for whoever gets one from elsewhere and has to check it. */
export const reviewOutput = z.strictObject({
  findings: z.array(finding).max(200),
  counts: z.strictObject({ error: count, warning: count, info: count }),
  metrics: z.strictObject({ lines: count, functions: count, max_complexity: count }),
  verdict: z.enum(['approve', 'comment', 'request_changes']),
  summary: z.string().max(1_000),
  truncated: z.boolean(),
  language: z.enum(['javascript', 'typescript']),
  offline: z.boolean(),
});
