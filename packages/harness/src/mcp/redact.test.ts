import { redact } from './redact.js';

describe('a text for the log', () => {
  it('shows none of the given values', () => {
    expect(redact('key is hunter2-hunter2, again hunter2-hunter2', ['hunter2-hunter2'])).toBe(
      'key is [redacted], again [redacted]',
    );
  });

  it('keeps words that happen to be short values', () => {
    expect(redact('debug: port 1', ['1', 'debug'])).toBe('debug: port 1');
  });

  it.each([
    ['Authorization: Bearer abcdef123456', 'Authorization: Bearer [redacted]'],
    ['connect to redis://user:pw@host:6379', 'connect to redis://[redacted]@host:6379'],
    ['OPENAI_API_KEY=sk-123 set', 'OPENAI_API_KEY=[redacted] set'],
    ['{"access_token": "abc", "n": 1}', '{"access_token": "[redacted]", "n": 1}'],
    ['no key here', 'no key here'],
  ])('shows nothing that looks like a credential: %s', (text, clean) => {
    expect(redact(text, [])).toBe(clean);
  });
});
