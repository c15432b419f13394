/** Takes a stream of server-sent events apart, in pieces of any size; gives the data of each `message` event. */
export class SseData {
  readonly #decoder = new TextDecoder();
  /** Of the line that has not ended. */
  #pieces: string[] = [];
  #afterCarriageReturn = false;
  #event = 'message';
  #data: string[] = [];

  /** What ended with these bytes. An event without data is none. */
  push(bytes: Uint8Array): string[] {
    const found: string[] = [];
    let text = this.#decoder.decode(bytes, { stream: true });
    // The second half of a line's end that fell between two pieces.
    if (this.#afterCarriageReturn && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#afterCarriageReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/u);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = this.#line(this.#pieces.join('') + line);
      this.#pieces = [];
      if (data !== undefined) found.push(data);
    }
    if (rest !== '') this.#pieces.push(rest);
    return found;
  }

  #line(line: string): string | undefined {
    if (line === '') return this.#endEvent();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /u, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    return undefined;
  }

  #endEvent(): string | undefined {
    const data = this.#data.join('\n');
    const isMessage = this.#event === 'message' || this.#event === '';
    this.#data = [];
    this.#event = 'message';
    return isMessage && data.trim() !== '' ? data : undefined;
  }
}
