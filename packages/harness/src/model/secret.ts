import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** A credential that shows itself nowhere by accident: not in logs, JSON, templates or `util.inspect`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value, for the one place that sends it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

// Shorter values occur in ordinary words; hiding those would make messages unreadable and guessable.
const MIN_HIDDEN_LENGTH = 6;

/** `text` without the values of `secrets`, which servers like to echo in what they complain about. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= MIN_HIDDEN_LENGTH)
    .reduce((safe, secret) => safe.replaceAll(secret, HIDDEN), text);
}
