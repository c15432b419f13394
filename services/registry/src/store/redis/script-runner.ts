import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import type { GuardSettings } from '../../domain/guard.js';
import { scriptKeys, type Keys } from './keys.js';
import { asArray, asNumber } from './reply.js';
import type { LuaScript } from './scripts/prelude.js';
import type { StoreClock } from './store-clock.js';

export interface ScriptRunnerOptions {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly clock: StoreClock;
  readonly newEpoch: () => string;
  readonly guard: GuardSettings;
  readonly changesMaxLength: number;
  readonly recordGraceMs: number;
  /** A command that Redis begins later than this after it was given is not carried out. */
  readonly patienceMs: number;
}

type Arg = string | number;

/** Runs the scripts with what they all need, learns the clock from every answer, and says once what a failure means. */
export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;
  readonly #keys: readonly string[];
  #seenRevision = 0;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#keys = scriptKeys(options.keys);
  }

  get seenRevision(): number {
    return this.#seenRevision;
  }

  /** No script of this process makes revisions smaller than this one. */
  saw(revision: number): void {
    if (revision > this.#seenRevision) this.#seenRevision = revision;
  }

  /** For what somebody waits for: never carried out after the caller was told that it failed. */
  async runInTime(script: LuaScript, args: readonly Arg[]): Promise<readonly unknown[]> {
    const { clock, patienceMs, redis } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const startedAt = clock.localNow();
      const deadline = clock.known ? Math.floor(clock.now() + patienceMs) : 0;
      const reply = await this.#run(script, args, deadline, redis);
      if (reply[0] !== 'late') return reply;
      this.learn(reply[1], startedAt);
      // Answered at once and yet late: one of the clocks was set. The answer has told by how much.
      const quick = clock.localNow() - startedAt < patienceMs / 2;
      if (!quick || attempt > 1) throw storeUnavailable(new Error('Redis came round to the command too late'));
    }
  }

  run(script: LuaScript, args: readonly Arg[], redis = this.#options.redis): Promise<readonly unknown[]> {
    return this.#run(script, args, 0, redis);
  }

  learn(storeMs: unknown, sentAt: number): number {
    const nowMs = asNumber(storeMs);
    this.#options.clock.learn(nowMs, sentAt);
    return nowMs;
  }

  localNow(): number {
    return this.#options.clock.localNow();
  }

  async #run(script: LuaScript, args: readonly Arg[], deadline: number, redis: Redis): Promise<readonly unknown[]> {
    const { keys, newEpoch, guard, changesMaxLength, recordGraceMs } = this.#options;
    const all: Arg[] = [
      ...[keys.agentPrefix, keys.agreementPrefix, this.#seenRevision, newEpoch(), deadline],
      ...[guard.awayThresholdMs, guard.share, guard.minAgents, changesMaxLength, recordGraceMs],
      ...args,
    ];
    try {
      return asArray(await this.#evaluate(script, all, redis));
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async #evaluate(script: LuaScript, args: Arg[], redis: Redis): Promise<unknown> {
    try {
      return await redis.evalsha(script.sha, this.#keys.length, ...this.#keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      // New to this server, or it has forgotten its scripts. Nothing was run.
      return redis.eval(script.text, this.#keys.length, ...this.#keys, ...args);
    }
  }
}
