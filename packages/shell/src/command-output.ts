import { OutputCapture } from './output-capture.js';
import { OutputChunks, type OutputChunk } from './output-chunks.js';

export interface CommandOutputResult {
  /** Bytes that are no UTF-8 are U+FFFD. */
  readonly stdout: string;
  readonly stderr: string;
  /** Written in all, in bytes. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** True if the middle of a stream is missing; the text says how much. */
  readonly truncated: boolean;
}

/** Both streams of a command: kept within a bound, and told while they come. */
export class CommandOutput {
  #stdout: OutputCapture;
  #stderr: OutputCapture;
  readonly #chunks: OutputChunks | undefined;

  constructor(maxStreamBytes: number, onChunk: ((chunk: OutputChunk) => void) | undefined) {
    this.#stdout = new OutputCapture(maxStreamBytes);
    this.#stderr = new OutputCapture(maxStreamBytes);
    this.#chunks = onChunk === undefined ? undefined : new OutputChunks(onChunk);
  }

  readonly onStdout = (bytes: Buffer): void => {
    this.#stdout.add(bytes);
    this.#chunks?.add('stdout', bytes);
  };

  readonly onStderr = (bytes: Buffer): void => {
    this.#stderr.add(bytes);
    this.#chunks?.add('stderr', bytes);
  };

  /** Nothing is told afterwards, and nothing is kept here. */
  finish(): CommandOutputResult {
    this.#chunks?.end();
    const stdout = this.#stdout.result();
    const stderr = this.#stderr.result();
    const result = {
      stdout: stdout.text,
      stderr: stderr.text,
      stdoutBytes: this.#stdout.totalBytes,
      stderrBytes: this.#stderr.totalBytes,
      truncated: stdout.omittedBytes > 0 || stderr.omittedBytes > 0,
    };
    this.#stdout = new OutputCapture(0);
    this.#stderr = new OutputCapture(0);
    return result;
  }
}
