import { AppError } from '../errors/app-error.js';
import { readQuery, type QueryKind } from './query.js';

const KINDS: Record<string, QueryKind> = {
  capabilities: 'list',
  labels: 'pairs',
  limit: 'number',
  explain: 'boolean',
  cursor: 'text',
};

const read = (query: string): Record<string, unknown> => readQuery(new URLSearchParams(query), KINDS);

function refusal(query: string): AppError {
  try {
    read(query);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('readQuery', () => {
  it('reads every kind', () => {
    expect(read('capabilities=a,b&capabilities=c&labels=region:eu,tier=1&limit=20&explain=true&cursor=x%3D')).toEqual({
      capabilities: ['a', 'b', 'c'],
      labels: { region: 'eu', tier: '1' },
      limit: 20,
      explain: true,
      cursor: 'x=',
    });
  });

  it('leaves out what was not given', () => {
    expect(read('')).toEqual({});
  });

  it('keeps blank entries of a list for the schema to name', () => {
    expect(read('capabilities=')).toEqual({ capabilities: [''] });
    expect(read('capabilities=a,,b')).toEqual({ capabilities: ['a', '', 'b'] });
  });

  it.each([
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['explain=maybe', 'explain'],
    ['labels=region', 'labels'],
    ['labels=:eu', 'labels'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=a&cursor=b', 'cursor'],
    ['typo=1', 'typo'],
    ['constructor=1', 'constructor'],
    ['__proto__=1', '__proto__'],
  ])('refuses %s by name', (query, path) => {
    expect(refusal(query)).toMatchObject({ reason: 'invalid_request', errors: [{ path }] });
  });

  it('names all of what is wrong, but no more than 32', () => {
    expect(refusal('a=1&b=2&limit=x').errors.map(({ path }) => path)).toEqual(['a', 'b', 'limit']);
    const many = Array.from({ length: 100 }, (_, index) => `p${String(index)}=1`).join('&');
    expect(refusal(many).errors).toHaveLength(32);
  });

  it('refuses the name of a prototype among pairs', () => {
    expect(refusal('labels=__proto__:x').errors).toEqual([
      { path: 'labels', message: '"__proto__" is a reserved name' },
    ]);
  });

  it('answers odd names in well-formed text of bounded length', () => {
    const error = refusal(`${encodeURIComponent(`${'x'.repeat(63)}\u{1F600}`)}=1`);
    expect(error.message.isWellFormed()).toBe(true);
    expect(error.errors[0]?.path.length).toBeLessThan(80);
  });
});
