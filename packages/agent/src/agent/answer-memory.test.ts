import { AnswerMemory } from './answer-memory.js';

const answer = (text: string) => ({
  digest: 'd',
  response: { call_id: 'c', capability: 'x', output: { text }, applied: {}, terms_digest: 't' },
});

describe('the memory of answers', () => {
  it('keeps a bounded number, a bounded size, and for a bounded time', () => {
    let now = 0;
    const memory = new AnswerMemory({ maxAnswers: 2, maxBytes: 1_000, keepMs: 100, now: () => now });
    for (const key of ['a', 'b', 'c']) memory.put(key, answer(key));
    expect(['a', 'b', 'c'].map((key) => memory.get(key)?.response.output['text'])).toEqual([undefined, 'b', 'c']);
    memory.put('big', answer('x'.repeat(800)));
    expect(['b', 'c', 'big'].map((key) => memory.get(key) !== undefined)).toEqual([false, true, true]);
    memory.put('huge', answer('x'.repeat(2_000)));
    expect([memory.get('huge'), memory.get('big') !== undefined]).toEqual([undefined, true]);
    now = 100;
    expect(memory.get('big')).toBeUndefined();
    memory.put('next', answer('x'.repeat(800)));
    expect(memory.get('next')).toBeDefined();
  });
});
