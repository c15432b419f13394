import type { ToolProgressReporter } from '../tools/tool-progress.js';
import { untilAborted } from '../tools/until-aborted.js';
import type { SubagentResult, SubagentRun, SubagentUpdate } from './subagent-types.js';

export interface SupervisorOptions {
  readonly timeoutMs: number;
  readonly cancelGraceMs: number;
  readonly maxConcurrent: number;
}

export interface SupervisedCall {
  readonly start: (signal: AbortSignal) => Promise<SubagentRun>;
  readonly label: string;
  readonly signal: AbortSignal;
  readonly progress: ToolProgressReporter;
}

/** How a call ended. */
export type ChildEnd =
  | { readonly kind: 'not_started'; readonly error: unknown }
  | { readonly kind: 'ended'; readonly result: SubagentResult; readonly timedOut: boolean }
  /** Cancelled, and there was no result in time. `started` is false if even the start was still going on. */
  | { readonly kind: 'no_result'; readonly reason: string; readonly started: boolean };

/** Runs children for calls of a tool, and never waits for one longer than the limits allow. */
export class CallSupervisor {
  readonly #active = new Map<AbortController, Promise<ChildEnd>>();

  constructor(private readonly options: SupervisorOptions) {}

  /** Never rejects. */
  async run(call: SupervisedCall): Promise<ChildEnd> {
    if (this.#active.size >= this.options.maxConcurrent) {
      return { kind: 'not_started', error: new Error(`${this.options.maxConcurrent} subagents are at work already`) };
    }
    const controller = new AbortController();
    const running = this.#supervise(call, controller);
    this.#active.set(controller, running);
    try {
      return await running;
    } finally {
      this.#active.delete(controller);
    }
  }

  /** Cancels all and waits until they are gone. */
  async stop(): Promise<void> {
    const running = [...this.#active.values()];
    for (const controller of this.#active.keys()) controller.abort(new Error('the agent is shutting down'));
    await Promise.all(running);
  }

  async #supervise(call: SupervisedCall, controller: AbortController): Promise<ChildEnd> {
    let timedOut = false;
    const onAbort = (): void => controller.abort(call.signal.reason);
    call.signal.addEventListener('abort', onAbort, { once: true });
    if (call.signal.aborted) onAbort();
    const timer = setTimeout(() => {
      timedOut = true;
      controller.abort(new Error('the subagent took too long'));
    }, this.options.timeoutMs);
    try {
      const run = await this.#start(call, controller.signal);
      if ('kind' in run) return run;
      return await this.#finish(run, call, controller.signal, () => timedOut);
    } finally {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', onAbort);
    }
  }

  async #start(call: SupervisedCall, signal: AbortSignal): Promise<SubagentRun | ChildEnd> {
    const starting = call.start(signal);
    try {
      return await this.#withGrace(starting, signal);
    } catch (error) {
      if (!(error instanceof GraceOverError)) return { kind: 'not_started', error };
      // Whenever it comes, nobody wants it any more.
      starting.then((late) => late.dispose()).catch(() => undefined);
      return { kind: 'no_result', reason: 'the subagent did not start in time', started: false };
    }
  }

  async #finish(
    run: SubagentRun,
    call: SupervisedCall,
    signal: AbortSignal,
    timedOut: () => boolean,
  ): Promise<ChildEnd> {
    const iterator = run.updates[Symbol.asyncIterator]();
    void tell(iterator, call).catch(() => undefined);
    try {
      const result = await this.#withGrace(run.result, signal);
      return { kind: 'ended', result, timedOut: timedOut() };
    } catch {
      return { kind: 'no_result', reason: 'the subagent did not stop', started: true };
    } finally {
      iterator.return?.().catch(() => undefined);
      await atMost(run.dispose(), this.options.cancelGraceMs).catch(() => undefined);
    }
  }

  /** @throws GraceOverError if the work goes on that long after the abort. */
  async #withGrace<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await untilAborted(work, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return atMost(work, this.options.cancelGraceMs);
  }
}

class GraceOverError extends Error {
  override readonly name = 'GraceOverError';
}

/** @throws GraceOverError if the work takes longer. */
async function atMost<T>(work: Promise<T>, ms: number): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(new GraceOverError()), ms);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function tell(iterator: AsyncIterator<SubagentUpdate>, call: SupervisedCall): Promise<void> {
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    const message = describe(next.value);
    if (message !== undefined) await call.progress.report({ message: `${call.label}: ${message}` });
  }
}

function describe(update: SubagentUpdate): string | undefined {
  if (update.kind === 'turn_started') return `turn ${update.turn}`;
  if (update.kind === 'tool_started') return update.tool;
  return update.kind === 'tool_completed' && update.failed ? `${update.tool} failed` : undefined;
}
