/** One event of a `text/event-stream`, as far as chat completions need it. */
export interface ServerSentEvent {
  /** Empty if it was not named. */
  readonly name: string;
  /** Its data lines, joined by line feeds. */
  readonly data: string;
}

/**
 * Cuts text that comes in pieces into events. Lines may end with LF, CRLF or CR, and any of that may be split between
 * two pieces. Each character is looked at once, however long a line grows.
 */
export class ServerSentEventDecoder {
  #unfinished: string[] = [];
  #endedWithCr = false;
  #name = '';
  #data: string[] = [];

  /** The events that `text` completes. */
  push(text: string): readonly ServerSentEvent[] {
    if (text === '') return [];
    const fresh = this.#endedWithCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedWithCr = text.endsWith('\r');
    const lines = fresh.split(/\r\n|\n|\r/u);
    const rest = lines.pop() ?? '';
    const events = lines.map((line) => this.#line(line)).filter((event) => event !== undefined);
    if (rest !== '') this.#unfinished.push(rest);
    return events;
  }

  /** The event that the end of the stream completes: many servers leave out the last blank line. */
  end(): ServerSentEvent | undefined {
    const last = this.#unfinished.length > 0 ? this.#line('') : undefined;
    return last ?? this.#dispatch();
  }

  #line(end: string): ServerSentEvent | undefined {
    const line = this.#unfinished.length === 0 ? end : this.#unfinished.join('') + end;
    this.#unfinished = [];
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    // A comment; servers send them to keep the connection alive.
    if (colon === 0) return undefined;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#name = value;
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = { name: this.#name, data: this.#data.join('\n') };
    this.#name = '';
    this.#data = [];
    return event.data === '' ? undefined : event;
  }
}
