import { stopping, tooManyTasks } from './turn-failures.js';

/** How many executors are at work; an executor that does not stop when it is told to counts until it does. */
export class RunningCount {
  readonly #max: number;
  #count = 0;
  #isClosed = false;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** @throws AppError `unavailable`, code `stopping` or `too_many_tasks`; both may be tried again. */
  enter(): void {
    if (this.#isClosed) throw stopping();
    if (this.#count >= this.#max) throw tooManyTasks();
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
  }
}
