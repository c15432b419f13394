import { randomBytes } from 'node:crypto';
import { isPassing, ProxyUnauthorized, TurnGone } from '../client/client-errors.js';
import { pause } from '../client/proxy-http.js';
import type { ProxyTurn, ProxyTurns } from '../client/wire-types.js';
import { backoffMs } from './backoff.js';
import type { DriveEvent, DriveOptions, DriveOutcome, TurnOutcome } from './driver-types.js';
import { PlayedTurn } from './played-turn.js';

const MAX_CONCURRENT_TURNS = 8;
const PATIENCE_MS = 5 * 60_000;
const TURN_MS = 12 * 3_600_000;
const GRACE_MS = 5_000;
/** An answer without news that comes sooner is no long poll. */
const SOON_MS = 50;

/**
 * Plays a proxy: claims it, sees its turns as they open, and gives each to `play`. A turn that is over before its player
 * is done aborts that player. A proxy that is away is waited for; one that has forgotten its claim is claimed again.
 * Turns that were open before are played too.
 *
 * @returns when `maxTurns` were played, or everything was drained or stopped.
 * @throws ProxyRefused 409 if the proxy is another's; ProxyUnauthorized without `reclaims`; what `next` throws if it is no passing failure, or lasts.
 */
export async function drive(options: DriveOptions): Promise<DriveOutcome> {
  return new Driving(options).run();
}

class Driving {
  readonly #options: DriveOptions;
  readonly #random: () => number;
  readonly #patienceMs: number;
  readonly #abilities = { tellsOutput: true };
  /** In play, by task. */
  readonly #playing = new Map<string, { readonly played: PlayedTurn; readonly work: Promise<void> }>();
  /** Played to their end; a list made before may still name them. */
  readonly #ended = new Set<string>();
  readonly #left: string[] = [];
  /** Open ones for which nobody has a hand free. */
  #waiting: readonly ProxyTurn[] = [];
  #asking = new AbortController();
  #after = 0;
  /** Those of the first answer: somebody may have played a part of them. */
  #openBefore: ReadonlySet<string> | undefined;
  #isClaimed = false;
  #failures = 0;
  #awaySince: number | undefined;
  #taken = 0;

  constructor(options: DriveOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  async run(): Promise<DriveOutcome> {
    const { signal, drain } = this.#options;
    const onStop = (): void => this.#stopAsking();
    for (const one of [signal, drain]) one?.addEventListener('abort', onStop);
    try {
      while (!this.#isDone) await this.#whilePassing(() => (this.#isClaimed ? this.#ask() : this.#claim(false)));
    } finally {
      for (const one of [signal, drain]) one?.removeEventListener('abort', onStop);
      await this.#stopPlayers();
    }
    return { turns: this.#taken, left: this.#left };
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  get #reclaims(): boolean {
    return this.#options.reclaims !== false;
  }

  get #takesMore(): boolean {
    const { drain, maxTurns = Number.POSITIVE_INFINITY } = this.#options;
    return !this.#isStopped && drain?.aborted !== true && this.#taken < maxTurns;
  }

  get #isDone(): boolean {
    return this.#isStopped || (!this.#takesMore && this.#playing.size === 0);
  }

  /** Ends a wait for news, so that it is looked at whether any is still needed. */
  #stopAsking(): void {
    this.#asking.abort();
    this.#asking = new AbortController();
  }

  async #claim(isAgain: boolean): Promise<void> {
    await this.#options.client.claim({ signal: this.#asking.signal });
    this.#isClaimed = true;
    this.#tell({ kind: 'claimed', isAgain });
  }

  async #ask(): Promise<void> {
    const askedAt = performance.now();
    const before = this.#after;
    let answer: ProxyTurns;
    try {
      answer = await this.#options.client.next(before, { signal: this.#asking.signal });
    } catch (error) {
      if (!(error instanceof ProxyUnauthorized) || !this.#reclaims) throw error;
      // It was restarted and kept nothing: its turns are gone too, and it counts from the beginning.
      this.#after = 0;
      await this.#claim(true);
      // A proxy that claims and then knows nothing of it is not asked in a circle.
      throw error;
    }
    this.#heard();
    this.#see(answer);
    const isNews = answer.version !== before;
    if (!isNews && performance.now() - askedAt < SOON_MS) await pause(backoffMs(3, this.#random), this.#asking.signal);
  }

  /** One try; a failure that passes is waited out for a while. */
  async #whilePassing(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#asking;
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      const passes = error instanceof ProxyUnauthorized ? this.#reclaims : isPassing(error);
      if (!passes) throw error;
      this.#failures += 1;
      this.#awaySince ??= performance.now();
      if (performance.now() - this.#awaySince > this.#patienceMs) throw error;
      if (this.#failures === 1 && error instanceof Error && !(error instanceof ProxyUnauthorized)) {
        this.#tell({ kind: 'away', error });
      }
      await pause(backoffMs(this.#failures, this.#random), signal).catch(() => undefined);
    }
  }

  #heard(): void {
    if (this.#failures > 0) this.#tell({ kind: 'back' });
    this.#failures = 0;
    this.#awaySince = undefined;
  }

  #see({ version, turns }: ProxyTurns): void {
    this.#after = version;
    const open = new Set(turns.map(({ taskId }) => taskId));
    for (const [taskId, { played }] of this.#playing) {
      if (!open.has(taskId)) played.vanish(new TurnGone('the turn is over'));
    }
    for (const taskId of this.#ended) if (!open.has(taskId)) this.#ended.delete(taskId);
    this.#waiting = turns.filter(({ taskId }) => !this.#playing.has(taskId) && !this.#ended.has(taskId));
    this.#openBefore ??= open;
    this.#startWaiting();
  }

  #startWaiting(): void {
    const { maxConcurrentTurns = MAX_CONCURRENT_TURNS } = this.#options;
    while (this.#takesMore && this.#playing.size < maxConcurrentTurns) {
      const [turn, ...rest] = this.#waiting;
      if (turn === undefined) return;
      this.#waiting = rest;
      this.#start(turn);
    }
  }

  #start(turn: ProxyTurn): void {
    const { client, newId = randomId } = this.#options;
    const played = new PlayedTurn(turn, {
      client,
      newId,
      wasOpenBefore: this.#openBefore?.has(turn.taskId) === true,
      abilities: this.#abilities,
      reclaims: this.#reclaims,
      patienceMs: this.#patienceMs,
      random: this.#random,
    });
    this.#taken += 1;
    this.#tell({ kind: 'turn_started', turn: played });
    const work = this.#play(played).then((outcome) => {
      this.#playing.delete(turn.taskId);
      this.#ended.add(turn.taskId);
      if (outcome.how === 'left') this.#left.push(turn.taskId);
      this.#tell({ kind: 'turn_ended', turn: played, outcome });
      this.#startWaiting();
      if (this.#isDone) this.#stopAsking();
    });
    this.#playing.set(turn.taskId, { played, work });
  }

  /** Never rejects. */
  async #play(played: PlayedTurn): Promise<TurnOutcome> {
    const timer = setTimeout(() => played.stop(new TurnTooLong()), this.#options.turnMs ?? TURN_MS);
    // A player that never ends is left behind, and must not keep the program.
    timer.unref();
    let error = 'the driver gave no answer';
    try {
      await this.#options.play(played);
    } catch (thrown) {
      error = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      clearTimeout(timer);
    }
    if (played.outcome !== undefined) return played.outcome;
    const reason: unknown = played.signal.reason;
    if (played.signal.aborted && !(reason instanceof TurnTooLong)) return { how: 'left' };
    return this.#fail(played, reason instanceof TurnTooLong ? reason.message : error);
  }

  async #fail(played: PlayedTurn, error: string): Promise<TurnOutcome> {
    try {
      await this.#options.client.reply(played.turn.taskId, { error }, { signal: this.#options.signal });
      return { how: 'failed', error };
    } catch (thrown) {
      if (thrown instanceof TurnGone) return { how: 'gone', reason: thrown.message };
      return { how: 'left' };
    }
  }

  async #stopPlayers(): Promise<void> {
    const working = [...this.#playing.values()];
    for (const { played } of working) played.stop(new DriverStopped());
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), this.#options.graceMs ?? GRACE_MS);
    await Promise.race([Promise.all(working.map(({ work }) => work)), promise]);
    clearTimeout(timer);
    this.#left.push(...this.#playing.keys());
  }

  #tell(event: DriveEvent): void {
    this.#options.onEvent?.(event);
  }
}

class TurnTooLong extends Error {
  override readonly name = 'TurnTooLong';

  constructor() {
    super('the driver had no more time for the turn');
  }
}

class DriverStopped extends Error {
  override readonly name = 'DriverStopped';

  constructor() {
    super('the driver was stopped');
  }
}

function randomId(): string {
  return randomBytes(16).toString('hex');
}
