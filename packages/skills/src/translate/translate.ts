import type { CapabilityDetail } from '@parley/agent';
import { z } from 'zod';
import { checkpoint } from '../checkpoint.js';
import { defineSkill } from '../define-skill.js';
import { readParameters } from '../parameters.js';
import { detectLanguage } from '../text/detect-language.js';
import { KNOWN_LANGUAGES } from '../text/stop-words.js';
import { foldWord } from '../text/words.js';
import { knowsWord, lexiconFor } from './lexicon.js';
import { render } from './render.js';
import { tokenize } from './tokens.js';
import { understand } from './understand.js';
import type { Unit } from './units.js';

/** Characters (UTF-16 code units) of text that one request may bring. */
export const MAX_TRANSLATION_CHARS = 50_000;
/** Words that an answer names as not translated. */
export const MAX_UNTRANSLATED = 500;

const SOURCE_CHOICES = [...KNOWN_LANGUAGES, 'auto'] as const;

const input = z.strictObject({ text: z.string().min(1).max(MAX_TRANSLATION_CHARS) });

const parameters = {
  source_language: {
    type: 'string',
    enum: SOURCE_CHOICES,
    default: 'auto',
    description: 'The language of the text; auto detects it.',
  },
  target_language: {
    type: 'string',
    enum: KNOWN_LANGUAGES,
    required: true,
    description: 'The language to translate into.',
  },
} as const satisfies CapabilityDetail['parameters'];

/**
 * Translation by glossary: phrases before words, words by their commonest meaning, everything unknown left as it is
 * and named. Pairs without English go through the English word.
 *
 * Answers `{translation, source_language, target_language, untranslated, coverage, offline}`; `coverage` is the share
 * of words that were translated (1 for a text without words), `source_language` is `und` where detection found none.
 */
export const translate = defineSkill<z.infer<typeof input>>({
  capability: 'translate',
  detail: {
    version: '1.0.0',
    description: 'Word-by-word translation by a hand-made glossary of English, Russian, German and French. Offline.',
    parameters,
  },
  input,
  async run({ text }, context) {
    const given = readParameters(parameters, context.parameters);
    const target = given.choice('target_language', KNOWN_LANGUAGES);
    const wanted = given.choice('source_language', SOURCE_CHOICES);
    await checkpoint(context.signal);

    const source = wanted === 'auto' ? detectLanguage(text, knowsWord) : wanted;
    const languages = { source_language: source ?? 'und', target_language: target };
    if (source === target) {
      return { translation: text, ...languages, untranslated: [], coverage: 1, offline: true };
    }
    const tokens = [...tokenize(text)];
    await checkpoint(context.signal);
    if (source === undefined) {
      const words = tokens.filter(({ kind }) => kind === 'word').map((token) => token.text);
      const coverage = words.length === 0 ? 1 : 0;
      return { translation: text, ...languages, untranslated: distinct(words), coverage, offline: true };
    }
    const units = understand(tokens, lexiconFor(source, target), source);
    await checkpoint(context.signal);

    return {
      translation: render(units, source, target),
      ...languages,
      untranslated: distinct(units.filter(({ type }) => type === 'unknown').map((unit) => unit.text)),
      coverage: coverageOf(units),
      offline: true,
    };
  },
});

/** Differently written words count once, as they stood first. */
function distinct(words: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const word of words) {
    const key = foldWord(word);
    if (!first.has(key)) first.set(key, word);
    if (first.size === MAX_UNTRANSLATED) break;
  }
  return [...first.values()];
}

function coverageOf(units: readonly Unit[]): number {
  let words = 0;
  let unknown = 0;
  for (const { type, text } of units) {
    if (type === 'literal') continue;
    // A phrase counts as the words that it is made of.
    words += text.split(' ').length;
    if (type === 'unknown') unknown += 1;
  }
  return words === 0 ? 1 : Math.round(((words - unknown) / words) * 10_000) / 10_000;
}
