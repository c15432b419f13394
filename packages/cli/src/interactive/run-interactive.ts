import type { AgentEvent } from '@parley/harness';
import type { AskApproval } from '../agent/approvals.js';
import type { CliIo } from '../cli-io.js';
import type { OpenSession, Sessions } from '../sessions/sessions.js';
import { type Block, gap, text } from '../ui/block.js';
import { neutraliseLine } from '../ui/neutralise.js';
import type { Key } from '../ui/keys.js';
import { type LiveRows, Screen } from '../ui/screen.js';
import { choosePaint } from '../ui/style.js';
import { Terminal } from '../ui/terminal.js';
import { layOutLive } from './live-view.js';
import { Shell } from './shell.js';

/** What agents tell, and whom they ask. */
export interface AgentPorts {
  /** Awaited: who is slow slows the agent. */
  readonly onEvent: (event: AgentEvent) => Promise<void> | void;
  readonly askApproval: AskApproval;
  readonly warn: (message: string) => void;
}

export interface InteractiveOptions {
  readonly io: CliIo;
  readonly connect: (ports: AgentPorts) => Sessions;
  /** Opens the session to begin with. */
  readonly open: (sessions: Sessions) => Promise<OpenSession>;
  readonly task: string | undefined;
  /** Shown first. */
  readonly header: readonly string[];
  readonly facts: readonly (readonly [string, string])[];
}

/** Deltas come by the hundred in a second; the eye wants no more than this. */
const FRAME_MS = 16;
/** How long an agent may take to stop before the program leaves without it. */
const SHUTDOWN_MS = 7_000;
/** A process that could not be stopped goes on at once. */
const SUSPEND_MS = 200;

const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The interactive program, from the first frame until the user leaves. The terminal is given back in every case in
 * which the process can still do something.
 *
 * @returns the exit code.
 */
export async function runInteractive(options: InteractiveOptions): Promise<number> {
  const program = new InteractiveProgram(options);
  await program.open();
  return program.run();
}

class InteractiveProgram {
  readonly #options: InteractiveOptions;
  readonly #terminal: Terminal;
  readonly #screen: Screen;
  readonly #left = Promise.withResolvers<number>();
  /** What was said before there was a screen. */
  readonly #early: Block[] = [];
  #shell: Shell | undefined;
  #exitCode: number | undefined;
  #shutdownTimer: NodeJS.Timeout | undefined;
  #suspendTimer: NodeJS.Timeout | undefined;

  constructor(options: InteractiveOptions) {
    const { io } = options;
    this.#options = options;
    this.#terminal = new Terminal(io.stdin, io.stdout, {
      onKeys: (keys) => this.#onKeys(keys),
      onResize: () => this.#screen.update(),
      onLost: () => this.#leave(SIGNAL_EXIT_CODES.SIGHUP),
    });
    this.#screen = new Screen({
      output: this.#terminal,
      paint: choosePaint(true, io.env),
      view: (columns, rows) => this.#view(columns, rows),
      later: (work) => {
        const timer = setTimeout(work, FRAME_MS);
        return () => clearTimeout(timer);
      },
    });
  }

  /** Opens the session; the terminal is not touched yet, so that a failure is told like any other. */
  async open(): Promise<void> {
    const { io, connect, open, facts } = this.#options;
    const sessions = connect({
      onEvent: (event) => this.#shell?.onEvent(event),
      askApproval: (request) => this.#shell?.askApproval(request) ?? Promise.resolve('no'),
      warn: (message) => this.#warn(message),
    });
    this.#shell = new Shell({
      screen: this.#screen,
      sessions,
      session: await open(sessions),
      facts,
      now: io.now,
      suspend: () => this.#suspend(),
      onLeave: (code) => this.#leave(code),
    });
  }

  async run(): Promise<number> {
    const { io, header, task } = this.#options;
    const listeners = this.#listeners();
    for (const [event, listener] of listeners) io.process.on(event, listener);
    try {
      this.#terminal.enter();
      this.#screen.print([...header.map((row) => text(neutraliseLine(row), 'dim')), ...this.#early]);
      this.#shell?.begin(task);
      this.#screen.draw();
      const code = await this.#left.promise;
      this.#sayHowToComeBack();
      return code;
    } finally {
      clearTimeout(this.#shutdownTimer);
      this.#shell?.end();
      this.#giveBack();
      for (const [event, listener] of listeners) io.process.off(event, listener);
    }
  }

  #listeners(): readonly (readonly [string, () => void])[] {
    return [
      ['SIGINT', () => this.#shell?.interrupt()],
      ['SIGTERM', () => this.#leave(SIGNAL_EXIT_CODES.SIGTERM)],
      ['SIGHUP', () => this.#leave(SIGNAL_EXIT_CODES.SIGHUP)],
      ['SIGCONT', () => this.#bringBack()],
      // Whatever ends the process: the message of a crash is to be read on a terminal that works.
      ['uncaughtExceptionMonitor', () => this.#giveBack()],
      ['exit', () => this.#giveBack()],
    ];
  }

  #onKeys(keys: readonly Key[]): void {
    if (this.#exitCode === undefined) this.#shell?.onKeys(keys);
    else if (keys.some((key) => key.type === 'key' && key.name === 'interrupt')) this.#leave(this.#exitCode);
  }

  #view(columns: number, rows: number): LiveRows {
    if (this.#shell === undefined) return { rows: [], cursorRow: 0, cursorColumn: 0 };
    return layOutLive(this.#shell.state, this.#options.io.now(), columns, rows);
  }

  #warn(message: string): void {
    const block = text(neutraliseLine(message), 'warn');
    if (this.#shell === undefined) this.#early.push(block);
    else this.#shell.print([gap, block]);
  }

  /** Stops the agent first; the second time it is not waited for. */
  #leave(code: number): void {
    if (this.#exitCode !== undefined) {
      this.#left.resolve(this.#exitCode);
      return;
    }
    this.#exitCode = code;
    this.#shutdownTimer = setTimeout(() => this.#left.resolve(code), SHUTDOWN_MS);
    const stopped = this.#shell?.session.agent.shutdown() ?? Promise.resolve();
    stopped.catch(() => undefined).finally(() => this.#left.resolve(code));
  }

  #sayHowToComeBack(): void {
    if (this.#shell === undefined) return;
    const { agent, ref } = this.#shell.session;
    if (agent.messages.length === 0) return;
    this.#screen.print([gap, text(`to go on with this session: parley run --resume ${neutraliseLine(ref)}`, 'dim')]);
  }

  #giveBack(): void {
    clearTimeout(this.#suspendTimer);
    this.#screen.close();
    this.#terminal.restore();
  }

  #suspend(): void {
    this.#screen.withdraw();
    this.#terminal.restore();
    this.#options.io.stopGroup();
    this.#suspendTimer = setTimeout(() => this.#bringBack(), SUSPEND_MS);
  }

  /** Also after a stop that came from elsewhere: the mode of the terminal may be another one now. */
  #bringBack(): void {
    clearTimeout(this.#suspendTimer);
    this.#terminal.restore();
    this.#terminal.enter();
    this.#screen.forgetLive();
    this.#screen.draw();
  }
}
