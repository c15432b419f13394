import type { ControlInput, ControlReceipt } from '../control.js';
import type { ControlStatus } from '../enums.js';

/** The text of a control without the blanks around it. @throws RangeError if nothing is left. */
export function controlText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new RangeError('the text of a control must not be blank');
  return trimmed;
}

/** Guidance for the run that is going on, oldest first. */
export class SteeringQueue {
  #waiting: ControlInput[] = [];
  #closed = false;

  constructor(
    private readonly capacity: number,
    private readonly newId: () => string,
  ) {}

  isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** The oldest one, which stays in the queue until it is {@link removeOldest removed}. */
  get oldest(): ControlInput | undefined {
    return this.#waiting[0];
  }

  offer(content: string): ControlReceipt {
    if (this.#closed) return this.#receipt('run_closing', null);
    if (this.#waiting.length >= this.capacity) return this.#receipt('queue_full', null);
    const inputId = this.newId();
    this.#waiting.push({ inputId, kind: 'steering', content });
    return this.#receipt('accepted', inputId);
  }

  /** Called once the oldest one is part of the history: what fails or is aborted before that is not lost. */
  removeOldest(): void {
    this.#waiting.shift();
  }

  /** Takes nothing more in. */
  close(): void {
    this.#closed = true;
  }

  /** Closes the queue and gives back what was never applied. */
  drain(): readonly ControlInput[] {
    this.close();
    const left = this.#waiting;
    this.#waiting = [];
    return left;
  }

  #receipt(status: ControlStatus, inputId: string | null): ControlReceipt {
    return { status, kind: 'steering', inputId, queueSize: this.#waiting.length };
  }
}
