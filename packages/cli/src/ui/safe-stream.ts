import { neutralise } from './neutralise.js';

/** Half a surrogate pair, or a carriage return that may be half a line end, or the beginning of a colour. */
const UNDECIDED = /[\ud800-\udbff\r]$|\u001b(?:\[[0-9;:]{0,16})?$/;

/** Makes text safe that comes in pieces, wherever it is cut. */
export class SafeStream {
  #held = '';

  /** Adds a piece. @returns what is decided of it. */
  push(delta: string): string {
    const whole = this.#held + delta;
    this.#held = UNDECIDED.exec(whole)?.[0] ?? '';
    return neutralise(whole.slice(0, whole.length - this.#held.length));
  }

  /** No more comes. @returns what was held back. */
  end(): string {
    const rest = neutralise(this.#held);
    this.#held = '';
    return rest;
  }
}
