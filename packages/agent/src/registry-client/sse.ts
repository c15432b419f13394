import { AppError } from '@parley/service-kit';

export interface ServerSentEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  /** Lines joined by line feeds; empty for a block that only carried an id. */
  readonly data: string;
  /** The id of this event or of the last one that had one. */
  readonly lastEventId: string;
}

export interface SseOptions {
  /** A longer event is an error. Default 8 MiB. */
  readonly maxEventBytes?: number;
  /** Called for every chunk, comments included: the stream is alive. */
  readonly onActivity?: () => void;
}

/**
 * Cuts a byte stream into events as the HTML standard says (section 9.2.6): line ends CR, LF or CRLF, also when they
 * fall between two chunks; comments are left out; an event that the stream's end cuts off is dropped.
 */
export async function* parseSse(
  chunks: AsyncIterable<Uint8Array>,
  options: SseOptions = {},
): AsyncGenerator<ServerSentEvent> {
  const maxChars = options.maxEventBytes ?? 8 * 1024 * 1024;
  const decoder = new TextDecoder('utf-8');
  const block = new EventBlock();
  let rest = '';
  let afterCr = false;
  for await (const chunk of chunks) {
    options.onActivity?.();
    let text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // The line feed of a CRLF whose halves came in two chunks.
    if (afterCr && text.startsWith('\n')) text = text.slice(1);
    afterCr = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/u);
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const event = block.take(rest + line);
      rest = '';
      if (event !== undefined) yield event;
    }
    rest += last;
    if (rest.length + block.size > maxChars) {
      throw new AppError('bad_gateway', "The peer's answer is not valid: one event is too large.", {
        code: 'peer_invalid_answer',
      });
    }
  }
}

class EventBlock {
  #event = '';
  #data: string[] = [];
  #size = 0;
  #lastEventId = '';

  get size(): number {
    return this.#size;
  }

  /** Gives the event that this line ends. */
  take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /u, '');
    if (field === 'event') this.#event = value;
    else if (field === 'data') {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === 'id' && !value.includes('\0')) this.#lastEventId = value;
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = this.#event === '' ? 'message' : this.#event;
    const data = this.#data;
    this.#event = '';
    this.#data = [];
    this.#size = 0;
    return data.length === 0 ? undefined : { event, data: data.join('\n'), lastEventId: this.#lastEventId };
  }
}
