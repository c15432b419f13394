import { outputCheck } from './output-check.js';

describe('a check of what a child handed in', () => {
  it('lets pass what fits, whatever its type', () => {
    expect(outputCheck({ type: 'object', required: ['a'] })({ a: 1 })).toBeUndefined();
    expect(outputCheck({ type: 'array', items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'number' } } })([1])).toBe(
      undefined,
    );
    expect(outputCheck({ type: 'null' })(null)).toBeUndefined();
  });

  it('says where what is wrong, and nothing of the value', () => {
    const check = outputCheck({ type: 'object', properties: { a: { type: 'integer' } }, required: ['b'] });
    const fault = check({ a: 'swordfish' });
    expect(fault).toBe('/a: value does not match the required type; /b: required property is missing');
    expect(check([])).toBe('the value: value does not match the required type');
  });

  it('is not made of what is no schema', () => {
    expect(() => outputCheck({ type: 'nothing' })).toThrow(
      expect.objectContaining({ code: 'subagent_schema_invalid' }) as Error,
    );
  });
});
