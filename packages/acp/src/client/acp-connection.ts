import {
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type ClientConnection,
  type ContentBlock,
  type McpServer,
} from '@agentclientprotocol/sdk';
import { SubagentStartError, type JsonObject } from '@parley/harness';
import { within } from '@parley/shell';
import type { AcpChild } from './acp-child.js';
import type { AcpDeadlines } from './acp-deadlines.js';
import {
  AcpAuthRequiredError,
  AcpCancelledError,
  AcpChildError,
  AcpRefusedError,
  AcpTimeoutError,
} from './acp-errors.js';
import { describeLoss } from './child-loss.js';
import { agentFacts, type AgentFacts } from './agent-facts.js';
import { observeStream } from './observed-stream.js';
import type { PermissionDesk } from './permission-desk.js';
import { choosePermission, PERMISSION_CANCELLED, type PermissionOutcome } from './permission-policy.js';
import { parsePermissionQuestion, type PermissionQuestion } from './permission-question.js';
import { describeFailure, isAuthRequired } from './request-failure.js';
import { TurnGate, type Turn } from './turn-gate.js';
import { succeedsWithin, waitFor } from './waits.js';

export interface AcpSessionSettings {
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
}

interface AskLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly elapsedMs: number;
}

const MAX_ID_CHARS = 4_096;
/** For the answer to `session/close`. */
const CLOSE_SESSION_MS = 2_000;

const CLIENT_INFO = { name: 'parley', version: '0.1.0' };
/** It has no files and no terminal to offer: an outside child has its own. */
const CLIENT_CAPABILITIES = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };

/** How long a child that is to end may take to read its last answers. */
const LAST_WORDS_MS = 200;
/** When its exit is known, its last messages may not all have been read: as long as one follows the other, all together. */
const LAST_MESSAGE_MS = 250;
const LAST_MESSAGES_MS = 5_000;

/** The protocol with one child, from `initialize` to its end. Whoever has one must `end` it. */
export class AcpConnection {
  readonly #gate = new TurnGate(() => this.#connection.close(new AcpChildError('the child does not read its input')));
  readonly #connection: ClientConnection;
  /** All that it ever opened. */
  readonly #sessions = new Set<string>();
  #facts: AgentFacts | undefined;
  #desk: PermissionDesk | undefined;
  #cancelling: Promise<void> = Promise.resolve();
  #ending: Promise<void> | undefined;

  constructor(
    private readonly child: AcpChild,
    private readonly deadlines: AcpDeadlines,
  ) {
    this.#connection = client({ name: CLIENT_INFO.name })
      .onRequest(methods.client.session.requestPermission, parsePermissionQuestion, async ({ params, signal }) => ({
        outcome: await this.#decide(params, signal),
      }))
      .connect(observeStream(child.stream, this.#gate));
    void child.exited.then(() => this.#closeAfterExit());
  }

  /** What it says of itself; undefined before `initialize`. */
  get facts(): AgentFacts | undefined {
    return this.#facts;
  }

  get exit(): AcpChild['exit'] {
    return this.child.exit;
  }

  get garbageLines(): number {
    return this.child.garbageLines;
  }

  allowGarbageAgain(): void {
    this.child.allowGarbageAgain();
  }

  get foreignUpdates(): number {
    return this.#gate.foreignUpdates;
  }

  /** How many sessions it had. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  get isAlive(): boolean {
    return !this.#connection.signal.aborted && this.#ending === undefined;
  }

  /** Resolves when nothing more can come of it. Never rejects. */
  get lost(): Promise<void> {
    return this.#connection.closed;
  }

  /**
   * @param elapsedMs since the start of the child.
   * @throws SubagentStartError
   */
  async initialize(elapsedMs: number, signal: AbortSignal): Promise<void> {
    const { initializeMs: timeoutMs } = this.deadlines;
    const params = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: CLIENT_INFO,
      clientCapabilities: CLIENT_CAPABILITIES,
    };
    this.#facts = agentFacts(await this.#ask(methods.agent.initialize, params, { timeoutMs, elapsedMs, signal }));
  }

  /**
   * Its id, which the child has never given before.
   *
   * @throws SubagentStartError
   */
  async newSession({ cwd, mcpServers }: AcpSessionSettings, signal: AbortSignal): Promise<string> {
    const method = methods.agent.session.new;
    const params = { cwd, mcpServers: [...mcpServers] };
    const answer = await this.#ask(method, params, { timeoutMs: this.deadlines.newSessionMs, elapsedMs: 0, signal });
    const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
    if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > MAX_ID_CHARS)
      throw new AcpRefusedError(method, 'answered without an id that can be used');
    // Events that are still to come of the earlier one could not be told from those of the new one.
    if (this.#sessions.has(sessionId)) throw new AcpRefusedError(method, 'gave the id of an earlier session');
    this.#sessions.add(sessionId);
    return sessionId;
  }

  /** Sends a prompt. The turn tells what comes of it; the promise is that of the answer, not checked. */
  prompt(turn: Turn, prompt: ContentBlock[], desk: PermissionDesk, meta: JsonObject | undefined): Promise<unknown> {
    this.#gate.begin(turn);
    this.#desk = desk;
    const params = { sessionId: turn.sessionId, prompt, ...(meta === undefined ? {} : { _meta: { ...meta } }) };
    return this.#connection.agent.request(methods.agent.session.prompt, params);
  }

  /** Nothing reaches the turn any more. */
  leave(turn: Turn): void {
    this.#gate.end(turn);
    this.#desk = undefined;
  }

  /** Asks the child to stop its turn, if it has one. */
  cancel(sessionId: string): void {
    if (!this.#gate.isOpen) return;
    this.#cancelling = this.#connection.agent.notify(methods.agent.session.cancel, { sessionId });
    this.#cancelling.catch(() => undefined);
  }

  get closesSessions(): boolean {
    return this.#facts?.closesSessions === true;
  }

  /** Whether the child says that it is closed. Never rejects. */
  closeSession(sessionId: string): Promise<boolean> {
    const closing = this.#connection.agent.request(methods.agent.session.close, { sessionId });
    return succeedsWithin(CLOSE_SESSION_MS, closing);
  }

  /** An error that can be thrown by a start, from whatever a request has failed with. */
  async startError(method: string, error: unknown): Promise<SubagentStartError> {
    if (error instanceof SubagentStartError) return error;
    if (isAuthRequired(error)) return new AcpAuthRequiredError(this.#facts?.authMethods ?? []);
    if (error instanceof RequestError) return new AcpRefusedError(method, this.describeRefusal(error), error);
    return new AcpChildError(await this.describeLoss(), error);
  }

  /** An error that the child has answered with, in words. */
  describeRefusal(error: unknown): string {
    const text = describeFailure(error);
    return this.child.safeText?.(text) ?? text;
  }

  /** Why it was lost, in words. */
  describeLoss(): Promise<string> {
    return describeLoss(this.child, this.#connection.signal.reason);
  }

  /** Resolves when nothing of the child is left. Idempotent; never rejects. */
  end(atOnce = false): Promise<void> {
    this.#ending ??= this.#end(atOnce);
    return this.#ending;
  }

  /** The end of its output closes the connection too, and after its last message; but somebody else may hold it open. */
  async #closeAfterExit(): Promise<void> {
    const closed = this.#connection.closed;
    const giveUpAt = performance.now() + LAST_MESSAGES_MS;
    for (let received = -1; received < this.#gate.received && performance.now() < giveUpAt;) {
      received = this.#gate.received;
      if (await within(LAST_MESSAGE_MS, closed)) return;
    }
    this.#connection.close();
  }

  async #end(atOnce: boolean): Promise<void> {
    // Its input is closed then: what it was told last has to be in it.
    const told = Promise.all([this.#gate.answered, this.#cancelling]);
    await within(LAST_WORDS_MS, Promise.race([told, this.#connection.closed]));
    await this.child.end(atOnce);
    this.#connection.close();
  }

  async #ask(method: string, params: unknown, limits: AskLimits): Promise<unknown> {
    const { signal, timeoutMs, elapsedMs } = limits;
    try {
      return await waitFor(this.#connection.agent.request(method, params), {
        signal,
        timeoutMs: timeoutMs - elapsedMs,
        timeoutError: () => new AcpTimeoutError(method, timeoutMs),
        abortError: () => new AcpCancelledError(signal.reason),
      });
    } catch (error) {
      throw await this.startError(method, error);
    }
  }

  /**
   * Whoever asks gets an answer, or the child waits for ever. Only the session of the run is the policy's business: for
   * one that nobody here has opened nothing is allowed, and one that has ended gets what ended ones get.
   */
  async #decide(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionOutcome> {
    if (question.sessionId === this.#desk?.sessionId) return this.#desk.answer(question, signal);
    return this.#sessions.has(question.sessionId) ? PERMISSION_CANCELLED : choosePermission('reject', question.options);
  }
}
