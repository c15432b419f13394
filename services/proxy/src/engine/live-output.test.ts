import { LiveOutput } from './live-output.js';

describe('LiveOutput', () => {
  it('gives what came after a place, each stream for itself, and where to go on', () => {
    const output = new LiveOutput(100);
    output.add({ stream: 'stdout', text: 'abc' });
    output.add({ stream: 'stderr', text: 'DE' });
    output.add({ stream: 'stdout', text: '' });
    output.add({ stream: 'stdout', text: 'fg' });
    expect(output.since(0)).toEqual({ stdout: 'abcfg', stderr: 'DE', next: 7 });
    expect(output.since(2)).toEqual({ stdout: 'cfg', stderr: 'DE', next: 7 });
    expect(output.since(4)).toEqual({ stdout: 'fg', stderr: 'E', next: 7 });
    expect(output.since(7)).toEqual({ stdout: '', stderr: '', next: 7 });
    expect(output.since(99)).toEqual({ stdout: '', stderr: '', next: 7 });
  });

  it('drops the oldest beyond its bound, and counts on', () => {
    const output = new LiveOutput(10);
    for (let n = 0; n < 1000; n += 1) output.add({ stream: n % 2 === 0 ? 'stdout' : 'stderr', text: `${n % 10}` });
    expect([output.end, output.since(0)]).toEqual([1000, { stdout: '02468', stderr: '13579', next: 1000 }]);
    output.add({ stream: 'stdout', text: 'x'.repeat(50) });
    expect(output.since(0)).toEqual({ stdout: 'x'.repeat(50), stderr: '', next: 1050 });
  });

  it('is the same as all that was written, read piece by piece', () => {
    const output = new LiveOutput(1_000_000);
    let [at, read] = [0, ''];
    for (let n = 0; n < 500; n += 1) {
      output.add({ stream: 'stdout', text: `line ${n}\n` });
      if (n % 7 !== 0) continue;
      const { stdout, next } = output.since(at);
      [at, read] = [next, read + stdout];
    }
    read += output.since(at).stdout;
    expect(read).toBe(Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join(''));
  });

  it('holds nothing once it is cleared', () => {
    const output = new LiveOutput(100);
    output.add({ stream: 'stdout', text: 'abc' });
    output.clear();
    expect(output.since(0)).toEqual({ stdout: '', stderr: '', next: 3 });
  });
});
