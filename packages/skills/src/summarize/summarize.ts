import type { CapabilityDetail } from '@parley/agent';
import { z } from 'zod';
import { checkpoint } from '../checkpoint.js';
import { defineSkill } from '../define-skill.js';
import { readParameters } from '../parameters.js';
import { detectLanguage } from '../text/detect-language.js';
import { chooseSentences, scoreSentences } from './ranking.js';
import { splitSentences, type Sentence } from './sentences.js';
import { termsOf } from './terms.js';

/** Characters (UTF-16 code units) of text that one request may bring. */
export const MAX_SUMMARY_TEXT_CHARS = 200_000;

const LANGUAGE_CHOICES = ['en', 'ru', 'de', 'auto'] as const;

const input = z.strictObject({ text: z.string().min(1).max(MAX_SUMMARY_TEXT_CHARS) });

const parameters = {
  max_sentences: {
    type: 'integer',
    minimum: 1,
    maximum: 20,
    default: 3,
    description: 'How many sentences the summary has at most.',
  },
  language: {
    type: 'string',
    enum: LANGUAGE_CHOICES,
    default: 'auto',
    description: 'The language of the text, for its function words and endings; auto detects it.',
  },
} as const satisfies CapabilityDetail['parameters'];

/** How many sentences are worked on before other work gets a turn. */
const BATCH = 2_000;

/**
 * Extractive summary: the sentences that carry most of the text, word for word and in source order.
 *
 * Answers `{summary, sentences: [{index, text, score}], source_sentences, language, compression_ratio, offline}`;
 * `language` is `und` where detection finds none that it knows, `compression_ratio` is characters of the summary
 * per character of the text (0 to 1).
 */
export const summarize = defineSkill({
  capability: 'summarize',
  detail: {
    version: '1.0.0',
    description: 'Extractive summary: the most telling sentences of a text, word for word, in their order. Offline.',
    parameters,
  },
  input,
  async run({ text }, context) {
    const given = readParameters(parameters, context.parameters);
    const maxSentences = given.integer('max_sentences');
    const wanted = given.choice('language', LANGUAGE_CHOICES);
    await checkpoint(context.signal);

    const language = wanted === 'auto' ? detectLanguage(text) : wanted;
    const sentences = splitSentences(text);
    const terms: Map<string, number>[] = [];
    for (const [index, sentence] of sentences.entries()) {
      if (index % BATCH === 0) await checkpoint(context.signal);
      terms.push(termsOf(sentence.text, language));
    }
    const scores = scoreSentences(sentences, terms);
    await checkpoint(context.signal);

    const chosen = chooseSentences(scores, terms, maxSentences).flatMap((index) => {
      const sentence = sentences[index];
      return sentence === undefined ? [] : [{ index, sentence, score: round(scores[index] ?? 0) }];
    });
    const summary = join(chosen.map(({ sentence }) => sentence));
    return {
      summary,
      sentences: chosen.map(({ index, sentence, score }) => ({ index, text: sentence.text, score })),
      source_sentences: sentences.length,
      language: language ?? 'und',
      compression_ratio: round(summary.length / text.length),
      offline: true,
    };
  },
});

/** Neighbours stay as the source has them if it puts nothing between; scripts without spaces get none. */
function join(sentences: readonly Sentence[]): string {
  let out = '';
  let previous: Sentence | undefined;
  for (const sentence of sentences) {
    const isTight =
      previous === undefined || previous.end === sentence.start || /[。！？｡」』）]$/u.test(previous.text);
    out += isTight ? sentence.text : ` ${sentence.text}`;
    previous = sentence;
  }
  return out;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
