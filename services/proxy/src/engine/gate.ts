/**
 * Lets decisions about one turn follow each other while what they decided is still being written down: any number that
 * go together, or one alone, in order of arrival. Nobody waits where nothing is awaited: then a call returns undefined.
 */
export class Gate {
  #sharing = 0;
  #held = false;
  readonly #waiting: { readonly alone: boolean; readonly enter: () => void }[] = [];

  /** Enters beside others; followed by `unshare`. */
  share(): Promise<void> | undefined {
    return this.#enter(false);
  }

  unshare(): void {
    this.#sharing -= 1;
    this.#admit();
  }

  /** Enters alone; followed by `release`. */
  hold(): Promise<void> | undefined {
    return this.#enter(true);
  }

  release(): void {
    this.#held = false;
    this.#admit();
  }

  #enter(alone: boolean): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isFree(alone)) {
      this.#take(alone);
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push({ alone, enter: resolve }));
  }

  #admit(): void {
    for (;;) {
      const first = this.#waiting[0];
      if (first === undefined || !this.#isFree(first.alone)) return;
      this.#waiting.shift();
      this.#take(first.alone);
      first.enter();
    }
  }

  #isFree(alone: boolean): boolean {
    return !this.#held && (!alone || this.#sharing === 0);
  }

  #take(alone: boolean): void {
    if (alone) this.#held = true;
    else this.#sharing += 1;
  }
}
