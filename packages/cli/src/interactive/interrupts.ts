/** A second Ctrl-C within this time leaves the program. */
export const SECOND_PRESS_MS = 2_000;

export type InterruptMeaning = 'abort' | 'hint' | 'exit';

/** What Ctrl-C means: the first one stops what runs, a second one soon after leaves. */
export class Interrupts {
  #lastPress = Number.NEGATIVE_INFINITY;

  press(now: number, canAbort: boolean): InterruptMeaning {
    const isSecond = now - this.#lastPress < SECOND_PRESS_MS;
    this.#lastPress = now;
    if (isSecond) return 'exit';
    return canAbort ? 'abort' : 'hint';
  }
}
