import { hasLoneSurrogate, hasNonFinite } from './json-scan.js';
import { parseExact } from './parse-exact.js';
import { isJsonObject, numberOf } from './raw-json.js';

describe('hasLoneSurrogate', () => {
  it.each(['"\\ud83d"', '"x\\ude00y"', '{"a":[1,{"b":"\\ud83d"}]}', '{"\\ud83d":1}'])('finds one in %s', (text) => {
    expect(hasLoneSurrogate(parseExact(text))).toBe(true);
  });

  it.each(['"😀"', '"\\ud83d\\ude00"', '{"a":[1.0,null,true,"x"]}', '5'])('finds none in %s', (text) => {
    expect(hasLoneSurrogate(parseExact(text))).toBe(false);
  });
});

describe('hasNonFinite', () => {
  it.each(['NaN', '[1,[Infinity]]', '{"a":{"b":-Infinity}}'])('finds one in %s', (text) => {
    expect(hasNonFinite(parseExact(text))).toBe(true);
  });

  it.each(['1', '[1e400]', '{"a":"NaN"}', 'null'])('finds none in %s', (text) => {
    expect(hasNonFinite(parseExact(text))).toBe(false);
  });
});

describe('numbers in raw form', () => {
  it('are numbers and no objects', () => {
    expect(numberOf(parseExact('5.0'))).toBe(5);
    expect(numberOf(5)).toBe(5);
    expect(isJsonObject(parseExact('5.0'))).toBe(false);
  });

  it('are not mixed up with objects that look like them', () => {
    const value = parseExact('{"rawJSON":"5"}');
    expect(numberOf(value)).toBeUndefined();
    expect(isJsonObject(value)).toBe(true);
    expect(numberOf('5')).toBeUndefined();
  });
});
