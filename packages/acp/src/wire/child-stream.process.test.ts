import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import { startChild, type ChildProgram } from '../child/index.js';
import { childStream, type ChildStream, type ChildStreamOptions } from './child-stream.js';

const children: ChildProgram[] = [];
afterEach(async () => {
  const ends = await Promise.all(children.splice(0).map((child) => child.end({ closeMs: 0, termMs: 0 })));
  expect(ends.every(({ left }) => left === 0)).toBe(true);
});

const request: AnyMessage = { jsonrpc: '2.0', id: 1, method: 'x' };

async function open(text: string, options: ChildStreamOptions = {}): Promise<[ChildProgram, ChildStream]> {
  const child = await startChild({ command: process.execPath, args: ['-e', text], cwd: tmpdir() });
  children.push(child);
  return [child, childStream(child.stdout, child.stdin, options)];
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the stream of a real child', () => {
  it('carries a message of megabytes both ways', async () => {
    const [, stream] = await open('process.stdin.pipe(process.stdout)');
    const big: AnyMessage = { jsonrpc: '2.0', method: 'x', params: { text: 'ä€😀'.repeat(400_000) } };
    const [writer, reader] = [stream.writable.getWriter(), stream.readable.getReader()];
    const written = writer.write(big);
    expect((await reader.read()).value).toStrictEqual(big);
    await written;
  });

  it('fails at output without end, and the child can be ended', async () => {
    const text = `const b = Buffer.alloc(65536, 'x'); const go = () => { while (process.stdout.write(b)); process.stdout.once('drain', go); }; go()`;
    const [child, stream] = await open(text, { maxMessageBytes: 1_000_000 });
    const error = await failureOf(stream.readable.getReader().read());
    expect(error).toMatchObject({ code: 'acp_message_too_large' });
    expect((await child.end({ closeMs: 0, termMs: 500 })).left).toBe(0);
  });

  it('fails at a program that speaks something else', async () => {
    const [, stream] = await open(`setInterval(() => console.log('still here'), 1)`, { maxGarbageLines: 20 });
    expect(await failureOf(stream.readable.getReader().read())).toMatchObject({ code: 'acp_too_much_garbage' });
    expect(stream.garbageLines).toBe(21);
  });

  it('ends at once when the child is killed, with half a line', async () => {
    const [child, stream] = await open(
      `process.stdout.write('{"jsonrpc":"2.0","method":"a"}\\n{"jsonrpc":'); setInterval(() => {}, 1000)`,
    );
    const reader = stream.readable.getReader();
    expect((await reader.read()).value).toMatchObject({ method: 'a' });
    process.kill(child.pid, 'SIGKILL');
    expect((await reader.read()).done).toBe(true);
    expect(stream.garbageLines).toBe(1);
    await child.exited;
    expect(child.describeExit()).toBe('the child was killed by SIGKILL');
  });

  it('fails, in words, when the child takes nothing any more, and disturbs nobody', async () => {
    const [, stream] = await open(`require('fs').closeSync(0); setInterval(() => {}, 1000)`);
    const writer = stream.writable.getWriter();
    let error: unknown;
    for (let i = 0; i < 2_000 && error === undefined; i += 1) error = await failureOf(writer.write(request));
    expect(error).toMatchObject({ code: 'acp_input_closed' });
  });

  it('leaves nothing, however often', async () => {
    const round = async () => {
      const [child, stream] = await open(
        `process.stdin.pipe(process.stdout); process.stdin.on('end', () => console.log('bye'))`,
      );
      const [writer, reader] = [stream.writable.getWriter(), stream.readable.getReader()];
      await writer.write({ jsonrpc: '2.0', method: 'x' });
      expect((await reader.read()).value).toMatchObject({ method: 'x' });
      await reader.cancel();
      expect((await child.end()).left).toBe(0);
      expect(child.exit).toStrictEqual({ code: 0, signal: null });
    };
    await round();
    const before = await counts();
    for (let i = 0; i < 5; i += 1) await Promise.all([round(), round(), round(), round()]);
    const after = await counts();
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.handles).toBeLessThanOrEqual(before.handles);
    // The runner of the tests has timers of its own.
    expect(after.timers).toBeLessThanOrEqual(before.timers + 1);
    expect(after.listeners).toBe(before.listeners);
  }, 30_000);
});

async function counts() {
  // What was closed just now counts until the event loop has come round.
  for (let round = 0; round < 3; round += 1) await new Promise(setImmediate);
  const resources = process.getActiveResourcesInfo();
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    listeners: process.listenerCount('exit'),
    handles: resources.filter((name) => /^(Process|Pipe)/u.test(name)).length,
    timers: resources.filter((name) => name === 'Timeout').length,
  };
}
