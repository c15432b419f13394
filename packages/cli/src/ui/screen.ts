import type { Block } from './block.js';
import { StreamText } from './stream-text.js';
import type { Line, Paint, Span, Tone } from './style.js';
import { truncate, widthOf, wrapLine } from './text-width.js';

/** Where frames go. */
export interface ScreenOutput {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

/** The rows below the output. They are drawn again with every frame. */
export interface LiveRows {
  readonly rows: readonly Line[];
  /** Where the cursor stands in them. */
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

/** Makes the live rows fit a size: at most so many columns and rows. */
export type LiveView = (columns: number, rows: number) => LiveRows;

export interface ScreenOptions {
  readonly output: ScreenOutput;
  readonly paint: Paint;
  readonly view: LiveView;
  /** Runs a function a little later; gives back how to call it off. */
  readonly later: (work: () => void) => () => void;
}

const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[2J\u001b[H';

/**
 * Output that scrolls, and below it rows that stay. Each frame is one write: the old live rows are cleared, new output
 * takes their place, the live rows follow. Nothing above the live rows is ever written again, so the terminal's own
 * scrolling and copying work.
 */
export class Screen {
  readonly #options: ScreenOptions;
  readonly #stream = new StreamText();
  #streamTone: Tone | undefined;
  #waiting: string[] = [];
  #endsBlank = true;
  /** Widths of the live rows on the terminal, and where the cursor is in them. */
  #drawn: { readonly widths: readonly number[]; readonly cursorRow: number; readonly cursorColumn: number } | undefined;
  #cancelFrame: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Adds output and draws it soon. */
  print(blocks: readonly Block[]): void {
    if (this.#isClosed) return;
    for (const block of blocks) this.#add(block);
    this.update();
  }

  /** Something in the live rows changed: they are drawn again soon. Many calls make one frame. */
  update(): void {
    if (this.#isClosed) return;
    this.#cancelFrame ??= this.#options.later(() => this.draw());
  }

  /** Draws at once. */
  draw(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    if (this.#isClosed) return;
    this.#write(this.#eraseLive() + this.#takeWaiting() + this.#drawLive());
  }

  /** An empty screen; the output so far stays in the terminal's memory, if it has one. */
  clear(): void {
    this.#drawn = undefined;
    this.#write(CLEAR_ALL);
    this.draw();
  }

  /** The live rows are gone from the terminal, as after another program had it: the next frame draws them anew. */
  forgetLive(): void {
    this.#drawn = undefined;
  }

  /** Takes the live rows away and writes what waits. The next frame brings them back. */
  withdraw(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#write(this.#eraseLive() + this.#takeWaiting());
  }

  /** Ends the output: what was streamed is completed, the live rows go. Nothing is written afterwards. */
  close(): void {
    if (this.#isClosed) return;
    this.#endStream();
    this.withdraw();
    this.#isClosed = true;
  }

  get #width(): number {
    // A row that is full to the edge makes terminals differ about where the cursor is.
    return Math.max(2, this.#options.output.columns - 1);
  }

  #add(block: Block): void {
    if (block.type === 'stream') {
      this.#addToStream(block.text, block.tone);
      return;
    }
    this.#endStream();
    if (block.type === 'gap') {
      this.#addGap();
      return;
    }
    if (block.type === 'line') {
      this.#addRow(this.#paintLine(block.line, this.#width));
      return;
    }
    const blanks = ' '.repeat(block.indent);
    const rows = block.text.split('\n').flatMap((one) => wrapLine(one, this.#width - block.indent));
    for (const [at, row] of rows.entries()) {
      const lead = at === 0 ? (block.mark ?? blanks) : blanks;
      this.#addRow(this.#options.paint(lead + row.trimEnd(), block.tone), lead.trim() === '' && row.trim() === '');
    }
  }

  #addToStream(delta: string, tone: Tone): void {
    if (this.#streamTone !== tone) {
      this.#endStream();
      this.#addGap();
      this.#streamTone = tone;
    }
    for (const row of this.#stream.push(delta, this.#width)) {
      this.#addRow(this.#options.paint(row, tone), row === '');
    }
  }

  #endStream(): void {
    if (this.#streamTone === undefined) return;
    for (const row of this.#stream.end(this.#width))
      this.#addRow(this.#options.paint(row, this.#streamTone), row === '');
    this.#streamTone = undefined;
  }

  #addGap(): void {
    if (!this.#endsBlank) this.#addRow('', true);
  }

  #addRow(row: string, isBlank = false): void {
    this.#waiting.push(row);
    this.#endsBlank = isBlank;
  }

  #takeWaiting(): string {
    const rows = this.#waiting;
    this.#waiting = [];
    return rows.map((row) => `${row}\r\n`).join('');
  }

  /** Moves up to the first live row and clears from there. */
  #eraseLive(): string {
    if (this.#drawn === undefined) return '';
    const { widths, cursorRow, cursorColumn } = this.#drawn;
    this.#drawn = undefined;
    // A terminal that became narrower has broken the rows: they take more of them than were written.
    const columns = Math.max(1, this.#options.output.columns);
    const above = widths.slice(0, cursorRow).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = above + Math.floor(Math.min(cursorColumn, widths[cursorRow] ?? 0) / columns);
    return `${up > 0 ? `\u001b[${up}A` : ''}\r${CLEAR_BELOW}`;
  }

  #drawLive(): string {
    const width = this.#width;
    const maxRows = Math.max(1, this.#options.output.rows - 1);
    const tail = this.#stream.tail.trimEnd();
    const tailRows: Line[] =
      this.#streamTone === undefined || tail === '' ? [] : [[{ text: tail, tone: this.#streamTone }]];
    const room = Math.max(1, maxRows - tailRows.length);
    const live = this.#options.view(width, room);
    const lines = [...(maxRows > 1 ? tailRows : []), ...live.rows];
    const cursorRow = lines.length - live.rows.length + live.cursorRow;
    const rows = lines.map((one) => fit(one, width));
    this.#drawn = {
      widths: rows.map((row) => row.reduce((sum, span) => sum + widthOf(span.text), 0)),
      cursorRow,
      cursorColumn: live.cursorColumn,
    };
    const up = rows.length - 1 - cursorRow;
    const right = live.cursorColumn > 0 ? `\u001b[${live.cursorColumn}C` : '';
    return `${rows.map((row) => this.#paintSpans(row)).join('\r\n')}${up > 0 ? `\u001b[${up}A` : ''}\r${right}`;
  }

  #paintLine(spans: Line, width: number): string {
    return this.#paintSpans(fit(spans, width));
  }

  #paintSpans(spans: Line): string {
    return spans.map(({ text, tone }) => this.#options.paint(text, tone)).join('');
  }

  #write(text: string): void {
    if (text !== '' && !this.#isClosed) this.#options.output.write(text);
  }
}

/** Cuts a line at the edge. */
function fit(spans: Line, width: number): Span[] {
  const fitting: Span[] = [];
  let room = width;
  for (const span of spans) {
    if (room < 1) break;
    const text = truncate(span.text, room);
    fitting.push({ ...span, text });
    room -= widthOf(text);
  }
  return fitting;
}
