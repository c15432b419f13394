import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client, methods, type AnyMessage, type Stream } from '@agentclientprotocol/sdk';
import { startChild } from '../child/index.js';
import { childStream } from './child-stream.js';
import { fileRecorder } from './file-recorder.js';
import { replayTraffic } from './replay-traffic.js';
import { TrafficRecorder } from './traffic-recorder.js';
import { ReplayMismatchError } from './wire-errors.js';

/** Answers everything; a prompt has two updates, asks for a permission and has one more update, all in few writes. */
const AGENT = `
  const say = (...messages) => process.stdout.write(messages.map((m) => JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n').join(''));
  const text = (text) => ({ method: 'session/update', params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } } });
  let prompt;
  process.stdout.write('starting\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, result } = JSON.parse(line);
    if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === 'session/new') say({ id, result: { sessionId: 's1' } });
    else if (method === 'session/prompt') {
      prompt = id;
      say(text('one '), text('two '), { id: 'p1', method: 'session/request_permission', params: { sessionId: 's1', toolCall: { toolCallId: 't' }, options: [{ optionId: 'no', name: 'No', kind: 'reject_once' }] } });
    } else if (result !== undefined) say(text(result.outcome.optionId), { id: prompt, result: { stopReason: 'end_turn' } });
  });
`;

/** What a client does with a child. `more` shifts its ids, and lets something differ. */
async function talk(stream: Stream, { shift = 0, text = 'hi' } = {}): Promise<string> {
  const said: string[] = [];
  const connection = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        said.push(update.content.text);
    })
    .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: 'selected', optionId: 'no' } }))
    .connect(shift === 0 ? stream : shifted(stream, shift));
  try {
    await connection.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await connection.agent.request(methods.agent.session.new, {
      cwd: '/tmp',
      mcpServers: [
        { name: 'a', command: '/bin/a', args: [], env: [{ name: 'TOKEN', value: 'hidden-variable' }] },
        { type: 'http', name: 'b', url: 'http://b', headers: [{ name: 'Authorization', value: 'hidden-header' }] },
      ],
    });
    const prompt = [{ type: 'text' as const, text }];
    const answer = await connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    return `${said.join('')} ${(answer as { stopReason: string }).stopReason}`;
  } finally {
    connection.close();
  }
}

/** As from a client that counts its requests from another number. */
function shifted(stream: Stream, shift: number): Stream {
  const move = (message: AnyMessage, by: number): AnyMessage =>
    'id' in message && typeof message.id === 'number' ? { ...message, id: message.id + by } : message;
  const out = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => controller.enqueue(move(message, shift)),
  });
  void out.readable.pipeTo(stream.writable).catch(() => undefined);
  const back = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => controller.enqueue(move(message, -shift)),
  });
  return { writable: out.writable, readable: stream.readable.pipeThrough(back) };
}

async function recordRun(record: TrafficRecorder): Promise<string> {
  const child = await startChild({ command: process.execPath, args: ['-e', AGENT], cwd: tmpdir() });
  try {
    return await talk(childStream(child.stdout, child.stdin, { record }));
  } finally {
    await child.end();
  }
}

let recording: string;
let answered: string;
beforeAll(async () => {
  const lines: string[] = [];
  answered = await recordRun(new TrafficRecorder({ onLine: (line) => lines.push(line) }));
  recording = lines.map((line) => `${line}\n`).join('');
});

describe('a recording', () => {
  it('has a line for each message, with its direction and its time', () => {
    expect(answered).toBe('one two no end_turn');
    const [header, ...lines] = recording
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toStrictEqual({ format: 'parley-acp-traffic', version: 1 });
    const what = lines.map(
      (line) => line.garbage ?? line.out?.method ?? line.in?.method ?? ('out' in line ? 'our answer' : 'its answer'),
    );
    expect(what).toStrictEqual([
      'initialize',
      'no_json',
      'its answer',
      'session/new',
      'its answer',
      'session/prompt',
      'session/update',
      'session/update',
      'session/request_permission',
      'our answer',
      'session/update',
      'its answer',
    ]);
    const times: number[] = lines.map(({ at }) => at);
    expect(times).toStrictEqual([...times].sort((a, b) => a - b));
    expect(lines.every(({ run }) => run === 1)).toBe(true);
  });

  it('has no values that servers of tools are started with', () => {
    expect(recording).toContain('Authorization');
    expect(recording).not.toContain('hidden');
  });

  it('is bounded, and says so', () => {
    const lines: string[] = [];
    const recorder = new TrafficRecorder({ onLine: (line) => lines.push(line), maxBytes: 1_000, now: () => 5 });
    const run = recorder.open();
    for (let i = 0; i < 100; i += 1) run.incoming({ jsonrpc: '2.0', method: 'x', params: { i } });
    expect(recorder.isFull).toBe(true);
    expect(Buffer.byteLength(lines.join('\n'))).toBeLessThan(1_100);
    expect(lines.at(-1)).toBe('{"run":1,"at":0,"full":true}');
    expect(lines.filter((line) => line.includes('full'))).toHaveLength(1);
  });

  it('may be of several children, and without what must not be kept', () => {
    const lines: string[] = [];
    const safeText = (text: string) => text.replace('secret', 'nothing');
    const recorder = new TrafficRecorder({ onLine: (line) => lines.push(line), safeText });
    const [one, two] = [recorder.open(), recorder.open()];
    two.incoming({ jsonrpc: '2.0', method: 'secret' });
    one.end();
    expect(lines.slice(1).map((line) => JSON.parse(line))).toMatchObject([
      { run: 2, in: { method: 'nothing' } },
      { run: 1, end: true },
    ]);
  });

  it('is written to a file that is its owner’s', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-acp-'));
    try {
      const { recorder, close } = fileRecorder(join(folder, 'run.jsonl'));
      expect(await recordRun(recorder)).toBe(answered);
      await close();
      expect(statSync(join(folder, 'run.jsonl')).mode & 0o777).toBe(0o600);
      expect(await talk(replayTraffic(readFileSync(join(folder, 'run.jsonl'), 'utf8')))).toBe(answered);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that cannot be written disturbs nobody', async () => {
    const { recorder, close } = fileRecorder('/nowhere/at/all');
    expect(await recordRun(recorder)).toBe(answered);
    await expect(close()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a replay', () => {
  it('says what the child said, without a child', async () => {
    const stream = replayTraffic(recording);
    expect(stream.remaining).toBe(11);
    expect(await talk(stream)).toBe(answered);
    expect(stream.remaining).toBe(0);
    expect(stream.failure).toBeUndefined();
  });

  it('knows our requests under any ids', async () => {
    expect(await talk(replayTraffic(recording), { shift: 100 })).toBe(answered);
  });

  it('takes other words for the same by default, and not when it is told so', async () => {
    expect(await talk(replayTraffic(recording), { text: 'other' })).toBe(answered);
    const isSame = (recorded: AnyMessage, actual: AnyMessage) =>
      !('method' in recorded && recorded.method === 'session/prompt') ||
      JSON.stringify('params' in actual && actual.params) === JSON.stringify(recorded.params);
    expect(await talk(replayTraffic(recording, { isSame }))).toBe(answered);
    await expect(talk(replayTraffic(recording, { isSame }), { text: 'other' })).rejects.toThrow(
      'the traffic differs from line 7 of the recording: it has the request session/prompt, but there was the request session/prompt',
    );
  });
});

const message = (fields: object): AnyMessage => ({ jsonrpc: '2.0', ...fields }) as AnyMessage;
const textOf = (...steps: object[]) =>
  [{ format: 'parley-acp-traffic', version: 1 }, ...steps.map((step) => ({ run: 1, at: 0, ...step }))]
    .map((line) => JSON.stringify(line))
    .join('\n');

function open(...steps: object[]) {
  const stream = replayTraffic(textOf(...steps));
  return { stream, writer: stream.writable.getWriter(), reader: stream.readable.getReader() };
}

const out = (fields: object) => ({ out: message(fields) });
const into = (fields: object) => ({ in: message(fields) });

describe('a replayed child', () => {
  it('says nothing before it has heard what it heard before that', async () => {
    const { reader, writer } = open(out({ method: 'a' }), into({ method: 'b' }));
    let heard = false;
    const read = reader.read().then(({ value }) => {
      heard = true;
      return value;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toBe(false);
    await writer.write(message({ method: 'a' }));
    expect(await read).toStrictEqual(message({ method: 'b' }));
  });

  it('may hear in another order what it heard without a word between', async () => {
    const { reader, writer } = open(out({ method: 'a' }), out({ id: 1, method: 'b' }), into({ id: 1, result: 3 }));
    await writer.write(message({ id: 'x', method: 'b' }));
    await writer.write(message({ method: 'a' }));
    expect((await reader.read()).value).toStrictEqual(message({ id: 'x', result: 3 }));
  });

  it('may hear something before it has said what came first', async () => {
    const { reader, writer, stream } = open(into({ method: 'a' }), out({ method: 'b' }), into({ method: 'c' }));
    await writer.write(message({ method: 'b' }));
    expect((await reader.read()).value).toMatchObject({ method: 'a' });
    expect((await reader.read()).value).toMatchObject({ method: 'c' });
    expect(stream.remaining).toBe(0);
  });

  it('ends where it ended, and stays where it stayed', async () => {
    const ended = open(into({ method: 'a' }), { end: true });
    await ended.reader.read();
    expect((await ended.reader.read()).done).toBe(true);
    const stayed = open(into({ method: 'a' }));
    await stayed.reader.read();
    const more = stayed.reader.read();
    await stayed.reader.cancel();
    expect((await more).done).toBe(true);
  });

  it.each([
    [
      'another method',
      [out({ method: 'a' })],
      message({ method: 'b' }),
      'it has the notification a, but there was the notification b',
      2,
    ],
    [
      'a request for a notification',
      [out({ method: 'a' })],
      message({ id: 1, method: 'a' }),
      'it has the notification a, but there was the request a',
      2,
    ],
    [
      'an answer for a request',
      [out({ id: 1, method: 'a' })],
      message({ id: 1, result: {} }),
      'it has the request a, but there was an answer',
      2,
    ],
    [
      'an error for an answer',
      [out({ id: 1, result: {} })],
      message({ id: 1, error: { code: 1, message: 'secret' } }),
      'it has an answer, but there was an error as the answer',
      2,
    ],
    [
      'an answer to something else',
      [out({ id: 1, result: {} })],
      message({ id: 2, result: {} }),
      'it has an answer, but there was an answer',
      2,
    ],
    [
      'something after the end',
      [{ end: true }],
      message({ method: 'a' }),
      'it has ended, but there was the notification a',
      2,
    ],
    [
      'something after the last line',
      [into({ method: 'x' })],
      message({ method: 'a' }),
      'it has ended, but there was the notification a',
      3,
    ],
    ['something that had no room', [{ full: true }], message({ method: 'a' }), 'there was no room', 2],
  ])('fails on both sides at %s', async (_what, steps, actual, told, line) => {
    const { reader, writer, stream } = open(...steps);
    if ('in' in (steps[0] ?? {})) await reader.read();
    const read = reader.read().then(
      ({ done }) => ({ done }),
      (error: unknown) => error,
    );
    const written: unknown = await writer.write(actual).catch((error: unknown) => error);
    if (_what !== 'something after the end') expect(await read).toBe(stream.failure);
    expect(written === undefined ? stream.failure : written).toBe(stream.failure);
    expect(stream.failure).toBeInstanceOf(ReplayMismatchError);
    expect(stream.failure?.message).toContain(told);
    expect(stream.failure?.line).toBe(line);
    expect(stream.failure?.message).not.toContain('secret');
    await expect(writer.write(message({ method: 'b' }))).rejects.toBe(stream.failure);
  });

  it('never comes to an answer that the recording has no room for', async () => {
    const { reader } = open({ full: true });
    await expect(reader.read()).rejects.toThrow('nothing more was recorded');
  });
});

describe('a text that is no recording', () => {
  const line = '{"format":"parley-acp-traffic","version":1}\n';
  it.each([
    ['', 'line 1 is no JSON object'],
    ['[]', 'line 1 is no JSON object'],
    ['{}', 'its first line is not that of a recording'],
    [line.replace('1', '2'), 'its version is not known'],
    [line, 'it has no child number 1'],
    [`${line}{"run":2,"at":0,"end":true}`, 'it has no child number 1'],
    [`${line}x`, 'line 2 is no JSON object'],
    [`${line}{"at":1,"in":{}}`, 'line 2 belongs to no child'],
    [`${line}{"run":1,"in":{"method":"a"}}`, 'line 2 has no message'],
  ])('is told: %j', (text, told) => {
    expect(() => replayTraffic(text)).toThrow(`the recording cannot be played: ${told}`);
  });
});
