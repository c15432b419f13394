import type { InvokeResponse } from '../initiator/index.js';

export interface RememberedAnswer {
  /** Of the piece of work, so that its id is not taken for another one. */
  readonly digest: string;
  readonly response: InvokeResponse;
}

export interface AnswerMemoryOptions {
  readonly maxAnswers: number;
  readonly maxBytes: number;
  readonly keepMs: number;
  readonly now: () => number;
}

/** The latest answers, for calls that are repeated because the first answer was lost. */
export class AnswerMemory {
  readonly #entries = new Map<string, RememberedAnswer & { readonly bytes: number; readonly until: number }>();
  readonly #options: AnswerMemoryOptions;
  #bytes = 0;

  constructor(options: AnswerMemoryOptions) {
    this.#options = options;
  }

  get(key: string): RememberedAnswer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until > this.#options.now()) return entry;
    this.#drop(key);
    return undefined;
  }

  put(key: string, answer: RememberedAnswer): void {
    const bytes = Buffer.byteLength(JSON.stringify(answer.response));
    const { maxAnswers, maxBytes, keepMs, now } = this.#options;
    if (bytes > maxBytes) return;
    this.#drop(key);
    this.#entries.set(key, { ...answer, bytes, until: now() + keepMs });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxAnswers && this.#bytes <= maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
