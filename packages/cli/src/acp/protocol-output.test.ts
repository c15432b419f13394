import { PassThrough, Writable } from 'node:stream';
import { takeOutput } from './protocol-output.js';

function text(stream: PassThrough): string {
  return String(stream.read() ?? '');
}

describe('takeOutput', () => {
  it('keeps the output for one, sends all others to the errors, and gives it back', async () => {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const output = takeOutput(stdout, stderr);
    output.stream.write('protocol\n');
    stdout.write('stray\n');
    await output.release();
    expect(text(stdout)).toBe('protocol\n');
    expect(text(stderr)).toBe('stray\n');
    stdout.write('mine again\n');
    expect(text(stdout)).toBe('mine again\n');
  });

  it('writes the rest before it gives the output back', async () => {
    const chunks: string[] = [];
    const slow = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        setImmediate(() => {
          chunks.push(chunk.toString());
          done();
        });
      },
    });
    const output = takeOutput(slow, new PassThrough());
    for (let count = 0; count < 100; count++) output.stream.write(`${count}\n`);
    await output.release();
    expect(chunks.join('').split('\n')).toHaveLength(101);
  });

  it('does not wait for ever for somebody who does not read', async () => {
    const stuck = new Writable({ write: () => undefined });
    const output = takeOutput(stuck, new PassThrough());
    output.stream.write('a');
    await output.release();
    expect(output.stream.writableFinished).toBe(false);
  });

  it('breaks when the output breaks', async () => {
    const stdout = new PassThrough();
    const output = takeOutput(stdout, new PassThrough());
    const closed = new Promise((resolve) => output.stream.once('close', resolve));
    stdout.destroy(new Error('write EPIPE'));
    await closed;
    await output.release();
    expect(output.stream.destroyed).toBe(true);
  });
});
