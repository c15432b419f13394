import { setImmediate as nextRound } from 'node:timers/promises';
import type { AnyMessage, JsonRpcId } from '@agentclientprotocol/sdk';
import { isAnswer, isRequest, nameOf } from './json-rpc.js';
import type { RecordedStep } from './read-recording.js';
import { ReplayMismatchError } from './wire-errors.js';

const NO_ROOM = 'nothing more was recorded, there was no room';

/** The child of a recording: takes our messages and says its own, in the recorded order. */
export class ReplayedChild {
  readonly #steps: RecordedStep[];
  #at = 0;
  /** Came before the child had said what it said before them. */
  readonly #early: AnyMessage[] = [];
  /** Ids of our requests: as recorded, and as they are. */
  readonly #ids = new Map<JsonRpcId, JsonRpcId>();
  #failure: ReplayMismatchError | undefined;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(
    steps: readonly RecordedStep[],
    private readonly isSame: (recorded: AnyMessage, actual: AnyMessage) => boolean,
  ) {
    this.#steps = [...steps];
  }

  get remaining(): number {
    return this.#steps.slice(this.#at).filter(({ kind }) => kind === 'out' || kind === 'in').length;
  }

  get failure(): ReplayMismatchError | undefined {
    return this.#failure;
  }

  /** @throws ReplayMismatchError */
  take(message: AnyMessage): void {
    this.#throwIfFailed();
    this.#early.push(message);
    this.#match();
    this.#wake?.();
    this.#throwIfFailed();
  }

  /**
   * What the child says next, when it is its turn; undefined at its end.
   *
   * @throws ReplayMismatchError
   */
  async next(): Promise<AnyMessage | undefined> {
    // What came in one piece from a process is heard in one round; here each message has its own.
    await nextRound();
    for (;;) {
      this.#throwIfFailed();
      const step = this.#steps[this.#at];
      if (this.#isStopped || step?.kind === 'end') return undefined;
      if (step?.kind === 'full') this.#fail(NO_ROOM, step.line);
      else if (step?.kind === 'in') return this.#say(step.message);
      else await this.#woken();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  #say(message: AnyMessage): AnyMessage {
    this.#at += 1;
    this.#match();
    if (!isAnswer(message)) return message;
    return { ...message, id: this.#ids.get(message.id) ?? message.id };
  }

  async #woken(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /** As far as it is our turn. */
  #match(): void {
    for (let message = this.#early[0]; message !== undefined; message = this.#early[0]) {
      const next = this.#steps[this.#at];
      if (next?.kind === 'in' || this.#failure !== undefined) return;
      if (next?.kind === 'full') {
        this.#fail(NO_ROOM, next.line);
        return;
      }
      if (next?.kind !== 'out') {
        this.#fail(`it has ended, but there was ${nameOf(message)}`, next?.line ?? this.#lastLine());
        return;
      }
      const found = this.#find(message);
      if (found === undefined) {
        this.#fail(`it has ${nameOf(next.message)}, but there was ${nameOf(message)}`, next.line);
        return;
      }
      this.#early.shift();
    }
  }

  /** Among those that no message of the child parts. */
  #find(actual: AnyMessage): RecordedStep | undefined {
    for (let index = this.#at; ; index += 1) {
      const step = this.#steps[index];
      if (step?.kind !== 'out') return undefined;
      if (!isSameCall(step.message, actual) || !this.isSame(step.message, actual)) continue;
      this.#steps.splice(index, 1);
      this.#steps.splice(this.#at, 0, step);
      this.#at += 1;
      if (isRequest(step.message) && isRequest(actual)) this.#ids.set(step.message.id, actual.id);
      return step;
    }
  }

  #lastLine(): number {
    return (this.#steps.at(-1)?.line ?? 0) + 1;
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(message: string, line: number): void {
    this.#failure = new ReplayMismatchError(message, line);
  }
}

function isSameCall(recorded: AnyMessage, actual: AnyMessage): boolean {
  if (isAnswer(recorded) || isAnswer(actual)) {
    return (
      isAnswer(recorded) && isAnswer(actual) && recorded.id === actual.id && 'error' in recorded === 'error' in actual
    );
  }
  return isRequest(recorded) === isRequest(actual) && recorded.method === actual.method;
}
