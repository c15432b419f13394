import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/** Groups to end if this process ends without having stopped them. */
const live = new Set<ProcessGroup>();

function killAll(): void {
  for (const group of live) group.signal('SIGKILL');
}

/** A child started `detached`, with everything that it started and that did not leave its group. */
export class ProcessGroup {
  readonly #leaderPid: number;

  constructor(leaderPid: number) {
    this.#leaderPid = leaderPid;
    if (live.size === 0) process.on('exit', killAll);
    live.add(this);
  }

  /** False if nobody was there to receive it. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (!live.has(this)) return false;
    try {
      process.kill(-this.#leaderPid, signal);
      return true;
    } catch (error) {
      // EPERM: members run as somebody else, and so are still there.
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  }

  /** True if nothing of the group is left after that time, in milliseconds. */
  async gone(withinMs: number): Promise<boolean> {
    const end = performance.now() + withinMs;
    while (this.signal(0)) {
      if (performance.now() >= end) return false;
      await delay(POLL_MS);
    }
    this.#forget();
    return true;
  }

  /** SIGTERM, a grace in milliseconds, SIGKILL. Never rejects. */
  async end(graceMs: number, killWaitMs: number): Promise<void> {
    if (!this.signal('SIGTERM') || (await this.gone(graceMs))) {
      this.#forget();
      return;
    }
    this.signal('SIGKILL');
    // A member that nobody reaps stays a zombie and counts as there; it holds nothing, so the wait is short.
    await this.gone(killWaitMs);
    this.#forget();
  }

  /** The number may be given to another process from now on: it is never signalled again. */
  #forget(): void {
    if (live.delete(this) && live.size === 0) process.off('exit', killAll);
  }
}
