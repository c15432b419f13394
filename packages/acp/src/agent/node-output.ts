import type { Writable } from 'node:stream';

/** A Node stream whose writers wait until there is room, until it breaks, or until it is given up. */
export class NodeOutput {
  readonly #output: Writable;
  readonly #onGone: () => void;
  readonly #gone = Promise.withResolvers<never>();
  #isGone = false;
  #drained: PromiseWithResolvers<undefined> | undefined;

  /** `onGone` is called once, when nothing more can be written. */
  constructor(output: Writable, onGone: () => void) {
    this.#output = output;
    this.#onGone = onGone;
    this.#gone.promise.catch(() => undefined);
    output.on('error', (error) => this.giveUp(error));
    output.on('close', () => this.giveUp(new Error('the output is closed')));
    output.on('drain', () => this.#drained?.resolve(undefined));
  }

  /** True while somebody waits for room. */
  get isBlocked(): boolean {
    return this.#drained !== undefined && !this.#isGone;
  }

  /** Resolves when more may be written. @throws why nothing can be written any longer. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isGone) return this.#gone.promise;
    if (this.#output.write(chunk)) return;
    this.#drained ??= Promise.withResolvers<undefined>();
    const { promise } = this.#drained;
    await promise;
    this.#drained = undefined;
  }

  /** Whoever waits for room waits no longer. Idempotent. */
  giveUp(reason: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#gone.reject(reason);
    this.#drained ??= Promise.withResolvers<undefined>();
    this.#drained.promise.catch(() => undefined);
    this.#drained.reject(reason);
    this.#onGone();
  }
}
