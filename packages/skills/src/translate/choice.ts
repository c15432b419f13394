import type { KnownLanguage } from '../text/stop-words.js';
import { foldWord } from '../text/words.js';
import type { Match } from './lexicon.js';
import type { Unit } from './units.js';

/** What stands around a word that may mean several things. */
export interface Surroundings {
  readonly source: KnownLanguage;
  /** The word before, if nothing but space lies between. */
  readonly before: Unit | undefined;
  /** The word after it, folded. */
  readonly after: string | undefined;
  readonly beginsSentence: boolean;
}

/** After these an English word that is both is the verb. */
const BEFORE_VERB = new Set(
  `to can could will would must should may might shall not please i you we they don't doesn't didn't can't cannot won't
  never always`.split(/\s+/),
);
const SINGULAR_SUBJECT = new Set('he she it who which that this everyone nobody'.split(' '));
/** Before these it is the verb if the sentence begins with it: `Test the agent.` */
const OBJECT_BEGINS = new Set(
  'the a an my your his her our their its it this these those all each every some'.split(' '),
);

/** The likeliest of several meanings: the one that is written exactly so, and the verb where a verb belongs. */
export function choose(candidates: readonly Match[], text: string, around: Surroundings): Match | undefined {
  const exact = candidates.filter(({ form }) => form === text);
  const pool = exact.length > 0 ? exact : candidates;
  const verb = pool.find(({ sense }) => sense.kind === 'verb');
  const other = pool.find(({ sense }) => sense.kind !== 'verb');
  if (verb === undefined || other === undefined) return pool[0];
  return around.source === 'en' && wantsVerb(verb, around) ? verb : other;
}

function wantsVerb(verb: Match, { before, after, beginsSentence }: Surroundings): boolean {
  if (beginsSentence) return verb.slot === 0 && after !== undefined && OBJECT_BEGINS.has(after);
  if (before === undefined) return false;
  const word = foldWord(before.text);
  if (BEFORE_VERB.has(word)) return true;
  const isNoun = before.type === 'known' && before.match.sense.kind === 'noun';
  if (verb.slot === 1) return SINGULAR_SUBJECT.has(word) || (isNoun && before.match.slot === 0);
  return verb.slot === 0 && isNoun && before.match.slot === 1;
}
