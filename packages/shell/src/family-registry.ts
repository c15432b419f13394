import type { ProcessFamily } from './process-family.js';
import { signalFamily } from './signal-family.js';
import { TreeLook, type Members } from './tree-look.js';

/** So often the tree is looked at when this process exits: some may be born between a look and its signals. */
const LAST_LOOKS = 3;

/** Those who only want to remember may take one part in so many of the time: looks cost more where many processes are. */
const SHARE_OF_TIME = 20;

const SHORTEST_PAUSE_MS = 20;

/** The families that must not outlive this process. Its own end is the last moment to do something about them. */
class FamilyRegistry {
  readonly #families = new Set<ProcessFamily>();
  readonly #byLeader = new Map<number, ProcessFamily>();
  readonly #byId = new Map<string, ProcessFamily>();
  readonly #look = new TreeLook({ families: this.#families, byLeader: this.#byLeader, byId: this.#byId });
  #nextMemoryAt = -Infinity;

  readonly #killAll = () => {
    for (let looks = 0; looks < LAST_LOOKS; looks += 1) {
      for (const [family, members] of this.look()) signalFamily(family, members, 'SIGKILL');
    }
  };

  add(family: ProcessFamily): void {
    // One listener for all of them, and none while nothing runs.
    if (this.#families.size === 0) process.on('exit', this.#killAll);
    this.#families.add(family);
    this.#byId.set(family.id, family);
    // Takes the place of an older family whose leader's pid was given out again: that one's group is empty then.
    this.#byLeader.set(family.leader, family);
  }

  delete(family: ProcessFamily): void {
    if (!this.#families.delete(family)) return;
    this.#byId.delete(family.id);
    if (this.#byLeader.get(family.leader) === family) this.#byLeader.delete(family.leader);
    if (this.#families.size > 0) return;
    this.#look.forget();
    process.off('exit', this.#killAll);
  }

  /** Who lives of all families: one walk through the processes, however many families there are. */
  look(): Members {
    const begun = performance.now();
    const members = this.#look.members();
    const now = performance.now();
    this.#nextMemoryAt = now + Math.max(SHORTEST_PAUSE_MS, SHARE_OF_TIME * (now - begun));
    return members;
  }

  /** True if the last look may have missed somebody. */
  get isUncertain(): boolean {
    return this.#look.isUncertain;
  }

  /** Looks, so that who is found now is known later, when nothing else tells any more that it belongs. */
  remember(): void {
    if (performance.now() >= this.#nextMemoryAt) this.look();
  }
}

export const familyRegistry = new FamilyRegistry();
