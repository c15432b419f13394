import type { Glossary } from '../row.js';
import { ADJECTIVES } from './adjectives.js';
import { ADVERBS } from './adverbs.js';
import { FUNCTION_WORDS } from './function-words.js';
import { NOUNS } from './nouns.js';
import { PHRASES } from './phrases.js';
import { VERBS } from './verbs.js';

export const EN_FR: Glossary = {
  phrase: PHRASES,
  function: FUNCTION_WORDS,
  noun: NOUNS,
  verb: VERBS,
  adjective: ADJECTIVES,
  adverb: ADVERBS,
};
