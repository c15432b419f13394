import fc from 'fast-check';
import type { Scalar } from '@parley/agent';
import { MAX_TRANSLATION_CHARS, MAX_UNTRANSLATED, translate } from './translate.js';

interface Translation {
  readonly translation: string;
  readonly source_language: string;
  readonly target_language: string;
  readonly untranslated: readonly string[];
  readonly coverage: number;
  readonly offline: boolean;
}

const run = async (text: string, target: string, parameters: Record<string, Scalar> = {}): Promise<Translation> =>
  (await translate.run(
    { text },
    { parameters: { target_language: target, ...parameters }, signal: new AbortController().signal },
  )) as unknown as Translation;

const translated = async (text: string, target: string, source = 'auto'): Promise<string> =>
  (await run(text, target, { source_language: source })).translation;

describe('translate', () => {
  it.each([
    ['The agent sends a request to the server.', 'ru', 'Агент отправляет запрос к сервер.'],
    ['The agent sends a request to the server.', 'de', 'Der Agent sendet eine Anfrage zu der Server.'],
    ['The agent sends a request to the registry.', 'fr', "L'agent envoie une requête au registre."],
    ['Агент отправляет новый запрос.', 'en', 'Agent sends new request.'],
    ['Der Agent sendet eine neue Anfrage.', 'en', 'The agent sends a new request.'],
    ["L'agent envoie une nouvelle requête.", 'en', 'The agent sends a new request.'],
  ])('says %p in %s', async (text, target, expected) => {
    expect(await translated(text, target)).toBe(expected);
  });

  it.each([
    ['Der Agent sendet eine neue Anfrage.', 'ru', 'Агент отправляет новый запрос.'],
    ['Агент отправляет новый запрос.', 'de', 'Agent sendet neue Anfrage.'],
    ['Агент отправляет новый запрос.', 'fr', 'Agent envoie nouvelle requête.'],
    ["L'agent envoie une nouvelle requête.", 'de', 'Der Agent sendet eine neue Anfrage.'],
    ['Der Benutzer liest das Buch.', 'fr', "L'utilisateur lit le livre."],
  ])('goes through English where two languages have no glossary: %p in %s', async (text, target, expected) => {
    expect(await translated(text, target)).toBe(expected);
  });

  it('answers with what it did', async () => {
    expect(await run('The quux agent frobs a Quux.', 'de')).toEqual({
      translation: 'Der quux Agent frobs ein Quux.',
      source_language: 'en',
      target_language: 'de',
      untranslated: ['quux', 'frobs'],
      coverage: 0.5,
      offline: true,
    });
  });

  describe('phrases', () => {
    it.each([
      ['thank you', 'ru', 'спасибо'],
      ['thank you very much', 'ru', 'большое спасибо'],
      ['a pull request', 'de', 'ein Pull-Request'],
      ['the pull requests', 'fr', 'les demandes de tirage'],
      ['for example', 'de', 'zum Beispiel'],
      ['wie geht es Ihnen', 'en', 'how are you'],
      ["s'il vous plaît", 'ru', 'пожалуйста'],
    ])('go before words, the longest first: %p in %s', async (text, target, expected) => {
      expect(await translated(text, target)).toBe(expected);
    });

    it('are found across one space, not across other layout', async () => {
      expect(await translated('source code', 'fr', 'en')).toBe('code source');
      expect(await translated('source\ncode', 'fr', 'en')).toBe('source\ncode');
      expect(await translated('for, example', 'de', 'en')).toBe('für, Beispiel');
    });
  });

  describe('inflection', () => {
    it.each([
      ['agents', 'ru', 'агенты'],
      ['capabilities', 'de', 'Fähigkeiten'],
      ['people', 'fr', 'personnes'],
      ['networks', 'fr', 'réseaux'],
      ['children', 'de', 'Kinder'],
      ["the agent's tools", 'ru', 'агент инструменты'],
      ['агентами', 'en', 'agents'],
      ['списков', 'en', 'lists'],
      ['ошибку', 'en', 'error'],
      ['новыми', 'en', 'new'],
      ['нашли', 'en', 'found'],
      ['von Werkzeugen gelesen', 'en', 'of tools read'],
      ['les données', 'en', 'the data'],
    ])('turns %p into %s: %p', async (text, target, expected) => {
      expect(await translated(text, target)).toBe(expected);
    });

    it.each([
      ['an important message', 'ru', 'важное сообщение'],
      ['a new version', 'ru', 'новая версия'],
      ['good results', 'ru', 'хорошие результаты'],
      ['the last day', 'ru', 'последний день'],
      ['the blue window', 'ru', 'синее окно'],
      ['a new version', 'de', 'eine neue Version'],
      ['a new agent', 'de', 'ein neuer Agent'],
      ['the new agents', 'de', 'die neuen Agenten'],
      ['the high price', 'de', 'der hohe Preis'],
      ['a new version', 'fr', 'une nouvelle version'],
      ['the important messages', 'fr', 'les importants messages'],
      ['an open door', 'fr', 'une ouverte porte'],
    ])('makes adjectives and articles agree: %p in %s', async (text, target, expected) => {
      expect(await translated(text, target, 'en')).toBe(expected);
    });

    it('tells verbs from nouns by what stands around them', async () => {
      expect(await translated('Run the test. The user runs it. I want to test the run.', 'de', 'en')).toBe(
        'Ausführen der Test. Der Benutzer führt aus es. Ich wollen zu testen der Lauf.',
      );
    });

    it('writes an and elisions where the next word asks for them', async () => {
      expect(await translated('ein Agent und ein Benutzer', 'en', 'de')).toBe('an agent and a user');
      expect(await translated('of the agent, of the registry, to the servers, the idea', 'fr', 'en')).toBe(
        "de l'agent, du registre, aux serveurs, l'idée",
      );
    });
  });

  describe('case', () => {
    it.each([
      ['Agent', 'ru', 'Агент'],
      ['AGENT', 'ru', 'АГЕНТ'],
      ['THANK YOU', 'de', 'DANKE SCHÖN'],
      ['on Monday I wait', 'ru', 'на понедельник я ждать'],
      ['Monday', 'ru', 'Понедельник'],
      ['The agent. The tool.', 'ru', 'Агент. Инструмент.'],
      ['- The agent', 'ru', '- Агент'],
    ])('is kept where it says something: %p in %s', async (text, target, expected) => {
      expect(await translated(text, target, 'en')).toBe(expected);
    });

    it('of German nouns says nothing', async () => {
      expect(await translated('Das Werkzeug hilft dem Agenten. Werkzeuge helfen.', 'en', 'de')).toBe(
        'The tool helps the agents. Tools help.',
      );
      expect(await translated('Sie liest. Ich frage Sie.', 'en', 'de')).toMatch(/I ask you\.$/);
    });
  });

  it('keeps white space, punctuation and line ends', async () => {
    expect(await translated(' agent,\r\n\r\n\tagent  —  «agent» (agent)!\n', 'ru', 'en')).toBe(
      ' агент,\r\n\r\n\tагент  —  «агент» (агент)!\n',
    );
  });

  it('keeps code, addresses, placeholders and numbers', async () => {
    const text = 'agent `the agent` https://example.com/the/agent?agent=1 {agent} 3.50 agentId the_agent agent.ts';
    expect(await translated(text, 'de', 'en')).toBe(text.replace(/^agent/, 'Agent'));
    expect((await run(text, 'de', { source_language: 'en' })).coverage).toBe(1);
  });

  it('translates words with hyphens only whole', async () => {
    expect(await run('agent-server agent-frob', 'ru', { source_language: 'en' })).toMatchObject({
      translation: 'агент-сервер agent-frob',
      untranslated: ['agent-frob'],
    });
  });

  it('drops what another language has no word for', async () => {
    expect(await translated("Je ne sais pas. Il n'attend pas l'agent.", 'en', 'fr')).toBe(
      "I don't know. He waits for not the agent.",
    );
    expect(await translated('I want to read the book.', 'ru', 'en')).toBe('Я хотеть читать книга.');
    expect(await translated('The agent is ready, and the server is not.', 'ru', 'en')).toMatch(
      /^Агент — готовый, и сервер не\.$/,
    );
  });

  describe('source language', () => {
    it.each([
      ['en', 'agent registry', 'ru'],
      ['de', 'Werkzeug', 'en'],
      ['fr', 'utilisateur', 'en'],
      ['ru', 'агент', 'en'],
    ])('is found to be %s for %p', async (source_language, text, target) => {
      expect(await run(text, target)).toMatchObject({ source_language, coverage: 1 });
    });

    it.each([
      ['今日は天気がいい', ['今日は天気がいい'], 0],
      ['Zyx qwv', ['Zyx', 'qwv'], 0],
      ['12 + 34 😀', [], 1],
      ['\ud800', [], 1],
      ['\r\n \n', [], 1],
    ])('stays unknown for %p, which stays as it is', async (text, untranslated, coverage) => {
      expect(await run(text, 'de')).toMatchObject({
        translation: text,
        source_language: 'und',
        untranslated,
        coverage,
      });
    });

    it('that is the target changes nothing', async () => {
      const text = 'The  quux agent,\r\nis here.';
      const unchanged = { translation: text, untranslated: [], coverage: 1, source_language: 'en' };
      expect(await run(text, 'en')).toMatchObject(unchanged);
      expect(await run(text, 'en', { source_language: 'en' })).toMatchObject(unchanged);
    });
  });

  it('names what it could not translate once, as it stood first, and not more than 500 words', async () => {
    const { untranslated } = await run('Quux quux QUUX, frob the Frob', 'de', { source_language: 'en' });
    expect(untranslated).toEqual(['Quux', 'frob']);
    const letters = 'abcdefghij';
    const words = Array.from(
      { length: 1_000 },
      (_, index) => `zz${Array.from(String(index), (digit) => letters[Number(digit)]).join('')}`,
    );
    const many = await run(words.join(' '), 'de', { source_language: 'en' });
    expect(many.untranslated).toEqual(words.slice(0, MAX_UNTRANSLATED));
    expect(many.coverage).toBe(0);
  });

  it.each([
    ['words', 'agent '],
    ['phrases cut short', 'thank '],
    ['one endless word', 'a'],
    ['hyphens', 'a-'],
    ['dashes', 'a--'],
    ['apostrophes', "l'"],
    ['dots', 'a.'],
    ['backticks', '`a\n'],
    ['open tags', '<a '],
    ['open braces', '{a'],
    ['at signs', 'a@'],
    ['digits', '1.'],
    ['line ends', '\r\n'],
    ['emoji', '😀'],
    ['lone surrogates', '\ud800'],
    ['combining marks', 'a\u0301'],
  ])('copes with the largest text made of %s', async (_name, piece) => {
    const text = piece.repeat(MAX_TRANSLATION_CHARS).slice(0, MAX_TRANSLATION_CHARS);
    for (const source_language of ['en', 'fr']) {
      const { coverage, untranslated } = await run(text, 'de', { source_language });
      expect(coverage).toBeGreaterThanOrEqual(0);
      expect(coverage).toBeLessThanOrEqual(1);
      expect(untranslated.length).toBeLessThanOrEqual(MAX_UNTRANSLATED);
    }
  });

  it('takes texts of 1 to 50,000 characters', async () => {
    expect(translate.input.safeParse({ text: 'x'.repeat(50_000) }).success).toBe(true);
    await expect(run('', 'de')).rejects.toMatchObject({ reason: 'invalid_request' });
    await expect(run('x'.repeat(50_001), 'de')).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it('needs a target language, and refuses those it does not know', async () => {
    const context = { parameters: {}, signal: new AbortController().signal };
    await expect(translate.run({ text: 'agent' }, context)).rejects.toMatchObject({
      reason: 'invalid_request',
      errors: [{ path: 'parameters.target_language', message: 'is required' }],
    });
    await expect(run('agent', 'auto')).rejects.toMatchObject({ reason: 'invalid_request' });
    await expect(run('agent', 'de', { source_language: 'es' })).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it('keeps every number and address, in order, whatever stands around them', async () => {
    const word = fc.constantFrom(
      'the',
      'agent',
      'sends',
      'quux',
      'агент',
      'к',
      'Werkzeug',
      "l'agent",
      'to',
      'is',
      'a',
      '—',
      '\n',
      '(',
      '😀',
    );
    const number = fc.oneof(
      fc.integer({ min: 0 }).map(String),
      fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value.toFixed(2)),
    );
    const address = fc.webUrl({ withQueryParameters: true }).filter((url) => !/['"`«»“”<>]/.test(url));
    const part = fc.oneof(word, number, address);
    const language = fc.constantFrom('en', 'ru', 'de', 'fr');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 25 }), language, language, async (parts, from, to) => {
        const { translation } = await run(parts.join(' '), to, { source_language: from });
        let at = 0;
        for (const kept of parts.filter((text) => /^(?:\d|https?:)/.test(text))) {
          const found = translation.indexOf(kept, at);
          expect(found).toBeGreaterThanOrEqual(at);
          at = found + kept.length;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('covers everything it knows, and gives the same answer each time', async () => {
    const text = fc.array(fc.constantFrom('agent', 'quux', 'The', '. ', 'registry', 'runs', '3'), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const source = parts.join(' ');
        const answer = await run(source, 'ru', { source_language: 'en' });
        expect(answer.coverage === 1).toBe(answer.untranslated.length === 0);
        expect(await run(source, 'ru', { source_language: 'en' })).toEqual(answer);
      }),
      { numRuns: 50 },
    );
  });
});
