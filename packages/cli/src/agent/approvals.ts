import type { JsonObject, ToolDefinition } from '@parley/harness';

/** What may run without anybody being asked. */
export const ALLOWANCES = ['read', 'write', 'shell', 'all'] as const;
export type Allowance = (typeof ALLOWANCES)[number];

export interface ApprovalRequest {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  /** Aborted when the call is given up: the question is void then. */
  readonly signal: AbortSignal;
}

export type ApprovalAnswer = 'yes' | 'no' | 'always' | 'never';

/** Asks somebody. */
export type AskApproval = (request: ApprovalRequest) => Promise<ApprovalAnswer>;

export interface ApprovalDecision {
  readonly approved: boolean;
  readonly reason: string;
}

/** The kind of allowance that covers a tool; undefined if only `all` does. */
export function allowanceFor(tool: Pick<ToolDefinition, 'name' | 'effect'>): Allowance | undefined {
  if (tool.effect === 'read_only') return 'read';
  if (tool.name === 'shell') return 'shell';
  return FILE_WRITERS.has(tool.name) ? 'write' : undefined;
}

const FILE_WRITERS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** True if nobody has to be asked about a tool. */
export function isAllowed(tool: Pick<ToolDefinition, 'name' | 'effect'>, allowed: ReadonlySet<Allowance>): boolean {
  const needed = allowanceFor(tool);
  return allowed.has('all') || (needed !== undefined && allowed.has(needed));
}

/** Asks about one call at a time, and remembers the answers that were meant for a tool as a whole. */
export class Approvals {
  readonly #ask: AskApproval;
  readonly #remembered = new Map<string, 'always' | 'never'>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(ask: AskApproval) {
    this.#ask = ask;
  }

  /** Refused unless somebody said yes; also if asking failed or the call was given up meanwhile. */
  decide(request: ApprovalRequest): Promise<ApprovalDecision> {
    const decision = this.#last.then(() => this.#decide(request));
    this.#last = decision;
    return decision;
  }

  async #decide(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { toolName, signal } = request;
    const remembered = this.#remembered.get(toolName);
    const answer = remembered ?? (signal.aborted ? 'no' : await this.#answer(request));
    if (answer === 'always' || answer === 'never') this.#remembered.set(toolName, answer);
    const approved = (answer === 'yes' || answer === 'always') && !signal.aborted;
    return { approved, reason: approved ? 'approved by the user' : 'denied by the user' };
  }

  async #answer(request: ApprovalRequest): Promise<ApprovalAnswer> {
    try {
      return await this.#ask(request);
    } catch {
      return 'no';
    }
  }
}
