import { codeReview, summarize, translate } from '../../index.js';
import { present } from './present.js';

const SIGNAL = new AbortController().signal;

describe('reports', () => {
  it('show a review as a table, and its findings as sentences', async () => {
    const output = await codeReview.run(
      { source: 'if (a == 1) eval(a);', filename: 'a.js' },
      { parameters: {}, signal: SIGNAL },
    );
    const { findings } = output as { findings: { rule: string; message: string; line: number }[] };
    const { markdown, text, headline } = present('code_review', output);
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
    expect(markdown).toMatch(/^## Code review: request changes\n/u);
    expect(rows).toHaveLength(findings.length + 2);
    expect(text.split('\n')).toHaveLength(findings.length + 1);
    expect(text).toContain('Line 1, error: ');
    expect(text).not.toContain('|');
    expect(headline).toBe(output['summary']);
  });

  it('say that a review found nothing, or more than it shows', () => {
    const output = { summary: 'Fine.', verdict: 'approve', findings: [] };
    expect(present('code_review', { ...output, truncated: false }).markdown).toBe('## Code review: approve\n\nFine.');
    expect(present('code_review', { ...output, truncated: true }).markdown).toContain('More was found');
  });

  it('keep foreign words from becoming marks', () => {
    const finding = { line: 1, column: 2, severity: 'info', rule: 'r', message: 'a | b\n# c <img src=x> [d](e)' };
    const { markdown } = present('code_review', {
      summary: 's',
      verdict: 'comment',
      truncated: false,
      findings: [finding],
    });
    expect(markdown).toContain(String.raw`| 1:2 | info | r | a \| b \# c \<img src=x\> \[d\](e) |`);
  });

  it('give a summary and how much of the text it is', async () => {
    const output = await summarize.run(
      { text: 'Agents work. They work well. Nobody waits for long.' },
      { parameters: { max_sentences: 1 }, signal: SIGNAL },
    );
    const { markdown, text } = present('summarize', output);
    expect(text).toBe(output['summary']);
    expect(markdown).toContain(text);
    expect(markdown).toContain('1 of 3 sentences');
  });

  it('list the words that a translation left as they are', async () => {
    const translated = async (words: string) =>
      present(
        'translate',
        await translate.run(
          { text: words },
          { parameters: { source_language: 'en', target_language: 'de' }, signal: SIGNAL },
        ),
      );
    const partly = await translated('The xyzzy agent plughs_1.');
    expect(partly.markdown).toContain('**Not translated:** xyzzy');
    expect(partly.text).not.toContain('Not translated');
    expect((await translated('The agent.')).markdown).not.toContain('Not translated');
  });

  it('show anything else as JSON that cannot end its block', () => {
    const { markdown, text } = present('paint', { picture: '```\n# not a heading' });
    expect(JSON.parse(text)).toEqual({ picture: '```\n# not a heading' });
    expect(markdown.startsWith('````json\n')).toBe(true);
    expect(markdown.endsWith('\n````')).toBe(true);
    expect(present('translate', { other: 1 }).markdown).toContain('"other": 1');
  });
});
