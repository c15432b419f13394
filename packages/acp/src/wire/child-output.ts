import type { Readable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { GarbageCount, GarbageKind } from './garbage-count.js';
import { kindOf } from './json-rpc.js';
import { LineSplitter } from './line-splitter.js';
import type { OpenRequests } from './open-requests.js';
import type { RecordedRun } from './traffic-recorder.js';

export interface ChildOutputOptions {
  readonly stdout: Readable;
  readonly maxMessageBytes: number;
  readonly garbage: GarbageCount;
  readonly requests: OpenRequests;
  readonly record: RecordedRun | undefined;
}

/** The messages of a child, one at a time, read no faster than they are taken. */
export class ChildOutput {
  readonly #splitter: LineSplitter;
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  /** Of the chunk that is being read. */
  #lines: Iterator<string, unknown> = [][Symbol.iterator]();
  #isEnded = false;
  #isStopped = false;
  /** What was given in this round of the event loop. */
  #given: 'nothing' | 'answer' | 'other' = 'nothing';
  readonly #finished = Promise.withResolvers<undefined>();

  constructor(private readonly options: ChildOutputOptions) {
    this.#splitter = new LineSplitter(options.maxMessageBytes);
    // Reading on would destroy the pipe when it is given up, and with it a child that writes.
    this.#chunks = options.stdout.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  }

  /** Resolves when nothing will be given any more. */
  get finished(): Promise<undefined> {
    return this.#finished.promise;
  }

  /**
   * Undefined at the end of the output.
   *
   * @throws TooMuchGarbageError, MessageTooLargeError
   */
  async next(): Promise<AnyMessage | undefined> {
    for (let line = await this.#nextLine(); line !== undefined; line = await this.#nextLine()) {
      const message = this.#read(line);
      if (message === undefined) continue;
      await this.#keepOrder(message);
      this.options.record?.incoming(message);
      return message;
    }
    if (!this.#isStopped) this.options.record?.end();
    this.#finished.resolve(undefined);
    return undefined;
  }

  /** What comes from now on is read and dropped: the child is not held up by it. */
  stop(): void {
    this.#isStopped = true;
    this.#finished.resolve(undefined);
    // Waits for a chunk that is being waited for; its listeners are gone then.
    void Promise.resolve(this.#chunks.return?.()).then(
      () => this.options.stdout.resume(),
      () => undefined,
    );
  }

  async #nextLine(): Promise<string | undefined> {
    while (!this.#isStopped) {
      const line = this.#lines.next();
      if (line.done !== true) return line.value;
      if (this.#isEnded) return undefined;
      const chunk = await this.#nextChunk();
      this.#lines = chunk === undefined ? [this.#splitter.rest()][Symbol.iterator]() : this.#splitter.push(chunk);
      this.#isEnded = chunk === undefined;
    }
    return undefined;
  }

  /** A pipe that breaks is at its end. */
  async #nextChunk(): Promise<Buffer | undefined> {
    const chunk = await this.#chunks.next().catch(() => undefined);
    return chunk?.value;
  }

  #read(line: string): AnyMessage | undefined {
    if (line === '') return undefined;
    const value = parsed(line);
    const kind = garbageKind(value) ?? this.#unasked(value);
    if (kind === undefined) return value as AnyMessage;
    this.options.record?.garbage(kind);
    this.options.garbage.add(kind, line);
    return undefined;
  }

  #unasked(value: unknown): GarbageKind | undefined {
    if (kindOf(value) !== 'answer') return undefined;
    return this.options.requests.close((value as { readonly id: unknown }).id) ? undefined : 'unasked_answer';
  }

  /**
   * An answer wakes who asked a few promises later, and handlers of the others are called a few promises later: what
   * came before and after an answer in one chunk would be handled in another order. So each of both has had its turn.
   */
  async #keepOrder(message: AnyMessage): Promise<void> {
    const given = kindOf(message) === 'answer' ? 'answer' : 'other';
    if (this.#given === 'answer' || (given === 'answer' && this.#given === 'other')) await nextRound();
    this.#given = given;
  }
}

/** Undefined for what is no JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function garbageKind(value: unknown): GarbageKind | undefined {
  if (value === undefined) return 'no_json';
  if (Array.isArray(value)) return 'batch';
  return kindOf(value) === undefined ? 'no_message' : undefined;
}
