import { SseData } from './sse-data.js';

const stream = Buffer.from(
  '\ufeffdata: one\r\n\r\n: comment\n\nevent: ping\ndata: no\n\ndata:two\rdata: halves 你\r\revent:\ndata:  three\n\ndata\n\nid: 5\ndata: four\n\ndata: cut',
);
const expected = ['one', 'two\nhalves 你', ' three', 'four'];

describe('SseData', () => {
  it('finds the same events wherever the stream is split in two', () => {
    for (let at = 0; at <= stream.length; at += 1) {
      const events = new SseData();
      expect([...events.push(stream.subarray(0, at)), ...events.push(stream.subarray(at))]).toEqual(expected);
    }
  });

  it('finds them byte by byte', () => {
    const events = new SseData();
    expect(Array.from(stream).flatMap((byte) => events.push(Uint8Array.of(byte)))).toEqual(expected);
  });

  it('reads a long line in many pieces without going over it again', () => {
    const events = new SseData();
    const piece = Buffer.from('x'.repeat(100));
    events.push(Buffer.from('data: '));
    for (let i = 0; i < 50_000; i += 1) events.push(piece);
    const [data] = events.push(Buffer.from('\n\n'));
    expect(data).toHaveLength(5_000_000);
  });
});
