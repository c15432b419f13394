import { sameSecret } from './same-secret.js';

describe('a secret', () => {
  it.each([
    ['swordfish', true],
    ['Swordfish', false],
    ['swordfish ', false],
    ['sword', false],
    ['', false],
    [undefined, false],
  ])('compared with %j', (given, same) => {
    expect(sameSecret(given, 'swordfish')).toBe(same);
  });
});
