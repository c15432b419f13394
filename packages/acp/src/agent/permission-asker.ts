import { RequestError, type PermissionOption } from '@agentclientprotocol/sdk';
import type { ToolApprovalDecision, ToolApprovalRequest } from '@parley/harness';
import { z } from 'zod';

export interface PermissionAskerOptions {
  /** Asks the client. @throws what the client or the connection failed with, or the signal's reason. */
  readonly ask: (request: ToolApprovalRequest, options: PermissionOption[], signal: AbortSignal) => Promise<unknown>;
  /** The client gave up the turn. */
  readonly onCancelled: () => void;
  /** Hears of every call that may run. */
  readonly onAllowed: (callId: string) => Promise<void>;
}

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow_always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject_always', name: 'Always reject', kind: 'reject_always' },
];

const answerSchema = z.object({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('cancelled') }),
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
  ]),
});

const METHOD_NOT_FOUND = -32601;
const DENIED: ToolApprovalDecision = { approved: false, reason: 'denied by the user' };
const ALLOWED: ToolApprovalDecision = { approved: true };

/**
 * Asks a client about one call at a time, and remembers for the length of the session what was answered for good. Only
 * an option that allows lets a call run.
 */
export class PermissionAsker {
  readonly #options: PermissionAskerOptions;
  readonly #remembered = new Map<string, boolean>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PermissionAskerOptions) {
    this.#options = options;
  }

  approve(request: ToolApprovalRequest, signal: AbortSignal): Promise<ToolApprovalDecision> {
    const decision = this.#last.then(() => this.#decide(request, signal));
    this.#last = decision.catch(() => undefined);
    return decision;
  }

  async #decide(request: ToolApprovalRequest, signal: AbortSignal): Promise<ToolApprovalDecision> {
    signal.throwIfAborted();
    const remembered = this.#remembered.get(request.toolName);
    if (remembered !== undefined) return remembered ? ALLOWED : DENIED;
    let answer: unknown;
    try {
      answer = await this.#options.ask(request, [...OPTIONS], signal);
    } catch (error) {
      signal.throwIfAborted();
      const cannotAsk = error instanceof RequestError && error.code === METHOD_NOT_FOUND;
      return {
        approved: false,
        reason: cannotAsk ? 'the client cannot be asked for permission' : 'asking for permission failed',
      };
    }
    return this.#take(request, answer);
  }

  async #take({ toolName, callId }: ToolApprovalRequest, answer: unknown): Promise<ToolApprovalDecision> {
    const parsed = answerSchema.safeParse(answer);
    if (!parsed.success) return { approved: false, reason: 'the client gave no valid answer' };
    const { outcome } = parsed.data;
    if (outcome.outcome === 'cancelled') {
      this.#options.onCancelled();
      return { approved: false, reason: 'the turn was cancelled' };
    }
    const kind = OPTIONS.find(({ optionId }) => optionId === outcome.optionId)?.kind;
    const isAllowed = kind === 'allow_once' || kind === 'allow_always';
    if (kind === 'allow_always' || kind === 'reject_always') this.#remembered.set(toolName, isAllowed);
    if (!isAllowed) return DENIED;
    await this.#options.onAllowed(callId);
    return ALLOWED;
  }
}
