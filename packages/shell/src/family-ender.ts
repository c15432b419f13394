import { setTimeout as delay } from 'node:timers/promises';
import { familyRegistry } from './family-registry.js';
import type { ProcessFamily } from './process-family.js';
import type { ProcessEntry } from './process-table.js';
import { signalFamily } from './signal-family.js';

/** How long killed processes are waited for by default: one that hangs in the kernel ends later, or never. */
const KILL_WAIT_MS = 3_000;

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;

export interface FamilyEnd {
  /** How many lived when it began. */
  readonly found: number;
  /** How many could not be ended. */
  readonly left: number;
}

interface Ending {
  readonly promise: Promise<FamilyEnd>;
  readonly resolve: (end: FamilyEnd) => void;
  /** Undefined until they were asked to end. */
  found: number | undefined;
  /** Of the last look. */
  members: readonly ProcessEntry[];
  killAt: number;
  giveUpAt: number;
}

/** Ends families. All that are being ended share their looks at the tree: a turn's commands cost one, not one each. */
class FamilyEnder {
  readonly #endings = new Map<ProcessFamily, Ending>();
  #running = false;
  #pauseMs = FIRST_PAUSE_MS;
  #wake: AbortController | undefined;

  /**
   * Asks a family to end (SIGTERM), and ends it (SIGKILL) when the grace is over. Resolves when nobody is left or it is
   * given up. Asked again, it shortens the time.
   */
  end(family: ProcessFamily, graceMs: number, killWaitMs = KILL_WAIT_MS): Promise<FamilyEnd> {
    const killAt = performance.now() + graceMs;
    const giveUpAt = killAt + killWaitMs;
    const known = this.#endings.get(family);
    if (known !== undefined) {
      known.killAt = Math.min(known.killAt, killAt);
      known.giveUpAt = Math.min(known.giveUpAt, giveUpAt);
      this.#hurry();
      return known.promise;
    }
    family.ending = true;
    const { promise, resolve } = Promise.withResolvers<FamilyEnd>();
    this.#endings.set(family, { promise, resolve, found: undefined, members: [], killAt, giveUpAt });
    this.#hurry();
    if (!this.#running) void this.#run();
    return promise;
  }

  #hurry(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#wake?.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Those who are ended together come in together.
    await Promise.resolve();
    while (this.#endings.size > 0) {
      this.#killAtOnce();
      const members = familyRegistry.look();
      const now = performance.now();
      for (const [family, ending] of this.#endings) this.#step(family, ending, members.get(family) ?? [], now);
      if (this.#endings.size > 0) await this.#pause();
    }
    this.#running = false;
  }

  /** A tree that grows fast grows while it is looked at. */
  #killAtOnce(): void {
    const now = performance.now();
    for (const [family, { members, killAt }] of this.#endings) {
      if (now >= killAt && members.length > 0) signalFamily(family, members, 'SIGKILL');
    }
  }

  #step(family: ProcessFamily, ending: Ending, members: readonly ProcessEntry[], now: number): void {
    const isFirstLook = ending.found === undefined;
    ending.found ??= members.length;
    ending.members = members;
    if ((members.length === 0 && !familyRegistry.isUncertain) || now >= ending.giveUpAt) {
      this.#endings.delete(family);
      familyRegistry.delete(family);
      ending.resolve({ found: ending.found, left: members.length });
      return;
    }
    // Again each time: some may have been born between the look and the signal.
    if (now >= ending.killAt) signalFamily(family, members, 'SIGKILL');
    else if (isFirstLook) askToEnd(family, members);
  }

  async #pause(): Promise<void> {
    const now = performance.now();
    const next = Math.min(
      ...[...this.#endings.values()].map(({ killAt, giveUpAt }) => (killAt > now ? killAt : giveUpAt)),
    );
    this.#wake = new AbortController();
    const ms = Math.max(1, Math.min(this.#pauseMs, next - now));
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    await delay(ms, undefined, { signal: this.#wake.signal }).catch(() => undefined);
  }
}

function askToEnd(family: ProcessFamily, members: readonly ProcessEntry[]): void {
  signalFamily(family, members, 'SIGTERM');
  // One that is stopped gets the first signal only when it goes on.
  signalFamily(family, members, 'SIGCONT');
}

export const familyEnder = new FamilyEnder();
