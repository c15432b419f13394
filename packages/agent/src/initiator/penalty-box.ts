export interface PenaltyBoxOptions {
  readonly now: () => number;
  /** How long a silent peer is asked last. Default 60,000. */
  readonly penaltyMs?: number;
  /** Default 1,000; the oldest is forgotten first. */
  readonly maxEntries?: number;
}

/** Remembers for a while who was silent or broken: such peers are asked last, and never left out. */
export class PenaltyBox {
  readonly #until = new Map<string, number>();
  readonly #now: () => number;
  readonly #penaltyMs: number;
  readonly #max: number;

  constructor(options: PenaltyBoxOptions) {
    this.#now = options.now;
    this.#penaltyMs = options.penaltyMs ?? 60_000;
    this.#max = options.maxEntries ?? 1_000;
  }

  /** @param ms Default: the whole penalty; never more. */
  add(agentId: string, ms = this.#penaltyMs): void {
    this.#until.delete(agentId);
    this.#until.set(agentId, this.#now() + Math.min(ms, this.#penaltyMs));
    const [oldest] = this.#until.keys();
    if (this.#until.size > this.#max && oldest !== undefined) this.#until.delete(oldest);
  }

  forgive(agentId: string): void {
    this.#until.delete(agentId);
  }

  has(agentId: string): boolean {
    const until = this.#until.get(agentId);
    if (until === undefined) return false;
    if (until > this.#now()) return true;
    this.#until.delete(agentId);
    return false;
  }

  /** Those in the box move to the end; otherwise the order stays. */
  order<T extends { readonly agentId: string }>(candidates: readonly T[]): T[] {
    const waiting = candidates.filter(({ agentId }) => this.has(agentId));
    return [...candidates.filter((candidate) => !waiting.includes(candidate)), ...waiting];
  }
}
