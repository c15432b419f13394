import { cutToBytes } from './cut-text.js';

/** Kept at once; an answer is among the last ones. */
const MAX_MESSAGES = 64;

interface TextMessage {
  readonly id: string | undefined;
  text: string;
  bytes: number;
  /** Whether some of it was left out. */
  cut: boolean;
}

/**
 * Puts the answer of a child together from its chunks: the last message that says anything.
 *
 * Where chunks have a message id, it tells the messages apart, also when they come interleaved; the one that began last
 * is the answer. Where they have none, a tool call ends a message, so that the answer is the text after the last tool
 * call. A child that says nothing after its last tool call has said its answer before.
 */
export class OutputText {
  /** In the order of their beginning. */
  readonly #messages: TextMessage[] = [];
  /** The one that a chunk without an id goes on with. */
  #current: TextMessage | undefined;
  #totalBytes = 0;

  constructor(readonly maxBytes: number) {}

  append(text: string, messageId?: string): void {
    if (text === '') return;
    const message = this.#messageOf(messageId);
    this.#current = message;
    if (message.cut) return;
    const kept = cutToBytes(text, this.maxBytes - message.bytes);
    message.cut = kept.length < text.length;
    const bytes = Buffer.byteLength(kept);
    message.text += kept;
    message.bytes += bytes;
    this.#totalBytes += bytes;
    this.#forgetOldest();
  }

  /** A tool call has begun. */
  toolCall(): void {
    this.#current = undefined;
  }

  get text(): string {
    return this.#answer()?.text.toWellFormed() ?? '';
  }

  /** Whether the answer was longer than what is kept of it. */
  get wasCut(): boolean {
    return this.#answer()?.cut ?? false;
  }

  #messageOf(id: string | undefined): TextMessage {
    const known = id === undefined ? this.#current : this.#messages.findLast((message) => message.id === id);
    if (known !== undefined) return known;
    const message: TextMessage = { id, text: '', bytes: 0, cut: false };
    this.#messages.push(message);
    return message;
  }

  /** The limit is for a message; what came before it may take as much again. */
  #forgetOldest(): void {
    while (this.#messages.length > 1 && this.#isTooMuch()) {
      const forgotten = this.#messages.shift();
      this.#totalBytes -= forgotten?.bytes ?? 0;
      if (forgotten === this.#current) this.#current = undefined;
    }
  }

  #isTooMuch(): boolean {
    return this.#messages.length > MAX_MESSAGES || this.#totalBytes > 2 * this.maxBytes;
  }

  #answer(): TextMessage | undefined {
    return this.#messages.findLast(({ text }) => text.trim() !== '');
  }
}
