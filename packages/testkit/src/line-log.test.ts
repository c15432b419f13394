import { LineLog } from './line-log.js';

const texts = (log: LineLog) => log.lines.map((line) => line.text);

describe('LineLog', () => {
  it('puts the pieces of a line together, each stream for itself', () => {
    const log = new LineLog();
    log.write('stdout', 'fir');
    log.write('stderr', 'oops\n');
    log.write('stdout', 'st\r\nsecond');
    expect(log.lines).toEqual([
      { source: 'stderr', text: 'oops' },
      { source: 'stdout', text: 'first' },
    ]);
    log.end('stdout');
    log.end('stdout');
    expect(texts(log)).toEqual(['oops', 'first', 'second']);
  });

  it('tells listeners about new lines until they leave', () => {
    const log = new LineLog();
    const seen: string[] = [];
    const leave = log.listen((line) => seen.push(line.text));
    log.write('stdout', 'a\nb\n');
    leave();
    log.write('stdout', 'c\n');
    expect(seen).toEqual(['a', 'b']);
  });

  it('keeps the newest lines only', () => {
    const log = new LineLog();
    for (let count = 0; count < 6_000; count += 1) log.write('stdout', `${String(count)}\n`);
    expect(log.lines).toHaveLength(5_000);
    expect(log.tail(2)).toBe('5998\n5999');
  });

  it('does not collect a line that never ends', () => {
    const log = new LineLog();
    log.write('stdout', 'x'.repeat(100_000));
    log.write('stdout', 'y\n');
    expect(log.lines.map((line) => line.text.length)).toEqual([32_768, 1]);
  });
});
