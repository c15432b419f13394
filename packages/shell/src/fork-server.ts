import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { FORK_SERVER_SCRIPT } from './fork-server-script.js';
import type { LaunchedProcess, Launcher, LaunchRequest, ProcessExit } from './launcher.js';
import { LostCommandError } from './lost-command.js';
import { MARKER_NAME } from './process-family.js';
import { sendSignal } from './send-signal.js';
import { systemCode } from './system-code.js';
import { STARTER_MARK, starters, type Starter } from './starters.js';

/** How long it may take to come up. */
const READY_MS = 5_000;

/** While commands run, so often it is told to go on: a command may have stopped it. */
const CONTINUE_MS = 1_000;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

interface Running {
  readonly exit: (exit: ProcessExit) => void;
}

interface Starting {
  readonly resolve: (launched: LaunchedProcess) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A small process that starts commands for this one: a fork costs as much as the one who forks is big. It ends with
 * this process, however that ends, and takes along everybody who descends from it.
 */
export class ForkServer implements Launcher, Starter {
  readonly pid: number;
  #isAlive = true;
  #nextId = 1;
  readonly #input: Socket;
  readonly #output: Socket;
  readonly #starting = new Map<number, Starting>();
  readonly #running = new Map<number, Running>();
  readonly #ready = Promise.withResolvers<boolean>();
  #rest = '';
  #continueTimer: NodeJS.Timeout | undefined;

  private constructor(pid: number, input: Socket, output: Socket) {
    this.pid = pid;
    this.#input = input;
    this.#output = output;
    starters.set(pid, this);
    input.on('error', () => undefined);
    output.on('error', () => undefined);
    output.setEncoding('latin1').on('data', (text: string) => {
      this.#read(text);
    });
    output.once('close', () => {
      this.#die();
    });
    input.unref();
    output.unref();
  }

  /**
   * Resolves when it is ready; with undefined if it cannot work here.
   *
   * @param perl Path of a Perl with its module POSIX.
   * @param systemCalls Numbers of signalfd4 and prctl.
   */
  static async begin(perl: string, systemCalls: readonly [number, number]): Promise<ForkServer | undefined> {
    const child = spawn(perl, ['-e', FORK_SERVER_SCRIPT, ...systemCalls.map(String)], {
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', [MARKER_NAME]: STARTER_MARK },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.on('error', () => undefined);
    child.unref();
    const [stdin, stdout] = child.stdio;
    if (child.pid === undefined || !(stdin instanceof Socket) || !(stdout instanceof Socket)) return undefined;
    const server = new ForkServer(child.pid, stdin, stdout);
    return (await server.#isReady()) ? server : undefined;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get startingCount(): number {
    return this.#starting.size;
  }

  async launch({ shell, shellName, text, cwd, env, merged }: LaunchRequest): Promise<LaunchedProcess> {
    if (!this.#isAlive) throw startError('ESRCH');
    const id = this.#nextId;
    const fields = ['s', String(id), cwd, shell, shellName, text, merged ? '1' : ''];
    for (const name in env) fields.push(`${name}=${env[name] ?? ''}`);
    if (fields.some((field) => field.includes('\0'))) throw new TypeError('NUL characters cannot be passed on');
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#starting.set(id, { resolve, reject });
      this.#keepWatch();
      this.#send(fields.join('\0'));
    });
  }

  async #isReady(): Promise<boolean> {
    const timer = setTimeout(() => this.#ready.resolve(false), READY_MS);
    this.#output.ref();
    const isReady = await this.#ready.promise;
    clearTimeout(timer);
    if (this.#running.size + this.#starting.size === 0) this.#output.unref();
    if (!isReady) this.#giveUp();
    return isReady;
  }

  #giveUp(): void {
    if (this.#isAlive) sendSignal(this.pid, 'SIGKILL');
    this.#input.destroy();
    this.#output.destroy();
  }

  #send(body: string): void {
    const size = Buffer.byteLength(body);
    const frame = Buffer.allocUnsafe(4 + size);
    frame.writeUInt32BE(size, 0);
    frame.write(body, 4, 'utf8');
    this.#input.write(frame);
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const kind = line.charAt(0);
      const numbers = line.slice(2).split(' ').map(Number);
      if (kind === 'S') this.#onStarted(numbers);
      else if (kind === 'X') this.#onExit(numbers);
      else if (kind === 'F') this.#onFailure(numbers);
      else if (kind === 'R') this.#ready.resolve(this.#canOpen(numbers[0] ?? -1));
    }
    this.#restIfIdle();
  }

  #onStarted([id = 0, pid = 0, bornAt = 0, out = -1, err = -1]: readonly number[]): void {
    const starting = this.#starting.get(id);
    this.#starting.delete(id);
    const { promise: exit, resolve } = Promise.withResolvers<ProcessExit>();
    this.#running.set(id, { exit: resolve });
    const pipes: string[] = [];
    try {
      const stdout = this.#open(out, pipes);
      const stderr = err === -1 ? undefined : this.#open(err, pipes, stdout);
      starting?.resolve({ pid, bornAt, pipes, heir: this.pid, stdout, stderr, exit });
    } catch (error) {
      // Without pipes it is of no use, such as when there are no descriptors left.
      sendSignal(-pid, 'SIGKILL');
      const isGone = systemCode(error) === 'ENOENT';
      // Told before the end of its output is: the next command must not be sent there.
      if (isGone) this.#isAlive = false;
      starting?.reject(isGone ? new LostCommandError() : (error as Error));
    }
    this.#send(`c\0${id}`);
  }

  /** The other one, opened before, is closed if this one cannot be opened. */
  #open(descriptor: number, pipes: string[], other?: Socket): Socket {
    try {
      const fd = openSync(`/proc/${this.pid}/fd/${descriptor}`, READ_FLAGS);
      pipes.push(`pipe:[${fstatSync(fd).ino}]`);
      return new Socket({ fd, readable: true, writable: false });
    } catch (error) {
      other?.destroy();
      throw error;
    }
  }

  #onExit([id = 0, status = 0]: readonly number[]): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    const signal = status & 127;
    running?.exit(signal === 0 ? { kind: 'code', code: (status >> 8) & 255 } : { kind: 'signal', signal });
  }

  #onFailure([id = 0, errno = 0]: readonly number[]): void {
    this.#starting.get(id)?.reject(startError(getSystemErrorName(-errno)));
    this.#starting.delete(id);
  }

  /** Whether this process may open the pipes of that one. */
  #canOpen(descriptor: number): boolean {
    try {
      const fd = openSync(`/proc/${this.pid}/fd/${descriptor}`, READ_FLAGS);
      const word = Buffer.alloc(5);
      readSync(fd, word);
      closeSync(fd);
      this.#send('c\0' + '0');
      return word.toString() === 'ready';
    } catch {
      return false;
    }
  }

  /** It keeps this process alive while something runs. */
  #keepWatch(): void {
    if (this.#continueTimer !== undefined) return;
    this.#output.ref();
    this.#continueTimer = setInterval(() => sendSignal(this.pid, 'SIGCONT'), CONTINUE_MS).unref();
  }

  #restIfIdle(): void {
    if (this.#continueTimer === undefined || this.#running.size + this.#starting.size > 0) return;
    clearInterval(this.#continueTimer);
    this.#continueTimer = undefined;
    this.#output.unref();
  }

  /** All that it has told was read by now. */
  #die(): void {
    this.#isAlive = false;
    starters.delete(this.pid);
    this.#ready.resolve(false);
    for (const { reject } of this.#starting.values()) reject(new LostCommandError());
    for (const { exit } of this.#running.values()) exit({ kind: 'lost' });
    this.#starting.clear();
    this.#running.clear();
    this.#restIfIdle();
    this.#input.destroy();
  }
}

function startError(code: string): Error {
  return Object.assign(new Error(`a command could not be started: ${code}`), { code, syscall: 'spawn' });
}
