import type { ChildProcess } from 'node:child_process';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Readable, Writable } from 'node:stream';
import { familyEnder, type FamilyEnd } from './family-ender.js';
import { familyRegistry } from './family-registry.js';
import { watchFamilies } from './family-watch.js';
import { within } from './long-timer.js';
import { ProcessFamily } from './process-family.js';
import type { DetachedProcess } from './spawn-detached.js';

/** How a program ended: by itself with a code, or by a signal. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The steps of an end, in milliseconds. */
export interface EndTimes {
  /** From the end of its input to SIGTERM. Default 2,000. */
  readonly closeMs?: number;
  /** From SIGTERM to SIGKILL. Default 2,000. */
  readonly termMs?: number;
  /** How long killed processes are waited for: one that hangs in the kernel ends later, or never. Default 3,000. */
  readonly killMs?: number;
}

/** A program that runs, with pipes to it. Whoever starts one must `end` it, also if it has exited by itself. */
export interface StartedProgram {
  /** Also the number of its group and its session. */
  readonly pid: number;
  /** What cannot be written any more is dropped: it never ends this process by an unheard `error`. */
  readonly stdin: Writable;
  /** Not read before somebody reads: a program that writes more than a pipe holds waits until then. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program itself has ended; its children may live, and its last output may still come. */
  readonly exited: Promise<ProgramExit>;
  /** Undefined while it runs. */
  readonly exit: ProgramExit | undefined;
  /** Resolves when it has exited and both outputs are at their end: nobody holds them any more, all of it was read. */
  readonly closed: Promise<void>;
  /**
   * Ends it and everything that came from it: its input is closed, `closeMs` later the tree gets SIGTERM, `termMs`
   * later SIGKILL, until nobody is left or `killMs` are over. No step waits longer than it must, and one without a time
   * (0) is left out. Resolves with who was found when the input had been closed, and how many could not be ended.
   * Never rejects. Asked again, it shortens the time.
   */
  end(times?: EndTimes): Promise<FamilyEnd>;
}

const DEFAULT_CLOSE_MS = 2_000;
const DEFAULT_TERM_MS = 2_000;
const DEFAULT_KILL_MS = 3_000;

/** How long the exit of a program that was killed is waited for. */
const REAP_MS = 1_000;

/** How long the last output is read when nobody is left that writes. */
const LAST_OUTPUT_MS = 250;

export class ProgramProcess implements StartedProgram {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ProgramExit>;
  readonly closed: Promise<void>;
  readonly #family: ProcessFamily;
  #exit: ProgramExit | undefined;
  #ended: FamilyEnd | undefined;

  constructor({ child, pid, bornAt, pipes }: DetachedProcess, id: string, claimsOrphans: boolean) {
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('a program without its pipes');
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    this.pid = pid;
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#family = new ProcessFamily({ leader: pid, id, claimsOrphans, heir: undefined, bornAt, pipes });
    familyRegistry.add(this.#family);
    const stopWatch = watchFamilies();
    this.exited = exitOf(child).then((exit) => {
      this.#exit = exit;
      stopWatch();
      return exit;
    });
    this.closed = new Promise((resolve) => {
      child.once('close', () => resolve());
    });
  }

  get exit(): ProgramExit | undefined {
    return this.#exit;
  }

  async end(times: EndTimes = {}): Promise<FamilyEnd> {
    const { closeMs = DEFAULT_CLOSE_MS, termMs = DEFAULT_TERM_MS, killMs = DEFAULT_KILL_MS } = times;
    if (this.#ended !== undefined) return this.#ended;
    this.stdin.end();
    this.#readUnread();
    if (closeMs > 0) await within(closeMs, this.exited);
    const ended = await familyEnder.end(this.#family, termMs, killMs);
    await within(REAP_MS, this.exited);
    await within(LAST_OUTPUT_MS, this.closed);
    // One who could not be ended may hold the pipes for ever.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
    await nextRound();
    this.#ended ??= ended;
    return this.#ended;
  }

  /** A program that cannot write its last words cannot end well. */
  #readUnread(): void {
    for (const stream of [this.stdout, this.stderr]) {
      if (stream.listenerCount('data') + stream.listenerCount('readable') === 0) stream.resume();
    }
  }
}

function exitOf(child: ChildProcess): Promise<ProgramExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
