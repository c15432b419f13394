import type { Sentence } from './sentences.js';

/** How much of a score comes from where the sentence stands; the rest from what it says. */
const POSITION_SHARE = 0.2;
/** What sharing all its words with a chosen sentence costs one that is still to be chosen. */
const REDUNDANCY_PENALTY = 0.4;
/** Nearly the same words: never chosen twice. */
const SAME = 0.9;
/** Choosing compares with everything chosen before; beyond the best so many, nobody has a chance. */
const MAX_CANDIDATES = 500;
const FEW_TERMS = 3;
/** What a word counts that stands in the text once: the text is hardly about it, however rare it is. */
const ONCE = 0.25;

type Terms = ReadonlyMap<string, number>;

/**
 * Scores sentences from 0 to 1: TF-IDF weight of their words (how much the text speaks of them, less what stands
 * everywhere), damped by length, plus a bonus for early sentences and openings of paragraphs.
 */
export function scoreSentences(sentences: readonly Sentence[], terms: readonly Terms[]): number[] {
  const weights = termWeights(terms);
  const raw = sentences.map((sentence, index) => {
    const own = terms[index] ?? new Map<string, number>();
    let sum = 0;
    let length = 0;
    for (const [term, count] of own) {
      sum += weights.get(term) ?? 0;
      length += count;
    }
    if (length === 0) return 0;
    const dampened = sum / (length + 4) ** 0.75;
    return dampened * (length < FEW_TERMS ? 0.5 : 1) * (sentence.isHeading ? 0.4 : 1);
  });
  const highest = raw.reduce((most, value) => Math.max(most, value), 0);
  return sentences.map((sentence, index) => {
    const content = highest === 0 ? 0 : (raw[index] ?? 0) / highest;
    return content * (1 - POSITION_SHARE) + positionBonus(sentence, index, sentences.length) * POSITION_SHARE;
  });
}

function positionBonus(sentence: Sentence, index: number, count: number): number {
  if (sentence.isHeading) return 0;
  const earliness = 1 / (1 + (10 * index) / count);
  return 0.7 * earliness + (sentence.opensParagraph ? 0.3 : 0);
}

function termWeights(terms: readonly Terms[]): Map<string, number> {
  const frequency = new Map<string, number>();
  const sentencesWith = new Map<string, number>();
  for (const own of terms) {
    for (const [term, count] of own) {
      frequency.set(term, (frequency.get(term) ?? 0) + count);
      sentencesWith.set(term, (sentencesWith.get(term) ?? 0) + 1);
    }
  }
  const weights = new Map<string, number>();
  for (const [term, count] of frequency) {
    const rarity = Math.log(1 + terms.length / (sentencesWith.get(term) ?? 1));
    weights.set(term, (ONCE + Math.log(count)) * rarity);
  }
  return weights;
}

/**
 * Chooses up to `max` sentences, each time the one whose score is highest after the penalty for repeating what is
 * chosen already. @returns indexes in source order; equal scores go to the earlier sentence.
 */
export function chooseSentences(scores: readonly number[], terms: readonly Terms[], max: number): number[] {
  const candidates = scores
    .map((score, index) => ({ index, score, overlap: 0 }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, MAX_CANDIDATES);
  const chosen: number[] = [];
  while (chosen.length < max) {
    const worth = (candidate: { score: number; overlap: number }): number =>
      candidate.score - REDUNDANCY_PENALTY * candidate.overlap;
    const open = candidates.filter(({ index, overlap }) => overlap < SAME && !chosen.includes(index));
    const [first, ...others] = open;
    if (first === undefined) break;
    const best = others.reduce((leader, candidate) => (worth(candidate) > worth(leader) ? candidate : leader), first);
    chosen.push(best.index);
    for (const candidate of candidates) {
      candidate.overlap = Math.max(candidate.overlap, similarity(terms[best.index], terms[candidate.index]));
    }
  }
  return chosen.sort((a, b) => a - b);
}

/** Cosine of the two counts of terms, 0 where one has none. */
function similarity(left: Terms | undefined, right: Terms | undefined): number {
  if (left === undefined || right === undefined || left.size === 0 || right.size === 0) return 0;
  let dot = 0;
  for (const [term, count] of left) dot += count * (right.get(term) ?? 0);
  return dot === 0 ? 0 : dot / (norm(left) * norm(right));
}

function norm(terms: Terms): number {
  let sum = 0;
  for (const count of terms.values()) sum += count * count;
  return Math.sqrt(sum);
}
