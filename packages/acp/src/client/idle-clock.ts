import { startTimer } from '@parley/shell';

/** After this process itself was held up, its timers come before what it has not read yet. */
const LAST_LOOK_MS = 50;

/**
 * Tells when nothing has come for too long. Every message of the child winds it up, which costs no timer; while it is
 * held, no time passes.
 */
export class IdleClock {
  #lastAt = 0;
  #holders = 0;
  #isLastLook = false;
  #stopTimer: () => void = () => undefined;

  constructor(
    private readonly idleMs: number,
    private readonly onIdle: () => void,
  ) {}

  start(): void {
    this.touch();
    this.#arm(this.idleMs);
  }

  touch(): void {
    this.#lastAt = performance.now();
  }

  /** Waits for somebody else than the child. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    this.touch();
  }

  /** For good. */
  stop(): void {
    this.#stopTimer();
  }

  #arm(ms: number): void {
    this.#stopTimer = startTimer(ms, () => this.#look());
  }

  #look(): void {
    if (this.#holders > 0) {
      this.#isLastLook = false;
      this.#arm(this.idleMs);
      return;
    }
    const leftMs = this.#lastAt + this.idleMs - performance.now();
    if (leftMs <= 0 && this.#isLastLook) {
      this.onIdle();
      return;
    }
    this.#isLastLook = leftMs <= 0;
    this.#arm(this.#isLastLook ? LAST_LOOK_MS : leftMs);
  }
}
