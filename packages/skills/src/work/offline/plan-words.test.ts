import { planWords } from './plan-words.js';

/** `translate>de` for a translation into German, `+` before a step that works beside the one before. */
function shortly(words: string, others: readonly string[] = []): string {
  return planWords(words, others)
    .map(({ capability, parameters, alongside, unknownLanguage }) => {
      const { target_language: target, ...rest } = parameters;
      const more = Object.entries(rest).map(([name, value]) => `[${name}=${value}]`);
      const into = target === undefined ? '' : `>${target}`;
      return `${alongside ? '+' : ''}${capability}${into}${more.join('')}${unknownLanguage ? `?${unknownLanguage}` : ''}`;
    })
    .join(' ');
}

describe('what words ask for', () => {
  it.each([
    ['review this file and summarise the findings in Russian', 'code_review summarize translate>ru'],
    ['translate this into German', 'translate>de'],
    ['summarize the text in two sentences and translate it to French', 'summarize[max_sentences=2] translate>fr'],
    ['Give me a TL;DR', 'summarize'],
    ['Give me a one-sentence summary', 'summarize[max_sentences=1]'],
    ['Lint it, please', 'code_review'],
    ['Check this code for errors', 'code_review'],
    ['code review, errors only', 'code_review[severity=error]'],
    ['Please do a code review of my file', 'code_review'],
    ['Translate the summary into English', 'translate>en'],
    ['Translate from French into German', 'translate>de[source_language=fr]'],
    ['Translate into French and German', 'translate>fr +translate>de'],
    ['In Russian: translate it', 'translate>ru'],
    ['sum it up in German', 'summarize translate>de'],
    ['auf Deutsch', 'translate>de'],
    ['Übersetze das bitte ins Russische', 'translate>ru'],
    ['Bitte vom Englischen ins Deutsche übersetzen', 'translate>de[source_language=en]'],
    ['Fasse den Text in drei Sätzen zusammen', 'summarize[max_sentences=3]'],
    ['Prüfe den Code und fasse die Funde auf Russisch zusammen', 'code_review summarize translate>ru'],
    ['Traduis ce texte en anglais', 'translate>en'],
    ['Résume le texte en deux phrases', 'summarize[max_sentences=2]'],
    ['переведи это на немецкий', 'translate>de'],
    ['Проверь код и кратко изложи по-французски', 'code_review summarize translate>fr'],
    ['перескажи в двух предложениях на русском', 'summarize[max_sentences=2] translate>ru'],
    ['translate it into Spanish', 'translate?Spanish'],
    ['translate', 'translate'],
    ['Who are you?', ''],
    ['The reviewer translated nothing', 'translate'],
    ['Preview the summarily revised transliteration', ''],
    ['', ''],
  ])('“%s” → %s', (words, plan) => {
    expect(shortly(words)).toBe(plan);
  });

  it('knows capabilities of its own by their name', () => {
    expect(shortly('make an image description, then translate it into German', ['image_description'])).toBe(
      'image_description translate>de',
    );
  });

  it('takes time in proportion to the words', () => {
    const words = `${'in into to and check the code '.repeat(2_000)} review`;
    const begun = performance.now();
    planWords(words);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
