import { AppError } from '@parley/service-kit';
import { readParameters } from './parameters.js';

const schemas = {
  count: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
  open: { type: 'integer' },
  mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
} as const;

const refusal = (read: () => unknown): AppError => {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('nothing was refused');
};

describe('readParameters', () => {
  it('takes what was agreed, and the default for what was left out', () => {
    expect(readParameters(schemas, { count: 5 }).integer('count')).toBe(5);
    expect(readParameters(schemas, {}).integer('count')).toBe(3);
    expect(readParameters(schemas, { mode: 'b' }).choice('mode', ['a', 'b'])).toBe('b');
    expect(readParameters(schemas, {}).choice('mode', ['a', 'b'])).toBe('a');
  });

  it('leaves parameters of other skills and of the agreement alone', () => {
    expect(readParameters(schemas, { price: 3, count: 2 }).integer('count')).toBe(2);
  });

  it.each([[0], [6], [1.5], [Number.NaN], ['3'], [true]])('refuses %p as an integer from 1 to 5', (count) => {
    const error = refusal(() => readParameters(schemas, { count }).integer('count'));
    expect(error.reason).toBe('invalid_request');
    expect(error.errors).toEqual([{ path: 'parameters.count', message: 'must be an integer from 1 to 5' }]);
  });

  it('refuses a choice that is none, naming those that are', () => {
    const error = refusal(() => readParameters(schemas, { mode: 'c' }).choice('mode', ['a', 'b']));
    expect(error.errors).toEqual([{ path: 'parameters.mode', message: 'must be one of a, b' }]);
  });

  it('refuses what is missing without a default, also if the name is one that every object has', () => {
    expect(refusal(() => readParameters(schemas, {}).integer('open')).message).toContain('is required');
    expect(refusal(() => readParameters({}, {}).integer('toString')).message).toContain('is required');
  });
});
