import { HiddenValues } from './hidden-values.js';

describe('what a child was given', () => {
  const hidden = new HiddenValues({
    args: ['serve', '--verbose', '--token=secret-one', 'secret-two', '/srv/agent.mjs', './lib/x.js', '-k', '1'],
    env: { LOGIN: 'secret-three', SHORT: 'debug', HOME: '/home/secret-home', BOTH: 'secret-three-and-more' },
  });

  it.each([
    ['a b secret-one c', 'a b [redacted] c'],
    ['secret-twosecret-two', '[redacted][redacted]'],
    ['secret-three-and-more, secret-three', '[redacted], [redacted]'],
    ['Cannot find module /srv/agent.mjs', 'Cannot find module /srv/agent.mjs'],
    ['serve --verbose in debug', 'serve --verbose in debug'],
    ['in /home/secret-home', 'in /home/secret-home'],
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['postgres://me:pass@db/x', 'postgres://[redacted]@db/x'],
    ['api_key=abcdef, next', 'api_key=[redacted], next'],
    ['"password": "abcdef"', '"password": "[redacted]"'],
  ])('is taken out of %j', (text, clean) => {
    expect(hidden.hide(text)).toBe(clean);
  });

  it.each([
    ['two and more', ' and more'],
    ['ecret-three', ''],
    ['more', ''],
    ['wo', 'wo'],
    ['nothing', 'nothing'],
  ])('is taken out of the end of a longer text: %j', (text, clean) => {
    expect(hidden.hide(text, true)).toBe(clean);
    expect(hidden.hide(text)).toBe(text);
  });

  it('is taken out in time of any text', () => {
    const begun = performance.now();
    hidden.hide(`${'://'.repeat(20_000)}${'a'.repeat(50_000)}${'key='.repeat(10_000)}`);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
