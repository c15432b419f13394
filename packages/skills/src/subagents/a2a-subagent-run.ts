import type { Delegate, DelegateResult } from '@parley/agent';
import {
  safeDiagnostic,
  SubagentStartError,
  UpdateChannel,
  type OutputCheck,
  type SubagentRequest,
  type SubagentResult,
  type SubagentRun,
} from '@parley/harness';
import { AppError } from '@parley/service-kit';
import type { A2aErrand } from './a2a-subagent-options.js';
import { partsOfPrompt } from './a2a-prompt.js';
import { textOfResult, valueOfResult } from './a2a-result.js';
import { PartnerUpdates } from './partner-updates.js';
import type { HeldAgreements } from './held-agreements.js';

/** What a value must fit: what the capability promises, and what the request asks for. */
export interface OutputChecks {
  readonly promised: OutputCheck;
  readonly wanted: OutputCheck;
}

export interface A2aSubagentRunParts {
  readonly id: string;
  readonly errand: A2aErrand;
  readonly request: SubagentRequest;
  readonly delegate: Delegate;
  readonly held: HeldAgreements;
  readonly checks: OutputChecks | undefined;
}

/** A piece of work at an agent elsewhere, from finding one to letting it go. */
export class A2aSubagentRun implements SubagentRun {
  readonly id: string;
  readonly updates = new UpdateChannel();
  readonly result: Promise<SubagentResult>;
  /** Resolves once an agent has the work or may have it. Rejects if none has, when no agreement is left. */
  readonly begun: Promise<void>;
  readonly #parts: A2aSubagentRunParts;
  readonly #stop = new AbortController();
  readonly #told: PartnerUpdates;
  readonly #gone: Promise<void>;

  constructor(parts: A2aSubagentRunParts) {
    this.id = parts.id;
    this.#parts = parts;
    const begun = Promise.withResolvers<undefined>();
    this.begun = begun.promise;
    this.#told = new PartnerUpdates((update) => {
      this.updates.push(update);
    });
    const work = this.#work(() => {
      begun.resolve(undefined);
    });
    this.result = work.catch((error: unknown) => this.#failed(error));
    this.#gone = this.result.then(() => parts.held.release());
    void this.#tellStart(work, begun);
  }

  cancel(reason = 'the subagent was cancelled'): void {
    this.#stop.abort(new AppError('cancelled', reason));
  }

  async dispose(): Promise<void> {
    this.cancel();
    await this.#gone;
  }

  async #work(onFirstWord: () => void): Promise<SubagentResult> {
    const { delegate, errand, request } = this.#parts;
    const { signal } = request;
    const onAbort = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const result = await delegate({
        capability: errand.capability,
        parameters: errand.parameters ?? {},
        parts: partsOfPrompt(request.prompt),
        // Parents in this process and agents elsewhere are one chain: it must not become longer than allowed.
        hops: request.parent.depth,
        signal: this.#stop.signal,
        onUpdate: (update) => {
          this.#told.take(update);
          onFirstWord();
        },
      });
      return this.#completed(result);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.updates.end();
    }
  }

  /** A work that failed without anybody having it is no child. */
  async #tellStart(work: Promise<unknown>, begun: PromiseWithResolvers<undefined>): Promise<void> {
    try {
      await work;
      begun.resolve(undefined);
    } catch (error) {
      await this.#gone;
      if (this.#mayHaveBegun(error)) begun.resolve(undefined);
      else begun.reject(this.#startError(error));
    }
  }

  /** Whoever was agreed with may have got the message; only that nobody is left to ask says that none has. */
  #mayHaveBegun(error: unknown): boolean {
    if (this.#told.any) return true;
    return this.#parts.held.isAgreed && AppError.from(error).code !== 'negotiation_failed';
  }

  #startError(error: unknown): SubagentStartError {
    if (this.#stop.signal.aborted) {
      return new SubagentStartError('subagent_cancelled', 'cancelled before it started', { cause: error });
    }
    const { message } = AppError.from(error);
    return new SubagentStartError('subagent_start_failed', safeDiagnostic(message), { cause: error });
  }

  #completed(result: DelegateResult): SubagentResult {
    const { checks } = this.#parts;
    const output = textOfResult(result);
    if (checks === undefined) return { stopReason: 'completed', output };
    const found = valueOfResult(result, checks);
    if ('fault' in found) return { stopReason: 'error', output, diagnostic: safeDiagnostic(found.fault) };
    return { stopReason: 'completed', output: JSON.stringify(found.value), structured: found.value };
  }

  #failed(error: unknown): SubagentResult {
    const { message } = AppError.from(error);
    const stopReason = this.#stop.signal.aborted ? 'aborted' : this.#told.stopReason;
    return { stopReason, output: '', diagnostic: safeDiagnostic(message) };
  }
}
