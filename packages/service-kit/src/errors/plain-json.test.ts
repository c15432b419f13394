import { AppError } from './app-error.js';
import { checkPlainJson, parsePlainJson } from './plain-json.js';

function refusal(text: string): AppError {
  try {
    parsePlainJson(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('parsePlainJson', () => {
  it.each([
    '{"a":[1,2,{"b":null}],"text":"with \\"quotes\\" and [brackets {"}',
    '"__proto__"',
    '["__proto__"]',
    '{"constructor":1,"a\\u00e9":"\\ud83d\\ude00"}',
    'null',
    nested(64),
    `[${'"[[[[[[[[[[[[[[[[[[[[",'.repeat(50)}1]`,
    `{"a":"${'\\\\'.repeat(100)}"}`,
  ])('gives what JSON.parse gives: %#', (text) => {
    expect(parsePlainJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['{"__proto__":1}', '__proto__'],
    ['{"a":[{},{"b":{"__proto__":{"x":1}}}]}', 'a[1].b.__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['{"metadata":{"x y":{"__proto__":1}}}', 'metadata["x y"].__proto__'],
  ])('refuses a reserved name anywhere: %s', (text, path) => {
    expect(refusal(text).errors).toEqual([{ path, message: 'reserved name' }]);
  });

  it.each([
    ['"\\ud800"', ''],
    ['{"a":["\\udc00x"]}', 'a[0]'],
    ['{"\\ud800":1}', '["\\ud800"]'],
  ])('refuses half a surrogate pair, which no UTF-8 can hold: %s', (text, path) => {
    expect(refusal(text).errors[0]?.path).toBe(path);
  });

  it('refuses more than 64 levels, and does not run out of stack on thousands', () => {
    expect(refusal(nested(65)).message).toContain('nested deeper than 64 levels');
    expect(refusal(`{"a":${nested(20_000)}}`)).toMatchObject({ reason: 'invalid_request' });
  });

  it('leaves wrong JSON to the parser', () => {
    expect(() => parsePlainJson('{')).toThrow(SyntaxError);
  });
});

describe('checkPlainJson', () => {
  it('accepts what is no object', () => {
    for (const value of [null, undefined, 1, true, 'text']) {
      expect(() => {
        checkPlainJson(value);
      }).not.toThrow();
    }
  });
});
