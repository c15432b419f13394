import { methods, type ContentBlock } from '@agentclientprotocol/sdk';
import { UpdateChannel, type JsonObject, type SubagentResult, type SubagentRun } from '@parley/harness';
import { within } from '@parley/shell';
import type { AcpConnection } from './acp-connection.js';
import type { AcpDeadlines } from './acp-deadlines.js';
import { AcpAuthRequiredError, AcpCancelledError, AcpTimeoutError } from './acp-errors.js';
import type { CancelLatch } from './cancel-latch.js';
import { OutputText } from './output-text.js';
import { PermissionDesk, type PermissionDeskOptions } from './permission-desk.js';
import { PromptTurn } from './prompt-turn.js';
import { isAuthRequired } from './request-failure.js';
import { cancelledEnd, failedEnd, runResult } from './run-ending.js';
import { promptEnd, type PromptEnd } from './stop-reasons.js';
import { UpdateMapping } from './update-mapping.js';
import { succeedsWithin, waitFor } from './waits.js';

export interface AcpRunParts {
  readonly id: string;
  readonly connection: AcpConnection;
  readonly sessionId: string;
  readonly latch: CancelLatch;
  readonly deadlines: AcpDeadlines;
  readonly maxOutputBytes: number;
  readonly permissions: Omit<PermissionDeskOptions, 'sessionId' | 'onWait'>;
  /** Called once, when the result is known; `isOrderly`: the child may be given another prompt. Never rejects. */
  readonly release: (result: SubagentResult, isOrderly: boolean) => Promise<void>;
}

/** A prompt at work in a session of a child. */
export class AcpRun implements SubagentRun {
  readonly id: string;
  readonly updates = new UpdateChannel();
  readonly result: Promise<SubagentResult>;
  readonly #output: OutputText;
  readonly #turn: PromptTurn;
  readonly #desk: PermissionDesk;
  readonly #result = Promise.withResolvers<SubagentResult>();
  readonly #gone = Promise.withResolvers<undefined>();

  constructor(private readonly parts: AcpRunParts) {
    const { id, sessionId, latch, deadlines, permissions } = parts;
    this.id = id;
    this.result = this.#result.promise;
    this.#output = new OutputText(parts.maxOutputBytes);
    const mapping = new UpdateMapping(this.#output, (update) => this.updates.push(update));
    const { idleMs, promptMs } = deadlines;
    const onUpdate = (update: unknown): void => mapping.read(update);
    const turn = new PromptTurn({ sessionId, idleMs, promptMs, signal: latch.signal, onUpdate });
    this.#turn = turn;
    this.#desk = new PermissionDesk({ ...permissions, sessionId, onWait: (isWaiting) => turn.wait(isWaiting) });
  }

  /** Resolves when nothing of the run is left: its child is gone, or free for another. Never rejects. */
  get gone(): Promise<undefined> {
    return this.#gone.promise;
  }

  /**
   * Sends the prompt; from then on the result tells everything. To be called once.
   *
   * @throws SubagentStartError if it was not sent, or not as a whole; the child is then to be ended.
   */
  async send(prompt: ContentBlock[], meta: JsonObject | undefined): Promise<void> {
    const { connection, latch } = this.parts;
    if (latch.signal.aborted) {
      this.#leave();
      throw new AcpCancelledError(latch.signal.reason);
    }
    const answer = connection.prompt(this.#turn, prompt, this.#desk, meta);
    answer.catch((error: unknown) => this.#turn.lost(error));
    try {
      await this.#untilSent();
    } catch (error) {
      this.#leave();
      throw await connection.startError(methods.agent.session.prompt, error);
    }
    void this.#follow(answer);
  }

  cancel(reason?: string): void {
    this.parts.latch.stop(reason === undefined ? undefined : new Error(reason));
  }

  async dispose(): Promise<void> {
    this.cancel();
    await this.#gone.promise;
  }

  /**
   * A prompt that the child may have read as a whole is never told as one that was not sent. That is known soon, unless
   * the child does not read.
   */
  async #untilSent(): Promise<void> {
    const { latch, deadlines } = this.parts;
    const { newSessionMs: timeoutMs, cancelGraceMs } = deadlines;
    try {
      await waitFor(this.#turn.sent, {
        signal: latch.signal,
        timeoutMs,
        timeoutError: () => new AcpTimeoutError(methods.agent.session.prompt, timeoutMs),
        abortError: () => new AcpCancelledError(latch.signal.reason),
      });
    } catch (error) {
      if (!(error instanceof AcpCancelledError && (await succeedsWithin(cancelGraceMs, this.#turn.sent)))) throw error;
    }
  }

  async #follow(answer: Promise<unknown>): Promise<void> {
    const end = await this.#end(answer);
    this.#leave();
    const result = runResult(end, this.#output);
    const released = this.parts.release(result, end.orderly);
    this.#result.resolve(result);
    await released;
    this.#gone.resolve(undefined);
  }

  /** Nothing of the child reaches the run any more, and nothing of the run the child. */
  #leave(): void {
    this.#turn.close();
    this.parts.connection.leave(this.#turn);
    this.#desk.close();
    this.updates.end();
    this.parts.latch.unlink();
  }

  async #end(answer: Promise<unknown>): Promise<PromptEnd> {
    const stop = await this.#turn.stopped;
    switch (stop.kind) {
      case 'answered':
        return this.#answered(answer);
      case 'lost':
        return this.#lost();
      case 'late':
        return this.#late(stop.diagnostic);
      case 'cancelled':
        return this.#cancelled(answer);
    }
  }

  async #answered(answer: Promise<unknown>): Promise<PromptEnd> {
    const { connection } = this.parts;
    try {
      return promptEnd(await answer);
    } catch (error) {
      if (isAuthRequired(error))
        return failedEnd(new AcpAuthRequiredError(connection.facts?.authMethods ?? []).message);
      return failedEnd(`the child answered its prompt with ${connection.describeRefusal(error)}`);
    }
  }

  async #lost(): Promise<PromptEnd> {
    const { connection } = this.parts;
    const diagnostic = await connection.describeLoss();
    // One whose output cannot be read may be at work still.
    if (connection.exit === undefined) await connection.end();
    return failedEnd(diagnostic);
  }

  /** A child that is told to have been too slow does nothing any more. */
  async #late(diagnostic: string): Promise<PromptEnd> {
    this.#askToStop();
    await this.parts.connection.end();
    return failedEnd(diagnostic);
  }

  async #cancelled(answer: Promise<unknown>): Promise<PromptEnd> {
    const { connection, latch, deadlines } = this.parts;
    this.#askToStop();
    if (!(await within(deadlines.cancelGraceMs, answer))) await connection.end();
    return cancelledEnd(latch.signal.reason);
  }

  #askToStop(): void {
    this.parts.connection.cancel(this.parts.sessionId);
    // The protocol wants every question that is open answered with "cancelled".
    this.#desk.close();
  }
}
