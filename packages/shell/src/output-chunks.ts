import { StringDecoder } from 'node:string_decoder';
import { withoutCutStart } from './utf8-cut.js';

export type StreamName = 'stdout' | 'stderr';

export interface OutputChunk {
  readonly stream: StreamName;
  readonly text: string;
}

/** Between two reports, in milliseconds. */
const INTERVAL_MS = 50;

/** Bytes of one stream that one report shows; what comes beyond them in its interval is left out. */
const MAX_REPORT_BYTES = 65_536;

interface StreamState {
  decoder: StringDecoder;
  reportBytes: number;
  omittedBytes: number;
  /** The next bytes follow bytes that were left out, so may begin in the middle of a character. */
  isAfterGap: boolean;
}

/**
 * Tells output as it comes: in whole characters, in order, at once when it has been quiet, else at most every 50 ms
 * with at most 64 KiB of each stream, and with a word for what was left out.
 */
export class OutputChunks {
  readonly #streams: Readonly<Record<StreamName, StreamState>> = { stdout: newState(), stderr: newState() };
  #pending: OutputChunk[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastReport = -Infinity;

  constructor(private readonly onChunk: (chunk: OutputChunk) => void) {}

  add(stream: StreamName, bytes: Buffer): void {
    const state = this.#streams[stream];
    const shown = shownPart(state, bytes);
    state.reportBytes += shown.length;
    this.#push(stream, state.decoder.write(state.isAfterGap ? withoutCutStart(shown) : shown));
    if (shown.length > 0) state.isAfterGap = false;
    if (shown.length < bytes.length) leaveOut(state, bytes.length - shown.length);
    this.#schedule();
  }

  /** Reports what is left; nothing afterwards. */
  end(): void {
    clearTimeout(this.#timer);
    this.#report();
    for (const stream of ['stdout', 'stderr'] as const) this.#push(stream, this.#streams[stream].decoder.end());
    this.#emit();
  }

  #push(stream: StreamName, text: string): void {
    if (text === '') return;
    const last = this.#pending.at(-1);
    if (last?.stream === stream) this.#pending.splice(-1, 1, { stream, text: last.text + text });
    else this.#pending.push({ stream, text });
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    const wait = this.#lastReport + INTERVAL_MS - performance.now();
    if (wait <= 0) {
      this.#report();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#report();
    }, wait);
  }

  #report(): void {
    this.#timer = undefined;
    this.#lastReport = performance.now();
    for (const stream of ['stdout', 'stderr'] as const) this.#tellGap(stream);
    this.#emit();
  }

  #tellGap(stream: StreamName): void {
    const state = this.#streams[stream];
    if (state.omittedBytes > 0) this.#push(stream, `\n… ${state.omittedBytes} bytes left out …\n`);
    Object.assign(state, { reportBytes: 0, omittedBytes: 0 });
  }

  #emit(): void {
    const chunks = this.#pending;
    this.#pending = [];
    for (const chunk of chunks) this.onChunk(chunk);
  }
}

function newState(): StreamState {
  return { decoder: new StringDecoder('utf8'), reportBytes: 0, omittedBytes: 0, isAfterGap: false };
}

function shownPart({ omittedBytes, reportBytes }: StreamState, bytes: Buffer): Buffer {
  return bytes.subarray(0, omittedBytes > 0 ? 0 : MAX_REPORT_BYTES - reportBytes);
}

function leaveOut(state: StreamState, bytes: number): void {
  state.omittedBytes += bytes;
  // A character that was begun has lost its rest.
  state.decoder = new StringDecoder('utf8');
  state.isAfterGap = true;
}
