import type { ToolCaller, TurnTools } from '../actions/action-types.js';
import type { Refusal } from '../domain/facts.js';
import { Refusal as RefusalError } from '../domain/facts.js';
import type { TurnState } from '../domain/turn-state.js';
import type { ActionRun } from './action-run.js';
import { Gate } from './gate.js';
import { Waiters } from './waiters.js';

/** What a task needs while it lives, from the arrival of its message to its end; its facts are in the state. */
export class TurnRun {
  readonly gate = new Gate();
  readonly actions = new Map<string, ActionRun>();
  /** Senders that wait for the end. */
  readonly senders = new Waiters();
  /** Those who wait for its turn to open. */
  readonly opening = new Waiters();
  /** By name, whether a tool is the proxy's own shell; once they were listed. */
  offered: ReadonlyMap<string, boolean> | undefined;
  /** Of a record that could not be written down, for the next one: if it is on disk all the same, the next replaces it. */
  unusedSpanId: string | undefined;
  #isOver = false;
  #tools: TurnTools | undefined;
  readonly #inFlight = new Set<(why: Refusal) => void>();

  constructor(
    readonly taskId: string,
    readonly contextId: string,
    private readonly caller: ToolCaller,
    private readonly hasShell: boolean,
  ) {}

  /** True once its end is decided: actions are stopped, ids are free again. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The sessions of its servers; none is made before the first use. */
  toolsOf(state: TurnState): TurnTools {
    this.#tools ??= this.caller.openTurn(state.opened?.servers ?? [], { hasShell: this.hasShell });
    return this.#tools;
  }

  /** Work that ends with the caller's connection or with the turn, even if it does not listen to its signal. */
  async within<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    // Also rejected when the work does not even begin: then nobody else listens.
    stopped.catch(() => undefined);
    const stop = (why: Refusal): void => {
      controller.abort();
      reject(why);
    };
    const leave = (): void => stop(new RefusalError(503, 'the caller has gone'));
    this.#inFlight.add(stop);
    signal.addEventListener('abort', leave);
    try {
      if (signal.aborted) leave();
      return await Promise.race([stopped, work(controller.signal)]);
    } finally {
      this.#inFlight.delete(stop);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Ends what waits for its servers. */
  stopCalls(why: Refusal): void {
    for (const stop of this.#inFlight) stop(why);
  }

  /** Its end is decided: from here on its actions are nobody's. */
  over(why: Refusal): void {
    this.#isOver = true;
    this.stopCalls(why);
    for (const run of this.actions.values()) run.wake();
  }

  async closeTools(): Promise<void> {
    await this.#tools?.close();
  }
}
