import { z } from 'zod';
import { escapeMarkdown } from './escape-markdown.js';
import type { Presented } from './present.js';

const translated = z.object({
  translation: z.string(),
  source_language: z.string(),
  target_language: z.string(),
  untranslated: z.array(z.string()),
  coverage: z.number(),
});

/** The translation, and the words that were left as they are. */
export function presentTranslation(output: Readonly<Record<string, unknown>>): Presented | undefined {
  const { success, data } = translated.safeParse(output);
  if (!success) return undefined;
  const { translation, source_language: source, target_language: target, untranslated, coverage } = data;
  const percent = Math.floor(coverage * 100);
  const headline = `From ${source === 'und' ? 'an unknown language' : source} to ${target}, ${percent} % of the words.`;
  const left = untranslated.length === 0 ? [] : [`**Not translated:** ${untranslated.map(escapeMarkdown).join(', ')}`];
  const markdown = [`## Translation`, translation, `_${headline}_`, ...left].join('\n\n');
  return { markdown, text: translation, headline };
}
