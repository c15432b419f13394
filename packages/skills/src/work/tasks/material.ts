/** A text that a task can work on, by a name that the model uses instead of repeating it. */
export interface Material {
  /** `text_1`, the name of a file, or `result_1`. Unique among those that a context holds; of equals the newer counts. */
  readonly name: string;
  readonly text: string;
  readonly mediaType: string;
  /** Set if it came as a file. */
  readonly fileName?: string;
  /** What a capability gave, not what somebody sent. */
  readonly isResult: boolean;
}

/** Characters (UTF-16 code units) of all materials of one context; the oldest go first. */
const MAX_CHARS = 2_000_000;
const MAX_COUNT = 100;

/** The materials of one context, oldest first. Bounded. */
export class Materials {
  #held: Material[] = [];
  #results = 0;
  #texts = 0;

  /** Characters that are held. */
  get size(): number {
    return this.#held.reduce((sum, { text }) => sum + text.length, 0);
  }

  get names(): readonly string[] {
    return this.#held.map(({ name }) => name);
  }

  add(material: Material): void {
    // Names that came back from a journal are not given again.
    const [, kind, number] = /^(result|text)_(\d{1,9})$/u.exec(material.name) ?? [];
    if (kind === 'result') this.#results = Math.max(this.#results, Number(number));
    if (kind === 'text') this.#texts = Math.max(this.#texts, Number(number));
    this.#held = this.#held.filter(({ name }) => name !== material.name);
    this.#held.push(material);
    // The newest stays whatever its size: the work is about it.
    while (this.#held.length > 1 && (this.#held.length > MAX_COUNT || this.size > MAX_CHARS)) this.#held.shift();
  }

  /** Keeps what a capability gave. @returns its name. */
  addResult(text: string, mediaType: string): string {
    const name = `result_${this.#results + 1}`;
    this.add({ name, text, mediaType, isResult: true });
    return name;
  }

  /** A name for a text that has none of its own. */
  nextTextName(): string {
    this.#texts += 1;
    return `text_${this.#texts}`;
  }

  find(name: string): Material | undefined {
    return this.#held.find((material) => material.name === name);
  }

  newest(fits: (material: Material) => boolean = () => true): Material | undefined {
    return this.#held.findLast((material) => fits(material));
  }
}
