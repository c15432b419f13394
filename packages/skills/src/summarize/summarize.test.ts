import fc from 'fast-check';
import type { Scalar } from '@parley/agent';
import { MAX_SUMMARY_TEXT_CHARS, summarize } from './summarize.js';

interface Summary {
  readonly summary: string;
  readonly sentences: readonly { readonly index: number; readonly text: string; readonly score: number }[];
  readonly source_sentences: number;
  readonly language: string;
  readonly compression_ratio: number;
  readonly offline: boolean;
}

const run = async (text: string, parameters: Record<string, Scalar> = {}): Promise<Summary> =>
  (await summarize.run({ text }, { parameters, signal: new AbortController().signal })) as unknown as Summary;

const ENGLISH = `The registry keeps a record of every agent. An agent registers itself with a manifest and a lease.
The weather was fine that day. When the lease of an agent ends, the registry forgets the agent.
Agents find each other through the registry and negotiate an agreement. Somebody had left a window open.
The agreement says which agent does the work and what the other agent gets. Birds sang.`;

const RUSSIAN = `Реестр хранит запись о каждом агенте. Агент регистрируется с манифестом и арендой. Погода была хорошая.
Когда аренда агента истекает, реестр забывает агента. Агенты находят друг друга через реестр. Кто-то открыл окно.`;

const GERMAN = `Die Registrierung führt einen Eintrag über jeden Agenten. Ein Agent meldet sich mit einem Manifest an.
Das Wetter war schön. Wenn die Frist eines Agenten endet, vergisst die Registrierung den Agenten. Vögel sangen.`;

describe('summarize', () => {
  it('picks the sentences that carry the text, in source order', async () => {
    const { summary, sentences, source_sentences, language, offline } = await run(ENGLISH);
    expect(sentences.map(({ text }) => text)).toEqual([
      'The registry keeps a record of every agent.',
      'An agent registers itself with a manifest and a lease.',
      'Agents find each other through the registry and negotiate an agreement.',
    ]);
    expect(summary).toBe(sentences.map(({ text }) => text).join(' '));
    expect(source_sentences).toBe(8);
    expect(language).toBe('en');
    expect(offline).toBe(true);
  });

  it('leaves out what the text is not about', async () => {
    const { summary } = await run(ENGLISH, { max_sentences: 5 });
    expect(summary).not.toMatch(/weather|window|birds/i);
  });

  it.each([
    ['ru', RUSSIAN, /реестр/i, /погода|окно/i],
    ['de', GERMAN, /registrierung/i, /wetter|vögel/i],
  ])('works in %s', async (expected, text, wanted, unwanted) => {
    const { summary, language } = await run(text, { max_sentences: 2 });
    expect(language).toBe(expected);
    expect(summary).toMatch(wanted);
    expect(summary).not.toMatch(unwanted);
  });

  it('works without spaces between words, and puts none in', async () => {
    const { summary, language, source_sentences } = await run(
      '注册中心保存每个代理的记录。今天天气很好。代理通过注册中心找到其他代理。代理协商协议。',
      { max_sentences: 2 },
    );
    expect(source_sentences).toBe(4);
    expect(language).toBe('und');
    expect(summary).toBe('注册中心保存每个代理的记录。代理通过注册中心找到其他代理。');
  });

  it('takes the language it is told, and names the one it detects', async () => {
    expect((await run(ENGLISH, { language: 'de' })).language).toBe('de');
    expect((await run(ENGLISH, { language: 'auto' })).language).toBe('en');
    expect((await run("L'agent est dans le registre et il attend.")).language).toBe('fr');
  });

  it('gives as many sentences as asked for, and no more than there are', async () => {
    expect((await run(ENGLISH, { max_sentences: 1 })).sentences).toHaveLength(1);
    expect((await run(ENGLISH, { max_sentences: 20 })).sentences).toHaveLength(8);
    expect((await run('Only one sentence', { max_sentences: 20 })).summary).toBe('Only one sentence');
  });

  it('does not say the same thing twice', async () => {
    const text = `${'The registry keeps agents. '.repeat(10)}A lease has an end. Offers are compared.`;
    const { sentences } = await run(text);
    expect(sentences.map((sentence) => sentence.text)).toEqual([
      'The registry keeps agents.',
      'A lease has an end.',
      'Offers are compared.',
    ]);
  });

  it('does not let a heading speak for the text', async () => {
    const { summary } = await run('# Registry and agents\nThe registry keeps agents alive by leases. Birds sang.', {
      max_sentences: 1,
    });
    expect(summary).toBe('The registry keeps agents alive by leases.');
  });

  it('says how much shorter the summary is', async () => {
    const { summary, compression_ratio } = await run(ENGLISH);
    expect(compression_ratio).toBeCloseTo(summary.length / ENGLISH.length, 4);
    expect((await run('One. ')).compression_ratio).toBe(0.8);
  });

  it.each([
    ['white space', ' \r\n\n\t '],
    ['line separators', '\u2028\u2029'],
  ])('answers %s with an empty summary', async (_name, text) => {
    expect(await run(text)).toEqual({
      summary: '',
      sentences: [],
      source_sentences: 0,
      language: 'und',
      compression_ratio: 0,
      offline: true,
    });
  });

  it.each([
    ['emoji', '😀😀 🎉'],
    ['a lone surrogate', '\ud800'],
    ['marks', '... !!! ???'],
    ['stop words', 'The and of it is.'],
  ])('gives %s back as they are', async (_name, text) => {
    const { summary, sentences } = await run(text);
    expect(summary).not.toBe('');
    expect(sentences.every((sentence) => text.includes(sentence.text))).toBe(true);
  });

  it.each([
    ['sentences', 'A short sentence about agents. '],
    ['tiny sentences', 'A1. '],
    ['one endless word', 'a'],
    ['brackets', '(('],
    ['lines', '\r\n'],
    ['ideographic marks', '。」'],
    ['lone surrogates', '\ud800'],
  ])('copes with the largest text made of %s', async (_name, piece) => {
    const text = piece.repeat(MAX_SUMMARY_TEXT_CHARS).slice(0, MAX_SUMMARY_TEXT_CHARS);
    const { sentences, compression_ratio } = await run(text, { max_sentences: 20 });
    expect(sentences.length).toBeLessThanOrEqual(20);
    expect(compression_ratio).toBeLessThanOrEqual(1);
  });

  it('takes texts of 1 to 200,000 characters', async () => {
    expect(summarize.input.safeParse({ text: 'x'.repeat(200_000) }).success).toBe(true);
    await expect(run('')).rejects.toMatchObject({ reason: 'invalid_request' });
    await expect(run('x'.repeat(200_001))).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it.each([
    { max_sentences: 0 },
    { max_sentences: 21 },
    { max_sentences: 2.5 },
    { max_sentences: '3' },
    { language: 'fr' },
    { language: '' },
  ])('refuses the parameters %p', async (parameters) => {
    await expect(run(ENGLISH, parameters)).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it('stops in the middle of a long text when it is aborted', async () => {
    const controller = new AbortController();
    const text = 'A short one. '.repeat(15_000);
    const running = summarize.run({ text }, { parameters: {}, signal: controller.signal });
    setImmediate(() => {
      controller.abort();
    });
    await expect(running).rejects.toMatchObject({ reason: 'cancelled' });
  });

  it('gives sentences word for word, in source order, the same each time', async () => {
    const word = fc.constantFrom(
      'agent',
      'registry',
      'Dr.',
      'lease',
      'Агент',
      'ищет',
      'Wert',
      '3.14',
      '。',
      '好',
      '😀',
      '\ud800',
      'e.g.',
    );
    const end = fc.constantFrom('. ', '! ', '?\n', '\n\n', '… ', '。', ' ');
    const text = fc
      .array(fc.tuple(fc.array(word, { minLength: 1, maxLength: 8 }), end), { minLength: 1, maxLength: 20 })
      .map((parts) => parts.map(([words, mark]) => words.join(' ') + mark).join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (source, max_sentences) => {
        const answer = await run(source, { max_sentences });
        let from = 0;
        for (const sentence of answer.sentences) {
          const at = source.indexOf(sentence.text, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + sentence.text.length;
          expect(sentence.score).toBeGreaterThanOrEqual(0);
          expect(sentence.score).toBeLessThanOrEqual(1);
        }
        expect(answer.sentences.length).toBeLessThanOrEqual(max_sentences);
        const indexes = answer.sentences.map(({ index }) => index);
        expect(indexes).toEqual([...new Set(indexes)].sort((a, b) => a - b));
        expect(await run(source, { max_sentences })).toEqual(answer);
      }),
      { numRuns: 60 },
    );
  });
});
