import { StringDecoder } from 'node:string_decoder';
import { type Key, KeyDecoder } from './keys.js';

/** The part of a stream that is read from; a TTY has a raw mode too. */
export interface TerminalInput {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end' | 'close', listener: () => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  resume(): unknown;
  pause(): unknown;
  setRawMode?(isRaw: boolean): unknown;
  readonly isTTY?: boolean;
}

/** The part of a stream that is written to; a TTY has a size too. */
export interface TerminalOutput {
  write(text: string): unknown;
  on(event: 'resize' | 'error', listener: () => void): unknown;
  off(event: 'resize' | 'error', listener: () => void): unknown;
  readonly columns?: number;
  readonly rows?: number;
  readonly isTTY?: boolean;
}

export interface TerminalListener {
  onKeys(keys: readonly Key[]): void;
  onResize(): void;
  /** Nothing more can be read or written: the other side has gone. */
  onLost(): void;
}

const PASTE_MODE_ON = '\u001b[?2004h';
/** Also ends colours and shows the cursor, whatever was written before. */
const RESTORE = '\u001b[?2004l\u001b[0m\u001b[?25h';
/** A sequence comes in one piece, or nearly: what follows later was typed. */
const SEQUENCE_GAP_MS = 50;
const PASTE_GAP_MS = 1_000;
/**
 * What was typed before the program took the terminal over comes at once, with line ends instead of the Enter key:
 * starting takes long enough to type a task meanwhile.
 */
const TYPED_AHEAD_MS = 50;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/**
 * A terminal in raw mode: keys in, text out. `restore` leaves it as it was found; it may be called at any time, also
 * while the process ends, and does its work once.
 */
export class Terminal {
  readonly #input: TerminalInput;
  readonly #output: TerminalOutput;
  readonly #listener: TerminalListener;
  #decoder = new KeyDecoder();
  #utf8 = new StringDecoder('utf8');
  #gapTimer: NodeJS.Timeout | undefined;
  /** Runs as long as input may be from before. */
  #aheadTimer: NodeJS.Timeout | undefined;
  #isRaw = false;
  /** Something failed or ended; told once. */
  #isLost = false;
  /** Nobody reads the output. */
  #isDeaf = false;

  constructor(input: TerminalInput, output: TerminalOutput, listener: TerminalListener) {
    this.#input = input;
    this.#output = output;
    this.#listener = listener;
  }

  get columns(): number {
    return positive(this.#output.columns) ?? DEFAULT_COLUMNS;
  }

  get rows(): number {
    return positive(this.#output.rows) ?? DEFAULT_ROWS;
  }

  /** Takes the terminal over. */
  enter(): void {
    if (this.#isRaw) return;
    this.#isRaw = true;
    this.#decoder = new KeyDecoder();
    this.#utf8 = new StringDecoder('utf8');
    this.#input.setRawMode?.(true);
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onLost);
    this.#input.on('close', this.#onLost);
    this.#output.on('resize', this.#onResize);
    // These stay after `restore`: an error that nobody listens for would end the process.
    this.#input.off('error', this.#onLost);
    this.#input.on('error', this.#onLost);
    this.#output.off('error', this.#onOutputLost);
    this.#output.on('error', this.#onOutputLost);
    this.write(PASTE_MODE_ON);
    this.#aheadTimer = setTimeout(() => (this.#aheadTimer = undefined), TYPED_AHEAD_MS);
    this.#input.resume();
  }

  /** Gives the terminal back as it was. */
  restore(): void {
    if (!this.#isRaw) return;
    this.write(RESTORE);
    this.#isRaw = false;
    clearTimeout(this.#gapTimer);
    clearTimeout(this.#aheadTimer);
    this.#aheadTimer = undefined;
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onLost);
    this.#input.off('close', this.#onLost);
    this.#output.off('resize', this.#onResize);
    try {
      this.#input.setRawMode?.(false);
    } catch {
      // The terminal is gone, and its mode with it.
    }
    this.#input.pause();
  }

  /** Writes as it is; once nobody reads it, nothing. */
  write(text: string): void {
    if (this.#isDeaf) return;
    try {
      this.#output.write(text);
    } catch {
      this.#onOutputLost();
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    clearTimeout(this.#gapTimer);
    const text = this.#utf8.write(chunk);
    this.#deliver(this.#decoder.push(this.#aheadTimer === undefined ? text : text.replaceAll('\n', '\r')));
    const waitsFor = this.#decoder.waitsFor;
    if (waitsFor === undefined || !this.#isRaw) return;
    const gapMs = waitsFor === 'paste' ? PASTE_GAP_MS : SEQUENCE_GAP_MS;
    this.#gapTimer = setTimeout(() => this.#deliver(this.#decoder.flush()), gapMs);
  };

  readonly #onResize = (): void => this.#listener.onResize();

  readonly #onLost = (): void => {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#listener.onLost();
  };

  readonly #onOutputLost = (): void => {
    this.#isDeaf = true;
    this.#onLost();
  };

  #deliver(keys: readonly Key[]): void {
    if (keys.length > 0) this.#listener.onKeys(keys);
  }
}

function positive(size: number | undefined): number | undefined {
  return size !== undefined && size > 0 ? size : undefined;
}
