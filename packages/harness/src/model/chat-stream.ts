import type { ReadableStreamReadResult } from 'node:stream/web';
import { asRecord } from './as-record.js';
import { ModelProviderError } from './model-errors.js';
import { looksLikeHtml, type ProviderFailure, readFailure } from './provider-failure.js';
import { type ServerSentEvent, ServerSentEventDecoder } from './server-sent-events.js';

export type Packet = ReadableStreamReadResult<Uint8Array>;

/** How an answer's bytes are read. */
export interface ChatStreamOptions {
  /** More bytes than that fail the answer. */
  readonly maxBytes: number;
  /** Waits for a packet, and no longer than it should; it may also end the body there. */
  readonly waitForPacket: (packet: Promise<Packet>) => Promise<Packet>;
  readonly toError: (failure: ProviderFailure) => ModelProviderError;
}

/** After the end marker, how long the rest of the response may take before its connection is given up. */
const DRAIN_MS = 250;

/**
 * The chunks of a chat completion, parsed, until the end marker or the end of the body. An answer that is no event
 * stream but one JSON document (the server has ignored that a stream was asked for) comes as a single chunk.
 *
 * @throws ModelProviderError for anything else, for a chunk that is no JSON and for a body that is too large;
 * what `waitForPacket` throws.
 */
export async function* readChatStream(body: ReadableStream, options: ChatStreamOptions): AsyncGenerator {
  const reader = body.getReader();
  let drained = false;
  try {
    const pieces = readText(reader, options);
    const first = await firstVisible(pieces);
    if (/^[{<[]/u.test(first)) {
      yield await readDocument(first, pieces, options);
      return;
    }
    for await (const event of readEvents(first, pieces)) {
      if (event.data.trim() === '[DONE]') {
        drained = true;
        return;
      }
      yield* parseEvent(event, options);
    }
  } finally {
    // Reading to the end gives the connection back for the next request; whoever waits for the answer does not wait
    // for that.
    if (drained) void drain(reader);
    else reader.cancel().catch(() => undefined);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function* readText(reader: Reader, options: ChatStreamOptions): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for (;;) {
    const { done, value } = await options.waitForPacket(reader.read());
    if (done) break;
    bytes += value.byteLength;
    if (bytes > options.maxBytes) {
      throw new ModelProviderError(
        'provider_error',
        `the answer of the model is larger than ${options.maxBytes} bytes`,
      );
    }
    yield decoder.decode(value, { stream: true });
  }
  yield decoder.decode();
}

/** Everything up to and with the first piece that is not blank, without the blanks before it. */
async function firstVisible(pieces: AsyncGenerator<string>): Promise<string> {
  for (;;) {
    const next = await pieces.next();
    if (next.done === true) return '';
    const text = next.value.trimStart();
    if (text !== '') return text;
  }
}

async function* readEvents(first: string, pieces: AsyncGenerator<string>): AsyncGenerator<ServerSentEvent> {
  const decoder = new ServerSentEventDecoder();
  yield* decoder.push(first);
  // Not `for await`: that would close the pieces, and the reader with them, when the events are left early.
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield* decoder.push(next.value);
  const last = decoder.end();
  if (last !== undefined) yield last;
}

async function readDocument(
  first: string,
  pieces: AsyncGenerator<string>,
  options: ChatStreamOptions,
): Promise<unknown> {
  const all = [first];
  for await (const piece of pieces) all.push(piece);
  const text = all.join('');
  if (looksLikeHtml(text)) throw options.toError({ text });
  const document = tryParse(text);
  if (document === undefined) throw unreadable('an answer that is neither an event stream nor JSON');
  const record = asRecord(document);
  if (record === undefined || !Array.isArray(record['choices'])) {
    throw options.toError(readFailure(document));
  }
  return record;
}

function* parseEvent(event: ServerSentEvent, options: ChatStreamOptions): Generator {
  const parsed = tryParse(event.data);
  if (event.name === 'error') throw options.toError(readFailure(parsed ?? event.data));
  if (parsed !== undefined) {
    yield parsed;
    return;
  }
  // Some servers end a chunk with one line feed instead of two, which makes several chunks one event.
  const lines = event.data.split('\n').map(tryParse);
  if (lines.length < 2 || lines.includes(undefined)) throw unreadable('a chunk that is no JSON');
  yield* lines;
}

function unreadable(what: string): ModelProviderError {
  return new ModelProviderError('provider_error', `the model server sent ${what}`);
}

// Undefined cannot come out of JSON.
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function drain(reader: Reader): Promise<void> {
  const late = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_MS);
  late.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer was complete before.
  } finally {
    clearTimeout(late);
  }
}
