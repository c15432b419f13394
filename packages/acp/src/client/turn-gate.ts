import type { AnyMessage } from '@agentclientprotocol/sdk';
import { methods } from '@agentclientprotocol/sdk';
import type { StreamObserver } from './observed-stream.js';

/** The one prompt that a child works on. All of it is called as the messages come, and must not throw. */
export interface Turn {
  readonly sessionId: string;
  /** The prompt has left. */
  onSent(): void;
  /** Any message of the child. */
  onTraffic(): void;
  /** What `session/update` says, not checked. */
  onUpdate(update: unknown): void;
  /** The answer to the prompt has come: nothing after it belongs to the turn. */
  onAnswered(): void;
}

type RequestId = string | number | null;

interface LooseMessage {
  readonly id?: RequestId;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Requests of the child that wait for an answer; more means that it does not read its input. */
const MAX_UNANSWERED = 1_000;

/**
 * Sorts what a child sends. Updates reach the turn of their session while it is open, between the moment its prompt left
 * and the moment its answer came; all others are dropped, those of other sessions counted. Answers that nobody has asked for, or that come a
 * second time, are dropped.
 */
export class TurnGate implements StreamObserver {
  /** Our requests without an answer. */
  readonly #pending = new Map<RequestId, string>();
  #turn: Turn | undefined;
  #isOpen = false;
  #unanswered = 0;
  readonly #whenAnswered: (() => void)[] = [];
  #foreignUpdates = 0;
  #received = 0;

  /** @param onFlood called once, when too many requests of the child wait. */
  constructor(private readonly onFlood: () => void) {}

  /** Updates of another session than that of the turn. */
  get foreignUpdates(): number {
    return this.#foreignUpdates;
  }

  /** Resolves when every request of the child has its answer. */
  get answered(): Promise<void> {
    if (this.#unanswered === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenAnswered.push(resolve));
  }

  /** Messages that came. */
  get received(): number {
    return this.#received;
  }

  /** Whether the child has a prompt that it has not answered. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opened by the next prompt that leaves. */
  begin(turn: Turn): void {
    this.#turn = turn;
    this.#isOpen = false;
  }

  /** Nothing reaches it any more. */
  end(turn: Turn): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#isOpen = false;
  }

  outgoing(message: AnyMessage): void {
    const { id, method } = message as LooseMessage;
    if (id === undefined) return;
    if (typeof method !== 'string') return;
    this.#pending.set(id, method);
    if (method === methods.agent.session.prompt) this.#isOpen = true;
  }

  written(message: AnyMessage): void {
    const { method } = message as LooseMessage;
    if (method === methods.agent.session.prompt) this.#turn?.onSent();
    if (typeof method === 'string') return;
    this.#unanswered -= 1;
    if (this.#unanswered === 0) for (const resolve of this.#whenAnswered.splice(0)) resolve();
  }

  incoming(message: AnyMessage): boolean {
    const { id, method, params } = message as LooseMessage;
    this.#received += 1;
    if (typeof method !== 'string') return this.#answer(id);
    this.#turn?.onTraffic();
    if (id !== undefined) {
      this.#unanswered += 1;
      if (this.#unanswered === MAX_UNANSWERED) this.onFlood();
      return true;
    }
    if (method !== methods.client.session.update) return true;
    this.#update(params);
    return false;
  }

  #answer(id: RequestId | undefined): boolean {
    const method = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || method === undefined) return false;
    this.#pending.delete(id);
    this.#turn?.onTraffic();
    if (method === methods.agent.session.prompt) {
      this.#isOpen = false;
      this.#turn?.onAnswered();
    }
    return true;
  }

  #update(params: unknown): void {
    const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: unknown };
    if (sessionId !== this.#turn?.sessionId) this.#foreignUpdates += 1;
    // What a session says before its prompt, such as the names of its commands, is no part of the turn.
    else if (this.#isOpen) this.#turn?.onUpdate(update);
  }
}
