import fc from 'fast-check';
import { type ServerSentEvent, ServerSentEventDecoder } from './server-sent-events.js';

function decode(...pieces: readonly string[]): readonly ServerSentEvent[] {
  const decoder = new ServerSentEventDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  const last = decoder.end();
  return last === undefined ? events : [...events, last];
}

describe('ServerSentEventDecoder', () => {
  it('joins the data lines of an event and keeps its name', () => {
    expect(decode('event: note\ndata: a\ndata:b\n\ndata:  c\n\n')).toEqual([
      { name: 'note', data: 'a\nb' },
      { name: '', data: ' c' },
    ]);
  });

  it('passes over comments, other fields and events without data', () => {
    expect(decode(': hi\nid: 1\nretry: 5\nevent: x\n\ndata\n\ndata: a\n\n')).toEqual([{ name: '', data: 'a' }]);
  });

  it('gives the same events however the text is cut and lines end', () => {
    const line = fc.constantFrom('data: a', 'data: bc', 'event: e', ': c', '', '', 'data:');
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')))
      .map((lines) => lines.map(([content, end]) => content + end).join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (whole, cuts) => {
        const places = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((end, index) => whole.slice(places[index], end));
        expect(decode(...pieces)).toEqual(decode(whole));
        expect(decode(whole)).toEqual(decode(whole.replace(/\r\n|\r/gu, '\n')));
      }),
    );
  });

  it('looks at each character of a long line once', () => {
    const pieces = Array.from({ length: 20_000 }, () => 'x'.repeat(100));
    const started = process.cpuUsage();
    expect(decode('data: ', ...pieces, '\n\n')[0]?.data).toHaveLength(2_000_000);
    // Looking at the whole line for each piece would be 20,000,000,000 characters.
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});
