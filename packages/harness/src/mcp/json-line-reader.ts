const NEWLINE = 0x0a;

export interface JsonLineSink {
  onValue(value: unknown): void;
  /** A line that is no JSON. */
  onGarbage(line: string): void;
  /** A line that is longer than allowed; nothing after it is read. */
  onOverflow(): void;
}

/** Splits bytes into lines of JSON. Chunks of an unfinished line are kept apart, so that a long line costs its length. */
export class JsonLineReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  #stopped = false;

  constructor(
    private readonly maxLineBytes: number,
    private readonly sink: JsonLineSink,
  ) {}

  push(chunk: Buffer): void {
    let rest = chunk;
    while (!this.#stopped) {
      const end = rest.indexOf(NEWLINE);
      if (end === -1) break;
      this.#keep(rest.subarray(0, end));
      if (!this.#overflows()) this.#finishLine();
      rest = rest.subarray(end + 1);
    }
    if (this.#stopped || rest.length === 0) return;
    this.#keep(rest);
    this.#overflows();
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  #overflows(): boolean {
    if (this.#bytes <= this.maxLineBytes) return false;
    this.#stopped = true;
    this.#parts = [];
    this.sink.onOverflow();
    return true;
  }

  #finishLine(): void {
    const line = Buffer.concat(this.#parts, this.#bytes).toString('utf8').trim();
    this.#parts = [];
    this.#bytes = 0;
    if (line === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.sink.onGarbage(line);
      return;
    }
    this.sink.onValue(value);
  }
}
