import { secondsText } from './seconds-text.js';

describe('secondsText', () => {
  it.each([
    [600_000, '600s'],
    [500, '0.5s'],
    [3_600_000, '3600s'],
    [1_500, '1.5s'],
    [1, '0.001s'],
    [0.05, '5e-05s'],
    [123_456_789, '123457s'],
    [1e9, '1e+06s'],
    [1.5e10, '1.5e+07s'],
    [999_999_500, '1e+06s'],
    [Infinity, 'infs'],
  ])('says %d ms as %s', (ms, text) => {
    expect(secondsText(ms)).toBe(text);
  });
});
