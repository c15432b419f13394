import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import fc from 'fast-check';
import { childStream, type ChildStreamOptions } from './child-stream.js';
import type { GarbageLine } from './garbage-count.js';
import { ChildInputClosedError, MessageTooLargeError, TooMuchGarbageError } from './wire-errors.js';

const update = (text: string): AnyMessage => ({ jsonrpc: '2.0', method: 'session/update', params: { text } });
const request = (id: number, method = 'session/prompt'): AnyMessage => ({ jsonrpc: '2.0', id, method, params: {} });
const answer = (id: number | string | null): AnyMessage => ({ jsonrpc: '2.0', id, result: {} });
const lines = (...messages: unknown[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('');

function open(options: ChildStreamOptions = {}) {
  const stdout = new PassThrough();
  const stdin = new PassThrough();
  const garbage: GarbageLine[] = [];
  const stream = childStream(stdout, stdin, { onGarbage: (line) => garbage.push(line), ...options });
  const reader = stream.readable.getReader();
  return { stdout, stdin, stream, reader, garbage, writer: stream.writable.getWriter() };
}

async function readAll(reader: ReadableStreamDefaultReader<AnyMessage>): Promise<AnyMessage[]> {
  const messages: AnyMessage[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) messages.push(part.value);
  return messages;
}

async function readFrom(chunks: readonly (string | Buffer)[], options: ChildStreamOptions = {}) {
  const opened = open(options);
  for (const chunk of chunks) opened.stdout.write(chunk);
  opened.stdout.end();
  return { ...opened, messages: await readAll(opened.reader) };
}

describe('what a child says', () => {
  it('is read wherever it is cut', async () => {
    const said = [update('ä€😀'), request(1), update('\u2028 "line"\n'), update('x'.repeat(300))];
    const bytes = Buffer.from(lines(...said));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 40 }), async (sizes) => {
        const chunks: Buffer[] = [];
        let from = 0;
        for (const size of [...sizes, bytes.length]) {
          chunks.push(bytes.subarray(from, from + size));
          from += size;
        }
        expect((await readFrom(chunks.filter(({ length }) => length > 0))).messages).toStrictEqual(said);
      }),
      { numRuns: 50 },
    );
  });

  it('is read a byte at a time', async () => {
    const said = [update('ä€😀'), update('b')];
    const chunks = [...Buffer.from(lines(...said))].map((byte) => Buffer.from([byte]));
    expect((await readFrom(chunks)).messages).toStrictEqual(said);
  });

  it('may have other ends of lines, empty lines, space around and a mark of its encoding', async () => {
    const text = `\ufeff${JSON.stringify(update('a'))}\r\n\r\n\n  \n \t${JSON.stringify(update('b'))} \r\n`;
    const { messages, garbage } = await readFrom([text]);
    expect(messages).toStrictEqual([update('a'), update('b')]);
    expect(garbage).toStrictEqual([]);
  });

  it('counts without the end of its last line when it is whole, and as garbage when it is not', async () => {
    const whole = await readFrom([lines(update('a')), JSON.stringify(update('b'))]);
    expect(whole.messages).toStrictEqual([update('a'), update('b')]);
    const half = await readFrom([lines(update('a')), JSON.stringify(update('b')).slice(0, -3)]);
    expect(half.messages).toStrictEqual([update('a')]);
    expect(half.garbage).toMatchObject([{ kind: 'no_json', count: 1 }]);
  });

  it('is not read before it is asked for', async () => {
    const { stdout, reader } = open();
    const big = lines(update('x'.repeat(10_000)));
    while (stdout.write(big));
    await nextRound();
    expect(stdout.writableNeedDrain).toBe(true);
    const drained = once(stdout, 'drain');
    await reader.read();
    expect(await reader.read()).toMatchObject({ done: false });
    void readAll(reader);
    await drained;
  });

  it('is told in the order in which it came, answers too', async () => {
    const { stdout, reader, writer } = open();
    void writer.write(request(1));
    void writer.write(request(2));
    stdout.end(lines(update('a'), answer(1), update('b'), answer(2), update('c')));
    const order: string[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const name = 'id' in part.value ? String(part.value.id) : (part.value.params as { text: string }).text;
      // Whoever hears it does so some promises later: more for the one than for the other.
      void (async () => {
        for (let i = 0; i < ('id' in part.value ? 0 : 20); i += 1) await Promise.resolve();
        order.push(name);
        for (let i = 0; i < 20; i += 1) await Promise.resolve();
        order.push(`${name} done`);
      })();
    }
    await nextRound();
    expect(order.indexOf('a done')).toBeLessThan(order.indexOf('1'));
    expect(order.indexOf('1 done')).toBeLessThan(order.indexOf('b'));
    expect(order.indexOf('b done')).toBeLessThan(order.indexOf('2'));
    expect(order.indexOf('2 done')).toBeLessThan(order.indexOf('c'));
  });
});

describe('what a child says that is no message', () => {
  const cases: [string, string, GarbageLine['kind']][] = [
    ['a line of a log', 'info: listening', 'no_json'],
    ['a number', '42', 'no_message'],
    ['nothing', 'null', 'no_message'],
    ['a text', '"hello"', 'no_message'],
    ['an object', '{"level":"info"}', 'no_message'],
    ['another version', '{"jsonrpc":"1.0","method":"x"}', 'no_message'],
    ['a method that is none', '{"jsonrpc":"2.0","method":4}', 'no_message'],
    ['an id that is none', '{"jsonrpc":"2.0","method":"x","id":{}}', 'no_message'],
    ['an answer without content', '{"jsonrpc":"2.0","id":1}', 'no_message'],
    ['a batch', `[${JSON.stringify(update('a'))}]`, 'batch'],
    ['an empty batch', '[]', 'batch'],
    ['an answer that nobody asked for', JSON.stringify(answer(77)), 'unasked_answer'],
    ['an error about nothing', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}', 'unasked_answer'],
  ];

  it.each(cases)('is skipped and counted: %s', async (_what, text, kind) => {
    const { messages, garbage, stream } = await readFrom([`${text}\n`, lines(update('a'))]);
    expect(messages).toStrictEqual([update('a')]);
    expect(garbage).toStrictEqual([{ kind, text, count: 1 }]);
    expect(stream.garbageLines).toBe(1);
  });

  it('may be a second answer', async () => {
    const { stdout, reader, writer, garbage } = open();
    void writer.write(request(5));
    stdout.end(lines(answer(5), answer(5)));
    expect(await readAll(reader)).toStrictEqual([answer(5)]);
    expect(garbage).toMatchObject([{ kind: 'unasked_answer' }]);
  });

  it('is none where a wrong answer is to be told to whoever asked', async () => {
    const { stdout, reader, writer, garbage } = open();
    void writer.write(request(5));
    const wrong = { jsonrpc: '2.0', id: 5, result: {}, error: 'both' };
    stdout.end(lines(wrong));
    expect(await readAll(reader)).toStrictEqual([wrong]);
    expect(garbage).toStrictEqual([]);
  });

  it('is told for the first lines only, short and harmless', async () => {
    const text = `\u001b[31mred\u001b[0m\u0007 ${'long '.repeat(1_000)}`;
    const safeText = (line: string) => line.replace('red', 'blue');
    const { garbage, stream } = await readFrom([`${text}\n`.repeat(20)], { safeText });
    expect(stream.garbageLines).toBe(20);
    expect(garbage.map(({ count }) => count)).toStrictEqual([1, 2, 3, 4, 5]);
    expect(garbage[0]?.text).toMatch(/^blue long long .*…$/u);
    expect(garbage[0]?.text.length).toBeLessThanOrEqual(201);
  });

  it('ends the stream when it is too much, after what came before it', async () => {
    const { stdout, reader } = open({ maxGarbageLines: 3 });
    stdout.write(`${lines(update('a'))}${'noise\n'.repeat(3)}${lines(update('b'))}noise\n${lines(update('c'))}`);
    expect((await reader.read()).value).toStrictEqual(update('a'));
    expect((await reader.read()).value).toStrictEqual(update('b'));
    const error: unknown = await reader.read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TooMuchGarbageError);
    expect(error).toMatchObject({ code: 'acp_too_much_garbage', lines: 4 });
  });

  it('is allowed again for the next job', async () => {
    const { stdout, reader, stream } = open({ maxGarbageLines: 3 });
    for (const name of ['a', 'b', 'c']) {
      stdout.write(`${'noise\n'.repeat(3)}${lines(update(name))}`);
      expect((await reader.read()).value).toStrictEqual(update(name));
      stream.allowGarbageAgain();
    }
    expect(stream.garbageLines).toBe(9);
  });

  it('ends the stream when a line has no end, and never keeps more of it than allowed', async () => {
    const { stdout, reader } = open({ maxMessageBytes: 100_000 });
    stdout.write(lines(update('a')));
    const piece = Buffer.alloc(10_000, 'x');
    const read = readAll(reader).catch((thrown: unknown) => thrown);
    for (let i = 0; i < 20; i += 1) if (!stdout.write(piece)) await once(stdout, 'drain');
    const error = await read;
    expect(error).toBeInstanceOf(MessageTooLargeError);
    expect(error).toMatchObject({ code: 'acp_message_too_large', maxBytes: 100_000 });
  });

  it.each([
    [0, true],
    [1, false],
  ])('is not a message of just the size that is allowed, and %i bytes more', async (more, isFine) => {
    const message = update('x'.repeat(500));
    const text = lines(message);
    const maxMessageBytes = text.length - 1 - more;
    const read = readFrom([text.slice(0, 100), text.slice(100)], { maxMessageBytes });
    if (isFine) expect((await read).messages).toStrictEqual([message]);
    else await expect(read).rejects.toBeInstanceOf(MessageTooLargeError);
  });

  it.each(['too much', 'cancelled'])('does not hold up the child when nobody listens any more: %s', async (why) => {
    const { stdout, reader } = open({ maxGarbageLines: 0 });
    if (why === 'too much') {
      stdout.write('noise\n');
      await reader.read().catch(() => undefined);
    } else {
      await reader.cancel();
    }
    for (let i = 0; i < 50; i += 1) if (!stdout.write(Buffer.alloc(10_000))) await once(stdout, 'drain');
    await nextRound();
    expect(stdout.listenerCount('readable')).toBe(0);
  });

  it('leaves no listener, also when it is cancelled while a message is waited for', async () => {
    const { stdout, reader } = open();
    const waiting = reader.read();
    await reader.cancel();
    expect(await waiting).toStrictEqual({ done: true, value: undefined });
    stdout.write('late\n');
    await nextRound();
    expect(stdout.listenerCount('readable')).toBe(0);
    stdout.end('later\n');
    await once(stdout, 'end');
  });

  it('ends where the pipe breaks', async () => {
    const { stdout, reader } = open();
    stdout.write(lines(update('a')));
    expect((await reader.read()).value).toStrictEqual(update('a'));
    stdout.destroy(new Error('broken'));
    expect((await reader.read()).done).toBe(true);
  });
});

describe('what is said to a child', () => {
  it('is one line each', async () => {
    const { stdin, writer } = open();
    await writer.write(update('a\nb\u2028'));
    await writer.write(request(1));
    await writer.close();
    expect(String(Buffer.concat(await stdin.toArray()))).toBe(lines(update('a\nb\u2028'), request(1)));
  });

  it('waits until it is taken', async () => {
    let take = () => {};
    const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => (take = done) });
    const writer = childStream(new PassThrough(), slow).writable.getWriter();
    let written = 0;
    const count = () => (written += 1);
    void writer.write(update('a')).then(count);
    void writer.write(update('b')).then(count);
    await nextRound();
    expect(written).toBe(0);
    take();
    await nextRound();
    expect(written).toBe(1);
    take();
    await nextRound();
    expect(written).toBe(2);
  });

  it.each([
    ['ended', (stdin: PassThrough) => stdin.end()],
    ['destroyed', (stdin: PassThrough) => stdin.destroy()],
    ['broken', (stdin: PassThrough) => stdin.destroy(new Error('EPIPE'))],
  ])('fails with an error of its own when the pipe is %s', async (_how, close) => {
    const { stdin, stdout, writer } = open();
    close(stdin);
    stdout.end();
    const error: unknown = await writer.write(request(1)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChildInputClosedError);
    expect(error).toMatchObject({ code: 'acp_input_closed' });
  });

  it('fails no sooner than what the child said last was heard', async () => {
    const { stdin, stdout, reader, writer } = open();
    stdin.destroy();
    const order: string[] = [];
    const failed = writer.write(request(1)).catch(() => order.push('failed'));
    stdout.end(lines(update('last words')));
    for (let part = await reader.read(); !part.done; part = await reader.read()) order.push('heard');
    await failed;
    expect(order).toStrictEqual(['heard', 'failed']);
  });
});
