import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const SEPARATOR = '__';

/**
 * Names under which models see the tools of servers: `service__tool`, of the characters that providers accept, 64 at
 * most. What does not fit is shortened and ends in a hash of the whole name. A name once given belongs to its tool as
 * long as the book lives, so that a call is never carried out by another tool that came to the same name later.
 */
export class ToolNames {
  readonly #nameOf = new Map<string, string>();
  readonly #taken = new Set<string>();

  nameOf(service: string, tool: string): string {
    // A separator that no name can hold: "a" + "b__c" and "a__b" + "c" are two tools.
    const key = `${service}\u0000${tool}`;
    const known = this.#nameOf.get(key);
    if (known !== undefined) return known;
    const name = this.#free(`${service}${SEPARATOR}${tool}`, key);
    this.#nameOf.set(key, name);
    this.#taken.add(name);
    return name;
  }

  #free(full: string, key: string): string {
    const clean = full.replace(/[^A-Za-z0-9_-]/gu, '_');
    if (clean.length <= MAX_LENGTH && !this.#taken.has(clean)) return clean;
    for (let round = 0; ; round += 1) {
      const hash = createHash('sha256')
        .update(`${key}${'\u0000'.repeat(round)}`)
        .digest('hex')
        .slice(0, HASH_LENGTH);
      const name = `${clean.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
      if (!this.#taken.has(name)) return name;
    }
  }
}
