import { startTimer } from '@parley/shell';
import { IdleClock } from './idle-clock.js';
import type { Turn } from './turn-gate.js';

/** What ends a turn: the child's answer, the loss of the child, a cancel, or a time that is over. */
export type TurnStop =
  | { readonly kind: 'answered' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'late'; readonly diagnostic: string };

export interface PromptTurnOptions {
  readonly sessionId: string;
  readonly idleMs: number;
  readonly promptMs: number;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly onUpdate: (update: unknown) => void;
}

/**
 * A prompt from when it leaves until the first thing that ends it; what comes later does not change that. Text is still
 * taken until the answer: a child that was cancelled has its last words.
 */
export class PromptTurn implements Turn {
  readonly sessionId: string;
  readonly #sent = Promise.withResolvers<undefined>();
  readonly #stop = Promise.withResolvers<TurnStop>();
  readonly #onAbort = (): void => this.#end({ kind: 'cancelled' });
  #isOver = false;
  /** Somebody may be waited for before it starts. */
  readonly #idle: IdleClock;
  #stopTimer: () => void = () => undefined;

  constructor(private readonly options: PromptTurnOptions) {
    const { sessionId, idleMs } = options;
    this.sessionId = sessionId;
    this.#idle = new IdleClock(idleMs, () => this.#late(`the child sent nothing for ${idleMs} ms`));
    this.#sent.promise.catch(() => undefined);
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  /** Rejects with why the prompt could not be sent. */
  get sent(): Promise<undefined> {
    return this.#sent.promise;
  }

  /** Never rejects. */
  get stopped(): Promise<TurnStop> {
    return this.#stop.promise;
  }

  onSent(): void {
    this.#sent.resolve(undefined);
    if (this.#isOver) return;
    const { promptMs } = this.options;
    this.#idle.start();
    this.#stopTimer = startTimer(promptMs, () => this.#late(`the child did not finish within ${promptMs} ms`));
  }

  onTraffic(): void {
    this.#idle.touch();
  }

  onUpdate(update: unknown): void {
    this.options.onUpdate(update);
  }

  onAnswered(): void {
    // An answer can be read before it is known that the last byte of the prompt was written.
    this.#sent.resolve(undefined);
    this.#end({ kind: 'answered' });
  }

  /** No answer will come. */
  lost(error: unknown): void {
    this.#sent.reject(error);
    this.#end({ kind: 'lost' });
  }

  /** Somebody else than the child is waited for, or no longer. */
  wait(isWaiting: boolean): void {
    if (isWaiting) this.#idle.hold();
    else this.#idle.release();
  }

  /** Leaves no timer and no listener. Idempotent. */
  close(): void {
    this.#isOver = true;
    this.#idle.stop();
    this.#stopTimer();
    this.options.signal.removeEventListener('abort', this.#onAbort);
  }

  #late(diagnostic: string): void {
    this.#end({ kind: 'late', diagnostic });
  }

  #end(stop: TurnStop): void {
    if (this.#isOver) return;
    this.close();
    this.#stop.resolve(stop);
  }
}
