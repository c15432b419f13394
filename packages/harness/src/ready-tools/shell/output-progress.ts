import { StringDecoder } from 'node:string_decoder';
import type { ToolProgressReporter } from '../../tools/tool-progress.js';

/** What one report shows at most; older output of the same interval is left out. */
const MAX_REPORT_LENGTH = 2_000;

/** Reports output while it comes, at most once per interval and never before the report before it was seen. */
export class OutputProgress {
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #reporting = false;
  #stopped = false;

  constructor(
    private readonly reporter: ToolProgressReporter,
    private readonly intervalMs: number,
  ) {}

  add(chunk: Buffer): void {
    if (this.#stopped) return;
    this.#text = (this.#text + this.#decoder.write(chunk)).slice(-MAX_REPORT_LENGTH);
    this.#schedule();
  }

  /** Nothing is reported afterwards. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#reporting || this.#text === '' || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#report().catch(() => undefined);
    }, this.intervalMs);
  }

  async #report(): Promise<void> {
    const message = this.#text;
    this.#text = '';
    this.#reporting = true;
    try {
      await this.reporter.report({ message });
    } finally {
      this.#reporting = false;
      this.#schedule();
    }
  }
}
