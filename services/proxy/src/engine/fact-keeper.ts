import type { Logger } from '@parley/service-kit';
import type { Fact } from '../domain/facts.js';
import type { ProxyState } from '../domain/proxy-state.js';
import { notKept, stopping } from '../domain/refusals.js';
import type { FactLog, Stream } from '../journal/fact-log.js';
import type { Recorder } from '../record/recorder-types.js';
import { Waiters } from './waiters.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Writes facts down, and only then lets them change anything: the log first, then the state, then the record. */
export class FactKeeper {
  /** Of the last fact that moved the version, kept or not yet. */
  #issuedVersion = 0;
  /** Ends when the last such fact was applied; undefined when nothing is under way. */
  #lastVersioned: Promise<void> | undefined;
  #stopped = false;
  readonly #stop = new Waiters();

  constructor(
    private readonly log: FactLog,
    private readonly state: ProxyState,
    private readonly recorder: Recorder,
    private readonly logger: Logger,
  ) {}

  /** A fact of an earlier life. */
  replay(fact: Fact): void {
    this.#apply(fact, true);
  }

  /**
   * Undefined when it is kept already; else a promise.
   *
   * @throws Refusal 503 (or rejects with it) when it cannot be kept; then nothing changed.
   */
  keep(stream: Stream, fact: Fact): Promise<void> | undefined {
    const appended = this.#append(stream, fact);
    if (appended !== undefined) return appended.then(() => this.#apply(fact));
    this.#apply(fact);
    return undefined;
  }

  /**
   * A fact that moves the version on. Such facts are written at once but applied in the order of their versions: a
   * driver that saw a version has seen all that it stands for.
   */
  keepVersioned(stream: Stream, make: (version: number) => Fact): Promise<void> | undefined {
    this.#issuedVersion = Math.max(this.#issuedVersion, this.state.version) + 1;
    const fact = make(this.#issuedVersion);
    const appended = this.#append(stream, fact);
    if (appended === undefined && this.#lastVersioned === undefined) {
      this.#apply(fact);
      return undefined;
    }
    const applied = this.#applyAfter(this.#lastVersioned, appended, fact);
    const settled = applied
      .catch(() => undefined)
      .then(() => {
        if (this.#lastVersioned === settled) this.#lastVersioned = undefined;
      });
    this.#lastVersioned = settled;
    return applied;
  }

  /**
   * Tries until it is kept: for what happened already and nobody can be refused. Undefined when it is kept already;
   * rejects when the proxy shuts down before.
   */
  untilKept(keep: () => Promise<void> | undefined): Promise<void> | undefined {
    try {
      return keep()?.catch(() => this.#again(keep));
    } catch {
      return this.#again(keep);
    }
  }

  /** False when the proxy shuts down meanwhile. */
  async pause(ms: number): Promise<boolean> {
    if (!this.#stopped) await this.#stop.wait(ms);
    return !this.#stopped;
  }

  /** Nothing is tried again from here on. */
  stop(): void {
    this.#stopped = true;
    this.#stop.wake();
  }

  async forget(stream: Stream): Promise<void> {
    try {
      await this.log.remove(stream);
    } catch (error) {
      this.logger.warn('A forgotten task stays in the journal', { taskId: stream, error });
    }
  }

  async #again(keep: () => Promise<void> | undefined): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; await this.pause(pauseMs); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        await keep();
        return;
      } catch {
        // Said in the log; tried again after a longer pause.
      }
    }
    throw stopping();
  }

  #append(stream: Stream, fact: Fact): Promise<void> | undefined {
    const refuse = (error: unknown): never => {
      this.logger.error('A fact could not be written', { kind: fact.kind, stream, error });
      throw notKept();
    };
    try {
      return this.log.append(stream, fact)?.catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  }

  async #applyAfter(before: Promise<void> | undefined, appended: Promise<void> | undefined, fact: Fact): Promise<void> {
    try {
      await appended;
    } finally {
      await before;
    }
    this.#apply(fact);
  }

  #apply(fact: Fact, replayed = false): void {
    this.state.apply(fact);
    try {
      this.recorder.observe(fact, replayed ? { replayed } : undefined);
    } catch (error) {
      // The record is read from the facts, and they are kept: a turn goes on without one of its spans.
      this.logger.error('A fact could not be recorded', { kind: fact.kind, error });
    }
  }
}
