import { HarnessError, messageOf } from '../errors.js';

const DEFAULT_REASON = 'the run was aborted';

/** The reason of every signal that a run hands out, once the run is aborted. The message says who or what did it. */
export class AgentCancelledError extends HarnessError {
  override readonly name = 'AgentCancelledError';

  constructor(reason: string = DEFAULT_REASON) {
    super('agent_cancelled', reason);
  }
}

/**
 * What can abort one operation: `abort` and the caller's own signal take the same path. Call `dispose` at the end,
 * because a caller's signal may outlive thousands of runs.
 */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onCallerAbort = (): void => {
    this.abort(textOfReason(this.#callerSignal?.reason));
  };
  #sealed = false;

  constructor(callerSignal?: AbortSignal) {
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted === true) this.#onCallerAbort();
    else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Its reason is always an {@link AgentCancelledError}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True the first time; false if it was aborted before, or nothing is left to abort. */
  abort(reason?: string): boolean {
    if (this.#sealed || this.signal.aborted) return false;
    this.#controller.abort(new AgentCancelledError(reason === '' ? undefined : reason));
    return true;
  }

  /** How the operation ends is decided: from now on `abort` changes nothing. */
  seal(): void {
    this.#sealed = true;
  }

  dispose(): void {
    this.seal();
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }
}

/** What a run says when it was aborted with this signal. */
export function cancellationText(signal: AbortSignal): string {
  return textOfReason(signal.reason) ?? DEFAULT_REASON;
}

function textOfReason(reason: unknown): string | undefined {
  // `abort()` without a reason makes a DOMException whose text tells nobody anything.
  if (reason === undefined || (reason instanceof DOMException && reason.name === 'AbortError')) return undefined;
  return messageOf(reason);
}
