import type { KnownLanguage } from '../text/stop-words.js';

export interface Piece {
  readonly text: string;
  readonly isWord: boolean;
}

/** Puts pieces together and mends where two words of the target meet: `a agent`, `le agent`, `de le registre`. */
export function joinPieces(pieces: readonly Piece[], target: KnownLanguage): string {
  const texts = spaced(pieces);
  if (target === 'en') meetings(texts, englishArticle);
  if (target === 'fr') {
    meetings(texts, elision);
    meetings(texts, contraction);
  }
  return texts.join('');
}

/** Words that a language writes together, as in `l'agent`, may stand for words that another does not. */
function spaced(pieces: readonly Piece[]): string[] {
  return pieces.flatMap(({ text, isWord }, index) =>
    isWord && index > 0 && pieces[index - 1]?.isWord === true ? [' ', text] : [text],
  );
}

/** What two neighbours become, the space between them included; undefined if they stay as they are. */
type Meeting = (before: string, after: string) => readonly [before: string, space: string, after: string] | undefined;

function meetings(texts: string[], meeting: Meeting): void {
  for (let at = 0; at + 2 < texts.length; at += 1) {
    if (texts[at + 1] !== ' ') continue;
    const met = meeting(texts[at] ?? '', texts[at + 2] ?? '');
    if (met !== undefined) texts.splice(at, 3, ...met);
  }
}

const englishArticle: Meeting = (before, after) => {
  if (!/^a$/i.test(before)) return undefined;
  return /^(?:[aeio]|u(?!n[aeiou]|s[aeiou]))/i.test(after) ? [`${before}n`, ' ', after] : undefined;
};

const elision: Meeting = (before, after) =>
  /^(?:le|la|de|je|ne|que)$/i.test(before) && startsWithVowel(after)
    ? [`${before.slice(0, -1)}'`, '', after]
    : undefined;

const CONTRACTIONS: Readonly<Record<string, string>> = { 'de le': 'du', 'de les': 'des', 'à le': 'au', 'à les': 'aux' };

const contraction: Meeting = (before, after) => {
  const contracted = CONTRACTIONS[`${before} ${after}`];
  return contracted === undefined ? undefined : [contracted, '', ''];
};

/** A French h is mute in most words; these are the others. */
const ASPIRATED = /^(?:hach|haut|hasard|huit|oui|onz)/iu;

function startsWithVowel(word: string): boolean {
  return /^[aeiouyàâäéèêëîïôöùûüœæh]/iu.test(word) && !ASPIRATED.test(word);
}
