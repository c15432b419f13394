import type { KnownLanguage } from '../text/stop-words.js';
import { foldWord } from '../text/words.js';
import { definitenessOf, isSilent } from './articles.js';
import { choose } from './choice.js';
import type { Lexicon, Match } from './lexicon.js';
import type { Token } from './tokens.js';
import type { Unit } from './units.js';

/** French words that lose their vowel before another word: `l'agent` are two. */
const ELIDED = /^(?<head>(?:[cdjlmnst]|qu|lorsqu|puisqu)['’])(?<rest>.+)$/iu;

/**
 * Finds in the lexicon what the words of a text mean: the longest phrase that begins at a word first, then the word,
 * then what it is made of.
 */
export function understand(tokens: readonly Token[], lexicon: Lexicon, source: KnownLanguage): Unit[] {
  return new Reader(tokens, lexicon, source).read();
}

class Reader {
  readonly #units: Unit[] = [];
  #at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly lexicon: Lexicon,
    private readonly source: KnownLanguage,
  ) {}

  read(): Unit[] {
    while (this.#at < this.tokens.length) {
      const token = this.tokens[this.#at];
      if (token?.kind === 'word') this.#at += this.#readPhrase() || this.#readWord(token.text);
      else {
        if (token !== undefined) this.#add({ type: 'literal', text: token.text, isSpace: token.kind === 'space' });
        this.#at += 1;
      }
    }
    return this.#units;
  }

  #add(unit: Unit): void {
    this.#units.push(unit);
  }

  /** @returns how many tokens the phrase takes, 0 if none begins here. */
  #readPhrase(): number {
    const first = foldWord(this.tokens[this.#at]?.text ?? '');
    for (let words = this.lexicon.longestFrom(first); words > 1; words -= 1) {
      const taken = words * 2 - 1;
      const text = this.#phraseText(taken);
      if (text === undefined) continue;
      const match = this.#chosen(this.lexicon.candidates(foldWord(text)), text, taken);
      if (match !== undefined) {
        this.#addKnown(text, match);
        return taken;
      }
    }
    return 0;
  }

  /** Words with exactly one space between them; anything else is layout, and stays. */
  #phraseText(taken: number): string | undefined {
    let text = '';
    for (let offset = 0; offset < taken; offset += 1) {
      const token = this.tokens[this.#at + offset];
      const fits = offset % 2 === 0 ? token?.kind === 'word' : token?.text === ' ';
      if (token === undefined || !fits) return undefined;
      text += token.text;
    }
    return text;
  }

  /** @returns 1, the token that was read. */
  #readWord(text: string): 1 {
    if (!this.#readKnown(text) && !this.#readPossessive(text) && !this.#readElided(text) && !this.#readParts(text)) {
      this.#add({ type: 'unknown', text });
    }
    return 1;
  }

  #readKnown(text: string): boolean {
    const word = foldWord(text);
    const definiteness = definitenessOf(word, this.source);
    if (definiteness !== undefined) {
      this.#add({ type: 'article', text, definiteness, beginsSentence: this.#beginsSentence() });
      return true;
    }
    if (isSilent(word, this.source)) {
      this.#add({ type: 'silent', text });
      return true;
    }
    const match = this.#chosen(this.lexicon.candidates(word), text, 1);
    if (match === undefined) return false;
    this.#addKnown(text, match);
    return true;
  }

  #readPossessive(text: string): boolean {
    const base = this.source === 'en' ? /^(?<base>.+)['’]s$/iu.exec(text)?.groups?.['base'] : undefined;
    return base !== undefined && this.#readKnown(base);
  }

  #readElided(text: string): boolean {
    const { head, rest } = (this.source === 'fr' ? ELIDED.exec(text)?.groups : undefined) ?? {};
    if (head === undefined || rest === undefined || !this.#readKnown(head)) return false;
    if (!this.#readKnown(rest) && !this.#readParts(rest)) this.#add({ type: 'unknown', text: rest });
    return true;
  }

  /** `agent-server`: only if every part is known; half a translation of a word helps nobody. */
  #readParts(text: string): boolean {
    const parts = text.split(/[-‑]/u);
    const areKnown = parts.every((part) => this.lexicon.candidates(foldWord(part)).length > 0);
    if (parts.length < 2 || !areKnown) return false;
    for (const [index, part] of parts.entries()) {
      if (index > 0) this.#add({ type: 'literal', text: '-', isSpace: false });
      this.#readKnown(part);
    }
    return true;
  }

  #chosen(candidates: readonly Match[], text: string, taken: number): Match | undefined {
    if (candidates.length === 0) return undefined;
    const next = this.tokens[this.#at + taken]?.kind === 'space' ? this.tokens[this.#at + taken + 1] : undefined;
    return choose(candidates, text, {
      source: this.source,
      before: this.#wordBefore(),
      after: next?.kind === 'word' ? foldWord(next.text) : undefined,
      beginsSentence: this.#beginsSentence(),
    });
  }

  #addKnown(text: string, match: Match): void {
    this.#add({ type: 'known', text, match, beginsSentence: this.#beginsSentence() });
  }

  #wordBefore(): Unit | undefined {
    const last = this.#units.at(-1);
    if (last?.type !== 'literal') return last;
    const before = last.isSpace ? this.#units.at(-2) : undefined;
    return before?.type === 'literal' ? undefined : before;
  }

  /** After nothing, after a mark that ends a sentence, after an empty line, after the dash of a list item. */
  #beginsSentence(): boolean {
    const last = this.#units.at(-1);
    if (last === undefined) return true;
    if (last.type !== 'literal') return false;
    if (!last.isSpace) return /^["'«“„([{*_#>]$/u.test(last.text) && this.#units.length === 1;
    const before = this.#units.at(-2);
    return before === undefined || /\n\s*\n/.test(last.text) || (before.type === 'literal' && this.#opens(before.text));
  }

  #opens(mark: string): boolean {
    if (/^[.!?…]$/u.test(mark)) return true;
    const before = this.#units.at(-3);
    const opensLine = before === undefined || (before.type === 'literal' && before.text.includes('\n'));
    return opensLine && /^[-*•–—#>]$/u.test(mark);
  }
}
