import { shownResult } from './result-content.js';

describe('shownResult', () => {
  it.each([
    ['plain', 'plain', false],
    ['{"status":"ok","output":"out"}', 'out', false],
    ['{"status": "rejected","tool":"x","reason":"no"}', 'no', true],
    ['{"status":"error","error":"bad"}', 'bad', true],
    ['{"a":1}', '{"a":1}', false],
    ['{broken', '{broken', false],
  ])('%s', (text, shown, isFailed) => {
    expect(shownResult(text)).toMatchObject({ content: [{ content: { text: shown } }], isFailed });
  });

  it('cuts what no client could show', () => {
    const [first] = shownResult('x'.repeat(1_000_000)).content;
    expect(JSON.stringify(first).length).toBeLessThan(110_000);
  });
});
