import { AppError } from '@parley/service-kit';
import { isTransient, neverSent } from '../peer/peer-errors.js';

/**
 * Several doors to one registry: the one that answered last is asked first; one that is away is passed over.
 * A refusal is an answer and goes to the caller.
 */
export class FailOver<T> {
  readonly #doors: readonly T[];
  #current = 0;

  /** @param doors at least one. */
  constructor(doors: readonly T[]) {
    if (doors.length === 0)
      throw new AppError('invalid_request', 'No registry is named.', { code: 'registry_missing' });
    this.#doors = doors;
  }

  get doors(): readonly T[] {
    return this.#doors;
  }

  /** The door for a call that lasts, and a way to say that it failed. */
  pick(): { door: T; failed: () => void } {
    const at = this.#current;
    return {
      door: this.#at(at),
      failed: () => {
        if (this.#current === at) this.#current = (at + 1) % this.#doors.length;
      },
    };
  }

  /**
   * @param once the call must not be made twice: another door is asked only when the first has certainly seen nothing.
   */
  async call<R>(attempt: (door: T) => Promise<R>, once = false): Promise<R> {
    const start = this.#current;
    let last: unknown;
    for (let offset = 0; offset < this.#doors.length; offset += 1) {
      const index = (start + offset) % this.#doors.length;
      try {
        const result = await attempt(this.#at(index));
        this.#current = index;
        return result;
      } catch (error) {
        last = error;
        if (!(once ? neverSent(error) : isTransient(error))) throw error;
      }
    }
    throw last;
  }

  #at(index: number): T {
    const door = this.#doors[index];
    if (door === undefined) throw new RangeError('no such door');
    return door;
  }
}

/** `http://a:8000, http://b:8000` -> both, without trailing slashes. */
export function splitTargets(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim().replace(/\/+$/u, ''))
    .filter((part) => part !== '');
}
