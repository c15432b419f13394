import { inspect } from 'node:util';
import { Secret, withoutSecrets } from './secret.js';

describe('Secret', () => {
  it('shows its value only when asked for it', () => {
    const secret = new Secret('sk-very-secret');
    expect(secret.reveal()).toBe('sk-very-secret');
    for (const shown of [
      String(secret),
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: 9, showHidden: true }),
    ]) {
      expect(shown).not.toContain('very');
      expect(shown).toContain('[secret]');
    }
  });
});

describe('withoutSecrets', () => {
  it('hides every place where a server repeats one', () => {
    expect(withoutSecrets('bad key abcdef: "abcdef"', ['abcdef'])).toBe('bad key [secret]: "[secret]"');
  });

  it('leaves values alone that are ordinary words', () => {
    expect(withoutSecrets('none of it', ['none', ''])).toBe('none of it');
  });
});
