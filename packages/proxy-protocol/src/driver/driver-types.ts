import type { ProxyClient } from '../client/proxy-client.js';
import type { PlayedTurn } from './played-turn.js';

/** How a turn was left by its player. */
export type TurnOutcome =
  | { readonly how: 'answered' }
  /** Ended with an error. */
  | { readonly how: 'failed'; readonly error: string }
  /** Its sender or the proxy ended it. */
  | { readonly how: 'gone'; readonly reason: string }
  /** Still open: the driver had to stop, and whoever has its token can go on. */
  | { readonly how: 'left' };

export type DriveEvent =
  | { readonly kind: 'claimed'; readonly isAgain: boolean }
  /** Told once, when it begins. */
  | { readonly kind: 'away'; readonly error: Error }
  | { readonly kind: 'back' }
  | { readonly kind: 'turn_started'; readonly turn: PlayedTurn }
  | { readonly kind: 'turn_ended'; readonly turn: PlayedTurn; readonly outcome: TurnOutcome };

export interface DriveOptions {
  /** With the driver's token. */
  readonly client: ProxyClient;
  /**
   * Plays a turn, and ends it with `reply` or `fail`. One that does neither, or rejects, has failed. Its work ends soon
   * after `turn.signal` is aborted.
   */
  readonly play: (turn: PlayedTurn) => Promise<void>;
  /** Aborted: all players are stopped, their turns stay open. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted: no turn is taken any more, those in play are played to their end. */
  readonly drain?: AbortSignal | undefined;
  /** Ends after so many turns. */
  readonly maxTurns?: number | undefined;
  /** Turns at a time; others wait. Default 8. */
  readonly maxConcurrentTurns?: number | undefined;
  /**
   * Whether a proxy that has forgotten the claim is claimed again. Default true. False, as under an agreement that ended
   * with it: `drive` throws ProxyUnauthorized, and turns in play stay open.
   */
  readonly reclaims?: boolean | undefined;
  /** How long a proxy that is away is waited for, in milliseconds. Default 5 minutes. */
  readonly patienceMs?: number | undefined;
  /** A turn's time, in milliseconds; then it fails. Default 12 hours. */
  readonly turnMs?: number | undefined;
  /** How long players that were stopped are waited for, in milliseconds. Default 5,000. */
  readonly graceMs?: number | undefined;
  /** What happens, as it happens. Must not throw. */
  readonly onEvent?: ((event: DriveEvent) => void) | undefined;
  /** From 0 up to 1. */
  readonly random?: (() => number) | undefined;
  /** A new id of an action each time, at most 128 characters that nobody guesses. */
  readonly newId?: (() => string) | undefined;
}

export interface DriveOutcome {
  /** Turns that were taken. */
  readonly turns: number;
  /** Those that are still open. */
  readonly left: readonly string[];
}
