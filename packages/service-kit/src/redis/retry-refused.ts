import { Command, type Redis } from 'ioredis';
import { parseAddress, type ServerAddress } from './redis-target.js';

export interface RetryRefusedOptions {
  /** From when a command was given: by then it has succeeded or failed. */
  readonly timeoutMs: number;
  /** A server has said where the keys are now. */
  readonly redirected?: ((to: ServerAddress) => void) | undefined;
  /** A command was not answered in time: the server may be frozen, and another one in its place. */
  readonly unanswered?: (() => void) | undefined;
}

/** While that many wait for another try, further ones fail at once. */
const MAX_HELD = 1_000;
const PAUSE_MS = 25;
/** What the library sends to set up a connection, and to end it. */
const SETUP = new Set(['hello', 'auth', 'select', 'client', 'readonly', 'info', 'quit']);

/**
 * A command that a server refused without carrying it out, because another one is or will be the right one, is given
 * again until it is carried out or its time is over. Commands that were lost with their connection are not: they
 * may have been carried out. `ASK` is answered by waiting too, not by following: a script also looks at keys that it
 * does not name, and on the node to which a slot is still moving such a key may seem not to exist.
 */
export function retryRefused(redis: Redis, options: RetryRefusedOptions): { readonly isSwitching: boolean } {
  const retries = new Retries(redis, options);
  retries.install();
  return retries;
}

class Retries {
  readonly #redis: Redis;
  readonly #options: RetryRefusedOptions;
  readonly #send: Redis['sendCommand'];
  readonly #held = new Set<Command>();
  #switching = false;
  /** How often the connection was closed since it began to switch. */
  #closed = 0;

  constructor(redis: Redis, options: RetryRefusedOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#send = redis.sendCommand.bind(redis);
  }

  /** The connection goes over to another server because it was told to. */
  get isSwitching(): boolean {
    return this.#switching;
  }

  install(): void {
    const redis = this.#redis;
    redis.sendCommand = (command, stream) => {
      // Commands of a pipeline or transaction stand or fall together.
      if (stream !== undefined || SETUP.has(command.name)) return this.#send(command, stream);
      this.#watch(command);
      if (this.#switching && this.#held.size < MAX_HELD) this.#hold(command);
      else this.#send(command);
      return command.promise;
    };
    redis.on('ready', () => {
      this.#switched();
    });
    redis.on('close', () => {
      this.#closed += 1;
      // Once is what was wanted. More often, and whoever waits has their answer as in any other outage.
      if (this.#switching && this.#closed > 1) this.#switched();
    });
    redis.on('end', () => {
      this.#switched();
    });
  }

  #watch(command: Command): void {
    const { resolve, reject } = command;
    const refuse = (error: Error): void => {
      // Its time was over before this answer came.
      if (command.isSettled) return;
      if (error.message === 'Command timed out') this.#options.unanswered?.();
      const refusal = refusalOf(error);
      if (refusal === undefined || this.#held.size >= MAX_HELD) {
        reject(error);
        return;
      }
      // What the tracing has put round them belongs to the attempt that is over.
      command.resolve = resolve;
      command.reject = refuse;
      this.#hold(command);
      if (refusal === 'later') setTimeout(() => this.#release(command), PAUSE_MS);
      else this.#switchServer(refusal);
    };
    command.reject = refuse;
  }

  #hold(command: Command): void {
    this.#held.add(command);
    // Counts from the first time that it is set.
    command.setTimeout(this.#options.timeoutMs);
  }

  #release(command: Command): void {
    if (!this.#held.delete(command) || command.isSettled) return;
    if (this.#switching) this.#held.add(command);
    else this.#send(command);
  }

  /** First lets everything be answered that is under way: answers come in order, so a last question tells. */
  #switchServer(refusal: { readonly to: ServerAddress | undefined }): void {
    if (refusal.to !== undefined) this.#options.redirected?.(refusal.to);
    if (this.#switching) return;
    this.#switching = true;
    this.#closed = 0;
    const last = new Command('ping');
    void this.#send(last);
    const leave = (): void => {
      if (this.#redis.status === 'ready') this.#redis.disconnect(true);
      else this.#switched();
    };
    last.promise.then(leave, leave);
  }

  #switched(): void {
    this.#switching = false;
    for (const command of [...this.#held]) this.#release(command);
  }
}

/** What a failure says about another try: on another server, later, or (undefined) no other try. */
type Refusal = 'later' | { readonly to: ServerAddress | undefined };

export function refusalOf({ message }: Error): Refusal | undefined {
  const [, to] = /^MOVED \d+ (\S+)$/.exec(message) ?? [];
  if (to !== undefined) return { to: parseAddress(to) };
  if (/^(?:MOVED|READONLY|MASTERDOWN) /.test(message)) return { to: undefined };
  if (/^(?:ASK|TRYAGAIN|CLUSTERDOWN|LOADING) /.test(message)) return 'later';
  // A script met one of its keys that is moving; each script touches such keys before it changes anything.
  return message.includes('attempted to access a non local key') ? 'later' : undefined;
}
