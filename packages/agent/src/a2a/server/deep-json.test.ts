import { closeA2aServers, post, said, startA2a, V1, type Json } from './server.test-helper.js';

afterEach(closeA2aServers);

const OLD = { 'A2A-Version': '0.3' };

/** A value inside so many others, as text: nothing here has to be able to write it. */
const lists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** A message that is right, apart from what stands in its metadata or its data. */
function messageWith(where: 'metadata' | 'data', value: string): string {
  const message: Json = { ...said('hello'), metadata: { x: 'HERE' } };
  const deep: Json = { ...said('hello'), parts: [{ data: 'HERE' }] };
  return JSON.stringify(where === 'metadata' ? message : deep).replace('"HERE"', value);
}

const DEEP = [1_000, 100_000].flatMap((levels) => [
  [`${levels} lists`, lists(levels)] as const,
  [`${levels} objects`, objects(levels)] as const,
]);

describe('a body that is nested deeper than anything means', () => {
  it.each(DEEP)('is refused over JSON-RPC, and the refusal says why: %s', async (_what, value) => {
    const { url } = await startA2a();
    const bodies = (['metadata', 'data'] as const).map(
      (where) => `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${messageWith(where, value)}}}`,
    );
    for (const body of [value, ...bodies]) {
      const answer = await post(`${url}/a2a`, body);
      expect([answer.status, answer.text.length < 1_000]).toEqual([200, true]);
      expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32602 } });
      expect(answer.text).toContain('nested deeper than 64 levels');
      expect(answer.text).not.toMatch(/RangeError|call stack|\.js:\d/u);
    }
  });

  it.each(DEEP)('is refused over HTTP+JSON with 400: %s', async (_what, value) => {
    const { url } = await startA2a();
    const bodies = (['metadata', 'data'] as const).map((where) => `{"message":${messageWith(where, value)}}`);
    for (const body of [value, ...bodies]) {
      for (const [path, headers] of [
        ['message:send', V1],
        ['message:stream', V1],
        ['v1/message:send', OLD],
      ] as const) {
        const answer = await post(`${url}/a2a/v1/${path}`, body, headers);
        expect([path, answer.status, answer.text.length < 1_000]).toEqual([path, 400, true]);
        expect(answer.text).toContain('nested deeper than 64 levels');
        expect(answer.text).not.toMatch(/RangeError|call stack|\.js:\d/u);
      }
    }
  });
});
