import {
  ProxyError,
  ProxyFailed,
  ProxyRefused,
  ProxyUnauthorized,
  ProxyUnreachable,
  TurnGone,
} from '../client/client-errors.js';
import type { ProxyClient } from '../client/proxy-client.js';
import { pause } from '../client/proxy-http.js';
import type {
  ActionOutput,
  ActionState,
  ProxyAction,
  ProxyActionResult,
  ProxyTool,
  ProxyTurn,
  RecordedCall,
  TrajectoryPage,
} from '../client/wire-types.js';
import type { JsonObject } from '../json/index.js';
import type { TurnOutcome } from './driver-types.js';
import { type Patience, patiently } from './patient.js';

/** Output is asked for no oftener. */
const OUTPUT_PACE_MS = 250;

export interface PlayedTurnOptions extends Patience {
  readonly client: ProxyClient;
  readonly newId: () => string;
  /** True if somebody may have played a part of it already. */
  readonly wasOpenBefore: boolean;
  /** False: a proxy that does not know the token any more still has the turn, for another driver. */
  readonly reclaims: boolean;
  /** What is known about the proxy, shared by all its turns. */
  readonly abilities: { tellsOutput: boolean };
}

export interface ActOptions {
  /** Default a new one. */
  readonly actionId?: string;
  readonly signal?: AbortSignal;
  /** Told each time that the proxy says that it still runs; with what it has written meanwhile, if the proxy tells. */
  readonly onRunning?: (progress: { readonly output: ActionOutput | undefined }) => void;
}

/**
 * A turn in the hands of its player. Every call waits for a proxy that is away, as during a restart, and throws TurnGone
 * once the turn is over or forgotten.
 */
export class PlayedTurn {
  readonly #options: PlayedTurnOptions;
  readonly #abort = new AbortController();
  #isReplying = false;
  #outcome: TurnOutcome | undefined;
  /** Undefined: not known. */
  #recordCount: number | undefined;

  constructor(
    readonly turn: ProxyTurn,
    options: PlayedTurnOptions,
  ) {
    this.#options = options;
    this.#recordCount = options.wasOpenBefore ? undefined : 0;
  }

  /** Aborted when the turn is over or the player has to stop; the reason says which. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Undefined as long as it is open. */
  get outcome(): TurnOutcome | undefined {
    return this.#outcome;
  }

  get wasOpenBefore(): boolean {
    return this.#options.wasOpenBefore;
  }

  async tools(): Promise<readonly ProxyTool[]> {
    return this.#call(() => this.#client.tools(this.turn.taskId, this.#signalled()));
  }

  /**
   * Puts a model call on record; to be done before the calls in it are run. Waits for a proxy that is away, and finds
   * out whether it has the record before it is made again.
   *
   * @throws ProxyRefused for a message that cannot be read.
   */
  async record(call: RecordedCall): Promise<void> {
    let isInDoubt = false;
    await this.#call(async () => {
      if (isInDoubt && (await this.#hasRecord())) return;
      try {
        await this.#client.record(this.turn.taskId, call, this.#signalled());
      } catch (error) {
        if (error instanceof ProxyUnreachable && error.wasPerhapsSent) isInDoubt = true;
        throw error;
      }
    });
    if (this.#recordCount !== undefined) this.#recordCount += 1;
  }

  /** Runs an action to its end. */
  async act(action: ProxyAction, options: ActOptions = {}): Promise<ProxyActionResult> {
    const actionId = options.actionId ?? this.#options.newId();
    const signalled = this.#signalled(options.signal);
    const state = await this.#call(() => this.#client.act(this.turn.taskId, actionId, action, signalled));
    return this.#follow(actionId, state, options);
  }

  /** Waits for the end of an action that was started before. */
  async result(actionId: string, options: Omit<ActOptions, 'actionId'> = {}): Promise<ProxyActionResult> {
    const signalled = this.#signalled(options.signal);
    const state = await this.#call(() => this.#client.result(actionId, signalled));
    return this.#follow(actionId, state, options);
  }

  /** What is on record of it so far. @throws ProxyFailed 401 where that is only for who has the proxy's control token. */
  async events(): Promise<readonly JsonObject[]> {
    const events: JsonObject[] = [];
    for (let isMore = true; isMore;) {
      const page = await this.#call(() => this.#pageFrom(events.length));
      events.push(...page.events);
      isMore = page.hasMore && page.events.length > 0;
    }
    this.#recordCount = events.filter(isChat).length;
    return events;
  }

  /** Answers it. @returns false if it is over already. @throws ProxyRefused 409 while recorded calls have not run. */
  async reply(text: string): Promise<boolean> {
    return this.#end({ text }, { how: 'answered' });
  }

  /** Ends it with an error. @returns false if it is over already. */
  async fail(error: string): Promise<boolean> {
    return this.#end({ error }, { how: 'failed', error });
  }

  /** It is not among the open ones any more. For whoever looks after it, not for its player. */
  vanish(reason: TurnGone): void {
    // An answer under way finds out by itself whether it is what ended the turn.
    if (this.#isReplying || this.#outcome !== undefined) return;
    this.#outcome = { how: 'gone', reason: reason.message };
    this.#abort.abort(reason);
  }

  /** Stops its player. For whoever looks after it. */
  stop(reason: Error): void {
    this.#abort.abort(reason);
  }

  get #client(): ProxyClient {
    return this.#options.client;
  }

  get #subject(): { readonly taskId: string } {
    return { taskId: this.turn.taskId };
  }

  #signalled(signal?: AbortSignal): { readonly signal: AbortSignal } {
    return { signal: signal === undefined ? this.signal : AbortSignal.any([this.signal, signal]) };
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await patiently(call, this.signal, this.#options);
    } catch (error) {
      if (error instanceof ProxyUnauthorized) {
        if (!this.#options.reclaims) {
          this.stop(error);
          throw error;
        }
        const gone = new TurnGone('the proxy has forgotten the turn', { cause: error });
        this.vanish(gone);
        throw gone;
      }
      if (error instanceof TurnGone) this.vanish(error);
      throw error;
    }
  }

  async #follow(
    actionId: string,
    first: ActionState,
    options: Omit<ActOptions, 'actionId'>,
  ): Promise<ProxyActionResult> {
    let state = first;
    for (let after = 0; !state.done;) {
      const { output } = state;
      after = output?.next ?? after;
      options.onRunning?.({ output });
      const askedAt = performance.now();
      state = await this.#call(() => this.#askResult(actionId, after, options));
      if (!state.done && performance.now() - askedAt < OUTPUT_PACE_MS) await pause(OUTPUT_PACE_MS, this.signal);
    }
    return state.result;
  }

  async #askResult(actionId: string, after: number, options: Omit<ActOptions, 'actionId'>): Promise<ActionState> {
    const signalled = this.#signalled(options.signal);
    const { abilities } = this.#options;
    if (options.onRunning === undefined || !abilities.tellsOutput) return this.#client.result(actionId, signalled);
    try {
      return await this.#client.result(actionId, { ...signalled, after });
    } catch (error) {
      if (!(error instanceof ProxyRefused) || error.status !== 400) throw error;
      abilities.tellsOutput = false;
      return this.#client.result(actionId, signalled);
    }
  }

  /** Whether a record whose answer was lost has arrived: then there is one more than those that were answered. */
  async #hasRecord(): Promise<boolean> {
    const before = this.#recordCount;
    if (before === undefined)
      throw new ProxyError('record_in_doubt', 'nobody knows whether the model call is on record');
    try {
      return (await this.events()).filter(isChat).length > before;
    } catch (error) {
      // A proxy has no page for a turn that it does not know any more; what is asked for next says so.
      if (!(error instanceof ProxyFailed) || error.status !== 404) throw error;
      return false;
    } finally {
      this.#recordCount = before;
    }
  }

  async #pageFrom(after: number): Promise<TrajectoryPage> {
    try {
      return await this.#client.trajectoryPage(this.#subject, after, this.#signalled());
    } catch (error) {
      // Another token than the driver's is asked for here: it says nothing about the claim.
      if (error instanceof ProxyUnauthorized) throw new ProxyFailed(401, error.message);
      throw error;
    }
  }

  async #end(answer: { text: string } | { error: string }, outcome: TurnOutcome): Promise<boolean> {
    this.#isReplying = true;
    try {
      await this.#call(() => this.#client.reply(this.turn.taskId, answer, this.#signalled()));
      this.#outcome = outcome;
      return true;
    } catch (error) {
      if (!(error instanceof TurnGone)) throw error;
      this.#outcome = { how: 'gone', reason: error.message };
      return false;
    } finally {
      this.#isReplying = false;
    }
  }
}

function isChat(event: JsonObject): boolean {
  return event['name'] === 'chat';
}
