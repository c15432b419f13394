import type { TextOutput } from '../cli-io.js';

const ENDS_OF_A_WAIT = ['drain', 'close', 'error'] as const;

/** Writes to an output that may be slow, or whose reader may leave, as `head` does. */
export class OutputWriter {
  readonly #output: TextOutput;
  readonly #onLost: () => void;
  #isLost = false;

  /** `onLost` is called once, when nobody reads any more. The listener stays: an error without one would be a crash. */
  constructor(output: TextOutput, onLost: () => void = () => undefined) {
    this.#output = output;
    this.#onLost = onLost;
    output.on('error', () => this.#lose());
  }

  /** Resolves when more may be written. Never rejects; after the reader has left, nothing is written. */
  async write(text: string): Promise<void> {
    if (this.#isLost || this.#output.write(text) !== false) return;
    await new Promise<void>((resolve) => {
      const onEnd = (): void => {
        for (const event of ENDS_OF_A_WAIT) this.#output.off(event, onEnd);
        resolve();
      };
      for (const event of ENDS_OF_A_WAIT) this.#output.on(event, onEnd);
    });
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#onLost();
  }
}
