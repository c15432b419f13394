import { randomBytes } from 'node:crypto';
import type { DriveEvent, DriveOptions } from '@parley/proxy-protocol';
import type { ProxyPorts } from '../../proxy-ports.js';
import type { Stopping } from '../stopping.js';
import type { AgreedProxy, ProxyFinder } from './agreed-proxy.js';
import { ProxySearchFailed } from './proxy-search-failed.js';
import { searchProxy } from './search-proxy.js';

/** What happens between one proxy and the next. */
export type FoundEvent =
  | { readonly kind: 'agreed'; readonly agreed: AgreedProxy }
  | { readonly kind: 'lost'; readonly agreed: AgreedProxy; readonly reason: string }
  | { readonly kind: 'searching'; readonly failure: ProxySearchFailed; readonly waitMs: number };

export interface DriveFoundOptions {
  readonly finder: ProxyFinder;
  readonly proxy: Pick<ProxyPorts, 'drive' | 'ProxyClient' | 'ProxyError'>;
  readonly stopping: Pick<Stopping, 'drained' | 'left' | 'exitCode'>;
  /** Undefined: until it is stopped. */
  readonly maxTurns: number | undefined;
  /** How each proxy is played; made anew for each, so that nothing of one is known at the next. */
  readonly newPlay: () => DriveOptions['play'];
  readonly maxConcurrentTurns: number;
  readonly onDrive: (event: DriveEvent) => void;
  readonly onFound: (event: FoundEvent) => void;
  /** Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** A wait between tries; default one of node:timers. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Milliseconds; default of `performance`. */
  readonly now?: (() => number) | undefined;
  /** How long a proxy that gives no answer is waited for, in milliseconds. Default 10,000. */
  readonly patienceMs?: number | undefined;
}

/** What was there at the start is told at once; for a proxy that was lost, a new one may take a while. */
const FIRST_TRIES = 1;
const LATER_TRIES = 6;
const MAX_LOSSES = 5;
/** A proxy that was played for so long was no mistake. */
const STOOD_MS = 30_000;
/** A proxy that comes back has forgotten the agreement: more than a short break is not waited out. */
const PATIENCE_MS = 10_000;
const TOKEN_BYTES = 24;

/**
 * Plays proxies under agreements, one at a time: when one is lost, the next, until it was stopped or has played its
 * turns. Turns that were open at a proxy that was lost stay open there, and do not count.
 *
 * @throws ProxySearchFailed if there is no proxy, or none any more.
 */
export async function driveFound(options: DriveFoundOptions): Promise<void> {
  await new FoundDriving(options).run();
}

class FoundDriving {
  readonly #options: DriveFoundOptions;
  readonly #now: () => number;
  readonly #avoid = new Set<string>();
  #played = 0;
  /** In a row, of proxies that were not worth it. */
  #losses = 0;

  constructor(options: DriveFoundOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async run(): Promise<void> {
    for (let tries = FIRST_TRIES; ; tries = LATER_TRIES) {
      const agreed = await this.#search(tries);
      if (agreed === undefined) return;
      const [playedBefore, since] = [this.#played, this.#now()];
      const lostBecause = await this.#driveUnder(agreed);
      if (lostBecause === undefined) return;
      this.#options.onFound({ kind: 'lost', agreed, reason: lostBecause });
      if (this.#isDone) return;
      const hasStood = this.#played > playedBefore || this.#now() - since >= STOOD_MS;
      this.#countLoss(agreed, lostBecause, hasStood);
    }
  }

  get #isDone(): boolean {
    const { stopping, maxTurns = Number.POSITIVE_INFINITY } = this.#options;
    return stopping.drained.aborted || this.#played >= maxTurns;
  }

  /** @returns undefined if it was stopped meanwhile. */
  async #search(tries: number): Promise<AgreedProxy | undefined> {
    const { finder, stopping, onFound, random = Math.random, pause } = this.#options;
    const signal = stopping.drained;
    try {
      return await searchProxy({
        finder,
        avoid: this.#avoid,
        tries,
        signal,
        random,
        pause,
        onWait: (failure, waitMs) => onFound({ kind: 'searching', failure, waitMs }),
      });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** @returns why the proxy was lost; undefined if it was played as long as it was to be. */
  async #driveUnder(agreed: AgreedProxy): Promise<string | undefined> {
    const { proxy, stopping, onFound } = this.#options;
    const over = new AbortController();
    let endedBecause: string | undefined;
    const stopListening = agreed.onEnd((reason) => {
      endedBecause = `the agreement has ended: ${reason.replaceAll('_', ' ')}`;
      over.abort();
    });
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const client = new proxy.ProxyClient({ url: agreed.url, token, claimHeaders: agreed.claimHeaders });
    onFound({ kind: 'agreed', agreed });
    let lostBecause: string | undefined;
    try {
      await proxy.drive(this.#driveOptions(client, over.signal));
    } catch (error) {
      if (!(error instanceof proxy.ProxyError)) throw error;
      lostBecause = error.message;
    } finally {
      stopListening();
      const reason = stopping.exitCode === 0 ? 'completed' : 'shutdown';
      await Promise.all([agreed.end(lostBecause === undefined ? reason : 'released_by_initiator'), client.close()]);
    }
    return endedBecause ?? lostBecause;
  }

  #driveOptions(client: DriveOptions['client'], over: AbortSignal): DriveOptions {
    const { stopping, maxTurns, newPlay, maxConcurrentTurns, patienceMs = PATIENCE_MS } = this.#options;
    return {
      client,
      play: newPlay(),
      signal: AbortSignal.any([stopping.left, over]),
      drain: stopping.drained,
      maxConcurrentTurns,
      ...(maxTurns !== undefined && { maxTurns: maxTurns - this.#played }),
      patienceMs,
      reclaims: false,
      onEvent: (event) => {
        if (event.kind === 'turn_ended' && event.outcome.how !== 'left') this.#played += 1;
        this.#options.onDrive(event);
      },
    };
  }

  #countLoss({ agentId }: AgreedProxy, reason: string, hasStood: boolean): void {
    if (hasStood) {
      this.#losses = 0;
      this.#avoid.clear();
    }
    this.#losses += 1;
    this.#avoid.add(agentId);
    if (this.#losses <= MAX_LOSSES) return;
    throw new ProxySearchFailed(
      'lost_too_often',
      `${this.#losses} proxies were lost one after the other, at last ${agentId}: ${reason}`,
    );
  }
}
