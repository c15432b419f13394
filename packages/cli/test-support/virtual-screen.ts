import { graphemes, graphemeWidth } from '../src/ui/text-width.js';

const TOKEN = /\u001b\[([0-9;?]*)([A-Za-z])|[\r\n]|[^\u001b\r\n]+|[^]/g;

/** A terminal in memory: understands what the program writes, refuses what it should never write. */
export class VirtualScreen {
  /** Rows that left the window at its top. */
  readonly scrollback: string[] = [];
  isPasteMode = false;
  isCursorShown = true;
  #cells: string[][];
  #row = 0;
  #column = 0;

  constructor(
    public columns = 80,
    public rows = 24,
  ) {
    this.#cells = Array.from({ length: rows }, () => []);
  }

  write(text: string): void {
    for (const [token, parameters, command] of text.matchAll(TOKEN)) {
      if (command !== undefined) this.#control(parameters ?? '', command);
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#lineFeed();
      else this.#print(token);
    }
  }

  /** What is seen, without blanks at the ends and empty rows at the bottom. */
  get text(): string {
    return this.#cells
      .map((row) => row.join('').trimEnd())
      .join('\n')
      .trimEnd();
  }

  /** That and what has scrolled away. */
  get all(): string {
    return [...this.scrollback, this.text].join('\n');
  }

  get cursor(): readonly [row: number, column: number] {
    return [this.#row, this.#column];
  }

  #print(text: string): void {
    for (const grapheme of graphemes(text)) {
      if (/[\u0000-\u001f\u007f-\u009f]/u.test(grapheme)) {
        throw new Error(`control character ${grapheme.charCodeAt(0).toString(16)} on the screen`);
      }
      const width = graphemeWidth(grapheme);
      if (this.#column + width > this.columns) {
        this.#column = 0;
        this.#lineFeed();
      }
      const row = this.#cells[this.#row] ?? [];
      while (row.length < this.#column) row.push(' ');
      row[this.#column] = grapheme;
      if (width === 2) row[this.#column + 1] = '';
      this.#column += width;
    }
  }

  #lineFeed(): void {
    if (this.#row < this.rows - 1) {
      this.#row += 1;
      return;
    }
    this.scrollback.push((this.#cells.shift() ?? []).join('').trimEnd());
    this.#cells.push([]);
  }

  #control(parameters: string, command: string): void {
    const count = Number(parameters === '' ? 1 : parameters);
    switch (command) {
      case 'A':
        this.#row = Math.max(0, this.#row - count);
        return;
      case 'C':
        this.#column = Math.min(this.columns - 1, this.#column + count);
        return;
      case 'H':
        this.#row = 0;
        this.#column = 0;
        return;
      case 'J':
        this.#erase(parameters);
        return;
      case 'm':
        return;
      case 'h':
      case 'l':
        this.#mode(parameters, command === 'h');
        return;
      default:
        throw new Error(`unexpected control sequence ${parameters}${command}`);
    }
  }

  #erase(parameters: string): void {
    if (parameters === '2') {
      this.#cells = Array.from({ length: this.rows }, () => []);
      return;
    }
    this.#cells[this.#row] = (this.#cells[this.#row] ?? []).slice(0, this.#column);
    for (let row = this.#row + 1; row < this.rows; row += 1) this.#cells[row] = [];
  }

  #mode(parameters: string, isOn: boolean): void {
    if (parameters === '?2004') this.isPasteMode = isOn;
    else if (parameters === '?25') this.isCursorShown = isOn;
    else throw new Error(`unexpected mode ${parameters}`);
  }
}
