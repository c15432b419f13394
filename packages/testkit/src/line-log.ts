/** How much of a process' output is kept. */
const MAX_LINES = 5_000;
const MAX_LINE_LENGTH = 32_768;

/** One line a process printed. */
export interface OutputLine {
  readonly source: 'stdout' | 'stderr';
  readonly text: string;
}

type Listener = (line: OutputLine) => void;

/** Cuts chunks into lines and keeps the newest: at most 5,000 lines of at most 32 KiB. */
export class LineLog {
  readonly #lines: OutputLine[] = [];
  readonly #rest = { stdout: '', stderr: '' };
  readonly #listeners = new Set<Listener>();

  /** The lines that are kept, oldest first. */
  get lines(): readonly OutputLine[] {
    return this.#lines;
  }

  write(source: OutputLine['source'], chunk: string): void {
    const parts = (this.#rest[source] + chunk).split('\n');
    // A line without an end in sight is passed on in pieces instead of growing for ever.
    const rest = parts.pop() ?? '';
    for (const part of parts) this.#push(source, part);
    if (rest.length > MAX_LINE_LENGTH) {
      this.#push(source, rest);
      this.#rest[source] = '';
    } else this.#rest[source] = rest;
  }

  /** The stream ended: what has no line break yet is a line too. */
  end(source: OutputLine['source']): void {
    const rest = this.#rest[source];
    this.#rest[source] = '';
    if (rest !== '') this.#push(source, rest);
  }

  /** Calls `listener` for each line from now on. Returns a function that ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The last lines as one text, for error messages. */
  tail(count = 30): string {
    return this.#lines
      .slice(-count)
      .map((line) => line.text)
      .join('\n');
  }

  #push(source: OutputLine['source'], raw: string): void {
    const line = { source, text: raw.replace(/\r$/u, '').slice(0, MAX_LINE_LENGTH) };
    this.#lines.push(line);
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
    for (const listener of [...this.#listeners]) listener(line);
  }
}
