import { EventEmitter } from 'node:events';
import type { CliIo } from '../src/cli-io.js';
import { VirtualScreen } from './virtual-screen.js';

/** Long enough for a loaded machine. */
const WAIT_MS = 4_000;

/** A terminal without a terminal: what is typed goes in, what is drawn can be read. */
export class FakeTty extends EventEmitter {
  readonly screen: VirtualScreen;
  readonly isTTY = true;
  isRaw = false;
  isReading = false;
  /** True once nobody reads what is written. */
  isDeaf = false;
  /** All that was written, as it came. */
  written = '';

  constructor(columns = 80, rows = 24) {
    super();
    this.screen = new VirtualScreen(columns, rows);
  }

  get columns(): number {
    return this.screen.columns;
  }

  get rows(): number {
    return this.screen.rows;
  }

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }

  resume(): void {
    this.isReading = true;
  }

  pause(): void {
    this.isReading = false;
  }

  write(text: string): boolean {
    this.written += text;
    this.screen.write(text);
    this.emit('written');
    return true;
  }

  /** Keys as a terminal sends them. */
  type(keys: string): void {
    this.emit('data', Buffer.from(keys));
  }

  /** Resolves once the screen, or what has scrolled off it, shows a text. */
  async shows(text: string | RegExp): Promise<void> {
    await this.until(
      () => (typeof text === 'string' ? this.screen.all.includes(text) : text.test(this.screen.all)),
      String(text),
    );
  }

  /** Resolves once the screen no longer shows a text. */
  async hides(text: string): Promise<void> {
    await this.until(() => !this.screen.text.includes(text), `no ${text}`);
  }

  until(isSo: () => boolean, what: string): Promise<void> {
    return waitOn(this, isSo, () => `waited for ${what} on\n${this.screen.all}`);
  }
}

async function waitOn(source: EventEmitter, isSo: () => boolean, describe: () => string): Promise<void> {
  if (isSo()) return;
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const onWritten = (): void => {
    if (isSo()) resolve(undefined);
  };
  const timer = setTimeout(() => reject(new Error(describe())), WAIT_MS);
  source.on('written', onWritten);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    source.off('written', onWritten);
  }
}

/** An output that is a pipe: it keeps what is written. */
export class FakePipe extends EventEmitter {
  readonly isTTY: boolean = false;
  text = '';
  /** True as long as its reader is slow. */
  isFull = false;

  write(text: string): boolean {
    this.text += text;
    this.emit('written');
    return !this.isFull;
  }

  async shows(text: string): Promise<void> {
    await waitOn(
      this,
      () => this.text.includes(text),
      () => `waited for ${text} in\n${this.text}`,
    );
  }
}

/** A standard input that is a pipe. */
export class FakeInput extends EventEmitter {
  readonly isTTY: boolean = false;

  resume(): void {}

  pause(): void {}
}

export interface FakeIo extends CliIo {
  readonly stdin: FakeTty | FakeInput;
  readonly tty: FakeTty;
  readonly err: FakePipe;
  readonly out: FakePipe;
  readonly signals: EventEmitter;
  stops: number;
}

export interface FakeIoOptions {
  readonly isTty?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly now?: () => number;
}

export function fakeIo(options: FakeIoOptions = {}): FakeIo {
  const tty = new FakeTty();
  const out = new FakePipe();
  const err = new FakePipe();
  const signals = new EventEmitter();
  const isTty = options.isTty ?? true;
  const io: FakeIo = {
    tty,
    out,
    err,
    signals,
    stops: 0,
    stdin: isTty ? tty : new FakeInput(),
    stdout: isTty ? tty : out,
    stderr: err,
    env: options.env ?? { NO_COLOR: '1' },
    cwd: options.cwd ?? '/',
    now: options.now ?? Date.now,
    process: signals,
    stopGroup: () => {
      io.stops += 1;
    },
  };
  return io;
}
