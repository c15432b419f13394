import { isJsonObject, parseExact } from '@parley/proxy-protocol';
import { eventsOf } from './read-trajectory.js';

const event = '{"name":"chat","n":1.0,"attributes":{}}';

function read(text: string): string {
  return JSON.stringify(eventsOf(text, { isJsonObject, parseExact }));
}

describe('a file of a trajectory', () => {
  it.each([
    ['an array', `[${event}]`],
    ['what a proxy answers', `{"trajectory":[${event}]}`],
    ['a page', `{"events":[${event}],"next":1}`],
    ['an event on a line', `${event}\n`],
  ])('may be %s, and every number stays as it is', (_what, text) => {
    expect(read(text)).toBe(`[${event}]`);
  });

  it('may have an event on each line', () => {
    expect(read(`${event}\n\n${event}\n`)).toBe(`[${event},${event}]`);
  });

  it.each(['', 'hello', '[1]', '{"a":1}', `${event}\nhello`, '{"trajectory":5}'])('cannot be %j', (text) => {
    expect(() => read(text)).toThrow(/this is no trajectory/u);
  });
});
