import { hashOfNewToken, isTokenOf } from './driver-token.js';
import { Refusal } from './facts.js';

describe('a token', () => {
  it('has at least 22 code points, whatever their size', () => {
    const tooShort = new Refusal(400, 'the token needs at least 22 characters');
    for (const token of ['', 'x'.repeat(21), '🙂'.repeat(11), '🙂'.repeat(21)]) {
      expect(() => hashOfNewToken(token)).toThrow(tooShort);
    }
    for (const token of ['x'.repeat(22), '🙂'.repeat(22), 'x'.repeat(1_000_000)]) {
      expect(isTokenOf(hashOfNewToken(token), token)).toBe(true);
    }
  });

  it('is told from every other one, and its hash holds nothing of it', () => {
    const token = 'correct horse battery staple';
    const hash = hashOfNewToken(token);
    expect(hash).toMatch(/^[\w-]{43}$/u);
    for (const other of ['', `${token} `, token.slice(1), token.toUpperCase(), hash]) {
      expect(isTokenOf(hash, other)).toBe(false);
    }
    expect(isTokenOf('not a hash', token)).toBe(false);
  });

  it('is no text with half a surrogate pair: as bytes it would be equal to another', () => {
    const broken = `${'x'.repeat(30)}\ud800`;
    const refused = new Refusal(400, "the token isn't valid Unicode text");
    expect(() => hashOfNewToken(broken)).toThrow(refused);
    expect(() => isTokenOf(hashOfNewToken(`${'x'.repeat(30)}\ufffd`), broken)).toThrow(refused);
  });
});
