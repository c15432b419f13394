import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { AcpChild } from './acp-child.js';

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** What a child does with one method, in place of what a good one does. */
export type Behaviour = Partial<Record<string, (call: Call, child: FakeChild) => void | Promise<void>>>;

/** A child in this process, without pipes: what it writes is read in the same order. */
export class FakeChild implements AcpChild {
  readonly stream: AcpChild['stream'];
  readonly received: Call[] = [];
  readonly ends: boolean[] = [];
  exit: AcpChild['exit'];
  garbageLines = 0;
  readonly #output = Promise.withResolvers<ReadableStreamDefaultController<AnyMessage>>();
  readonly #exited = Promise.withResolvers<undefined>();
  readonly exited = this.#exited.promise;
  readonly #asking = new Map<unknown, (result: unknown) => void>();
  #sessions = 0;

  constructor(
    private readonly behaviour: Behaviour = {},
    private readonly initialized: object = {},
  ) {
    this.stream = {
      readable: new ReadableStream<AnyMessage>({ start: (controller) => this.#output.resolve(controller) }),
      writable: new WritableStream<AnyMessage>({ write: (message) => this.#take(message) }),
    };
  }

  /** Methods that it was called with. */
  get methods(): string[] {
    return this.received.map(({ method }) => method);
  }

  async say(message: object): Promise<void> {
    const output = await this.#output.promise;
    if (this.exit === undefined) output.enqueue({ jsonrpc: '2.0', ...message } as AnyMessage);
  }

  answer(call: Call, result: unknown): Promise<void> {
    return this.say({ id: call.id, result });
  }

  /** Resolves with the result. */
  async ask(method: string, params: object): Promise<unknown> {
    const id = `ask-${this.#asking.size}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#asking.set(id, resolve);
    await this.say({ id, method, params });
    return promise;
  }

  async text(call: Call, text: string): Promise<void> {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    await this.say({ method: 'session/update', params: { sessionId: call.params['sessionId'], update } });
  }

  async die(code = 1): Promise<void> {
    if (this.exit !== undefined) return;
    this.exit = { code, signal: null };
    (await this.#output.promise).close();
    this.#exited.resolve(undefined);
  }

  allowGarbageAgain(): void {
    this.garbageLines = 0;
  }

  safeText(text: string): string {
    return text.replace('secret', '[hidden]');
  }

  describeExit(): string {
    return `the child exited with code ${this.exit?.code ?? '?'}`;
  }

  async end(atOnce: boolean): Promise<void> {
    this.ends.push(atOnce);
    await this.die(0);
  }

  async #take(message: AnyMessage): Promise<void> {
    const call = message as unknown as Call & { readonly result?: unknown };
    if ((call.method as string | undefined) === undefined) {
      this.#asking.get(call.id)?.(call.result);
      return;
    }
    this.received.push(call);
    const own = this.behaviour[call.method];
    if (own !== undefined) await own(call, this);
    else if (call.method === 'initialize') await this.answer(call, { protocolVersion: 1, ...this.initialized });
    else if (call.method === 'session/new') await this.answer(call, { sessionId: `s${(this.#sessions += 1)}` });
    else if (call.method === 'session/close') await this.answer(call, {});
    else if (call.method === 'session/prompt') {
      await this.text(call, 'It is 42');
      await this.answer(call, { stopReason: 'end_turn' });
    }
  }
}
