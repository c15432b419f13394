import { ToolRuntimeError } from './tool-runtime-error.js';

/** How work ended. `abandoned`: it did not end in the time that was left to it after it had been aborted. */
export type WorkEnd<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' };

/** Timers of Node fire at once for more than this. */
const MAX_TIMER_MS = 2_147_483_647;

export interface SupervisionLimits {
  /** How long work may take once it has begun, before it is aborted; undefined: as long as it likes. */
  readonly timeoutMs: number | undefined;
  /** How long aborted work is waited for. */
  readonly graceMs: number;
}

/** Runs one piece of foreign work with a signal of its own, and never waits for it longer than the limits allow. */
export class SupervisedWork {
  readonly #controller = new AbortController();
  #deadline: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #abandon: (() => void) | undefined;
  #begun = false;
  #over = false;
  #timedOut = false;

  constructor(private readonly limits: SupervisionLimits) {}

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True once the work proper has begun, after whatever had to be asked or checked before it. */
  get begun(): boolean {
    return this.#begun;
  }

  /** True if the work's own time was over before anybody else had aborted it. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /**
   * Marks the point from which on the work has effects and its time runs: a human's approval before it may take longer.
   *
   * @throws The abort reason if it has come already, or a ToolRuntimeError if the result has been told without the work:
   * it must then not begin, however late this is.
   */
  begin(): void {
    this.signal.throwIfAborted();
    if (this.#over) throw new ToolRuntimeError('middleware_misuse', 'the call is over, its tool cannot begin any more');
    this.#begun = true;
    this.#startDeadline();
  }

  /** Aborts the work and starts its grace. Only the first time counts. */
  interrupt(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#stopTimer('deadline');
    // The grace begins first: what a listener does at the abort may already end the work.
    if (this.#abandon !== undefined) this.#grace = timer(this.#abandon, this.limits.graceMs);
    this.#controller.abort(reason);
  }

  /** Never rejects; what comes after it has given the work up is swallowed. To be called once. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<WorkEnd<T>> {
    try {
      return await new Promise<WorkEnd<T>>((resolve) => {
        this.#abandon = () => resolve({ kind: 'abandoned' });
        work(this.signal).then(
          (value) => resolve({ kind: 'returned', value }),
          (error: unknown) => resolve({ kind: 'threw', error }),
        );
      });
    } finally {
      this.#over = true;
      this.#abandon = undefined;
      this.#stopTimer('deadline');
      this.#stopTimer('grace');
    }
  }

  #startDeadline(): void {
    const { timeoutMs } = this.limits;
    if (timeoutMs === undefined || timeoutMs === Infinity) return;
    this.#deadline = timer(() => {
      this.#timedOut = true;
      this.interrupt(new ToolRuntimeError('tool_timeout', `tool call timed out after ${timeoutMs} ms`));
    }, timeoutMs);
  }

  #stopTimer(which: 'deadline' | 'grace'): void {
    clearTimeout(which === 'deadline' ? this.#deadline : this.#grace);
  }
}

function timer(action: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(action, Math.min(ms, MAX_TIMER_MS));
}
