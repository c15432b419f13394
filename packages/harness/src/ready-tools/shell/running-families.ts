import type { ProcessFamily } from './process-family.js';

/** Families that must not outlive this process. Its own end is the last moment to do something about them. */
class RunningFamilies {
  readonly #families = new Set<ProcessFamily>();
  readonly #killAll = () => {
    for (const family of this.#families) family.signal(family.members(), 'SIGKILL');
  };

  add(family: ProcessFamily): void {
    // One listener for all of them, and none while nothing runs.
    if (this.#families.size === 0) process.on('exit', this.#killAll);
    this.#families.add(family);
  }

  delete(family: ProcessFamily): void {
    this.#families.delete(family);
    if (this.#families.size === 0) process.off('exit', this.#killAll);
  }
}

export const runningFamilies = new RunningFamilies();
