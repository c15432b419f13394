import { z } from 'zod';
import type { Presented } from './present.js';

const summarized = z.object({
  summary: z.string(),
  sentences: z.array(z.unknown()),
  source_sentences: z.number(),
  language: z.string(),
});

/** The summary, and how much of the text it is. */
export function presentSummary(output: Readonly<Record<string, unknown>>): Presented | undefined {
  const { success, data } = summarized.safeParse(output);
  if (!success) return undefined;
  const { summary, sentences, source_sentences: all, language } = data;
  const share = `${sentences.length} of ${all} ${all === 1 ? 'sentence' : 'sentences'}, word for word`;
  const headline = language === 'und' ? `${share}.` : `${share}; language: ${language}.`;
  return { markdown: `## Summary\n\n${summary}\n\n_${headline}_`, text: summary, headline };
}
