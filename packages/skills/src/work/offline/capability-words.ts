/** What people say for a capability, in English, German, French and Russian. */
const START = String.raw`(?<![\p{L}\p{N}_-])`;
const END = String.raw`(?![\p{L}\p{N}_-])`;
/** “Translate the summary” asks for one thing, “write a summary” for the other. */
const NOT_GIVEN = String.raw`(?<!\b(?:the|this|that|your|its|these|those|last|previous|der|die|das|diese|la|le|cette|ce) )`;
const CODE = String.raw`(?= (?:(?:this|the|my|that|our|following|attached) ){0,2}(?:[\w.+#-]+ )?(?:code|files?|source|script|program|module|function|snippet))`;

function words(...alternatives: readonly string[]): RegExp {
  return new RegExp(`${START}${NOT_GIVEN}(?:${alternatives.join('|')})${END}`, 'giu');
}

const CAPABILITY_WORDS: readonly (readonly [string, RegExp])[] = [
  [
    'code_review',
    words(
      'code[ _-]?reviews?',
      '(?:re-?)?review(?:s|ed|ing)?(?: (?:the|this|my) code)?',
      'lint(?:s|ed|ing)?',
      `(?:check|inspect|audit|examine)(?:s|ed|ing)?${CODE}`,
      'find (?:the |all |any )?(?:bugs|errors|problems)',
      'relis(?:ez)?|relire|vérifie[rz]?',
      'überprüfe?n?|prüfe?n?',
      'проверь(?:те)?|проверить|отревьюй|ревью',
    ),
  ],
  [
    'summarize',
    words(
      'summari[sz](?:e|es|ed|ing)|summary|summaries',
      'tl;?dr',
      'sum(?:s|med|ming)? (?:it |this |that |them )?up',
      'shorten|condense|abridge',
      'fasse?(?: (?:es|das|dies|diesen text|den text))?(?: [^.:;]{0,40}?)? zusammen|zusammenfass(?:en|ung)|zusammenzufassen',
      'résume[rz]?|un résumé',
      'суммируй(?:те)?|суммировать|резюмируй(?:те)?|резюме|перескажи(?:те)?|кратко изложи(?:те)?|сократи(?:те)?|подведи итог',
    ),
  ],
  [
    'translate',
    words(
      'translat(?:e|es|ed|ing|ion)',
      'übersetz(?:e|en|t|ung)',
      'tradui(?:s|sez|re|t)|une traduction',
      'перевед(?:и|ите|ём)|перевести|перевод',
    ),
  ],
];

export interface CapabilityMention {
  readonly capability: string;
  readonly at: number;
  readonly end: number;
}

/**
 * The capabilities that the words ask for, in their order; of one that is named twice in a row only the first mention.
 *
 * @param others further capabilities, known by their name alone.
 */
export function capabilitiesIn(words_: string, others: readonly string[] = []): CapabilityMention[] {
  const found = [
    ...CAPABILITY_WORDS.flatMap(([capability, pattern]) => mentions(words_, capability, pattern)),
    ...others
      .filter((name) => !CAPABILITY_WORDS.some(([known]) => known === name))
      .flatMap((name) => mentions(words_, name, namePattern(name))),
  ].sort((a, b) => a.at - b.at);
  return found.filter(({ capability }, index) => found[index - 1]?.capability !== capability);
}

function mentions(text: string, capability: string, pattern: RegExp): CapabilityMention[] {
  return Array.from(text.matchAll(pattern), (match) => ({
    capability,
    at: match.index,
    end: match.index + match[0].length,
  }));
}

/** `image_description` is also said with blanks. */
function namePattern(name: string): RegExp {
  const escaped = name.replace(/[^\p{L}\p{N}_]/gu, String.raw`\$&`).replaceAll('_', '[ _-]');
  return new RegExp(`${START}${escaped}${END}`, 'giu');
}
