import { splitRequest } from './split-request.js';

describe('a text that holds a request and what it is about', () => {
  it.each([
    ['behind a colon', 'translate into German: The agent: good.', 'translate into German', 'The agent: good.'],
    ['behind a parameter and a colon', 'summarize, max_sentences: 2: A. B.', 'summarize, max_sentences: 2', 'A. B.'],
    ['below an empty line', 'Summarize this.\n\nOne.\n\nTwo.', 'Summarize this.', 'One.\n\nTwo.'],
    ['below a line', 'Summarize this\nOne. Two.', 'Summarize this', 'One. Two.'],
    ['above the request', 'One.\n\nTwo.\n\nSummarize the above.', 'Summarize the above.', 'One.\n\nTwo.'],
    ['in quotation marks', 'Translate “The agent” into German', 'Translate   into German', 'The agent'],
    ['between fences', 'Review this:\n```ts\nlet a: number;\n```\nThanks', 'Review this:\n\nThanks', 'let a: number;'],
    ['behind a colon, in Russian', 'переведи на немецкий: Агент.', 'переведи на немецкий', 'Агент.'],
  ])('%s', (_where, text, words, content) => {
    expect(splitRequest(text)).toMatchObject({ words, content });
  });

  it('says what a block is written in', () => {
    expect(splitRequest('review\n```tsx\n<a/>\n```')).toMatchObject({ fence: 'tsx' });
  });

  it.each(['translate it into German', 'Nothing: is asked here.', 'One.\n\nTwo.', 'He said “this” and “that”.', ''])(
    'is not “%s”',
    (text) => {
      expect(splitRequest(text)).toBeUndefined();
    },
  );

  it('takes time in proportion to the text', () => {
    const begun = performance.now();
    for (const text of [
      '`'.repeat(100_000),
      '\n'.repeat(100_000),
      ': '.repeat(50_000),
      '``` a\n'.repeat(20_000),
      '“'.repeat(100_000),
      ' \n'.repeat(50_000),
    ]) {
      splitRequest(text);
    }
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});
