import { AppError, invalidField } from '@parley/service-kit';
import { readAnswer, readErrand, writeAnswer, writeErrand } from './skill-errand.js';

describe('a piece of work on its way to a child', () => {
  const errand = {
    tool: 'code_review',
    input: { source: 'let a = "\ud800 \u2028 \u0000 ```";\n{"tool":"other"}' },
    parameters: { severity: 'error', max_findings: 3, strict: true },
  };

  it('comes as it was, whatever is in its input', () => {
    expect(readErrand(writeErrand(errand))).toEqual(errand);
  });

  it.each([
    ['', '{', 'null', '[]', '"x"', '{}'],
    ['{"tool":"","input":1,"parameters":{}}', '{"tool":"a","input":1,"parameters":{"b":{}}}'],
    ['{"tool":"a","input":1,"parameters":{},"more":1}'],
  ])('is nothing else: %s', (...texts) => {
    expect(texts.map(readErrand)).toEqual(texts.map(() => undefined));
  });
});

describe('an answer of a child', () => {
  it('is the output as it was', () => {
    const output = { findings: [{ line: 1 }], text: '\ud800', none: null };
    expect(readAnswer(writeAnswer({ output }))).toEqual({ output });
  });

  it('is a failure with all that callers are told, and nothing of its cause', () => {
    const error = new AppError('conflict', 'No.', {
      code: 'taken',
      errors: [{ path: 'a.b', message: 'is taken' }],
      cause: new Error('swordfish'),
    });
    const text = writeAnswer({ error });
    expect(text).not.toContain('swordfish');
    const answer = readAnswer(text);
    expect(answer).toMatchObject({
      error: { reason: 'conflict', code: 'taken', message: 'No.', errors: error.errors, status: error.status },
    });
    expect(readAnswer(writeAnswer({ error: invalidField('source', 'is too long') }))).toMatchObject({
      error: { reason: 'invalid_request', errors: [{ path: 'source', message: 'is too long' }] },
    });
  });

  it.each([
    'words',
    '{"output":1}',
    '{"output":{},"error":{}}',
    '{"error":{"reason":"no such","code":"a","message":"b","errors":[]}}',
    '{"error":{"reason":"internal"}}',
  ])('is nothing else: %s', (text) => {
    expect(readAnswer(text)).toBeUndefined();
  });
});
