import type { Scalar } from '../skill.js';

/** One piece of what a message or an artifact holds. */
export type TaskPart =
  | { readonly kind: 'text'; readonly text: string; readonly mediaType?: string }
  | { readonly kind: 'data'; readonly data: unknown; readonly mediaType?: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly name?: string; readonly mediaType?: string }
  | { readonly kind: 'url'; readonly url: string; readonly name?: string; readonly mediaType?: string };

/** One message to an agent, as whoever does the work sees it: no wire, no protocol version. */
export interface TaskRequest {
  readonly taskId: string;
  /** Tasks of one context are done one after the other and remember each other. */
  readonly contextId: string;
  readonly messageId: string;
  readonly parts: readonly TaskPart[];
  /** The capability that was agreed on or asked for; undefined: the words decide. */
  readonly capability: string | undefined;
  /** The parameters in force; empty without an agreement and without a wish. */
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly agreement: { readonly agreementId: string; readonly termsDigest: string } | undefined;
  /** How many delegations led here; 0 for a request from outside. */
  readonly hops: number;
  /** True if the message answers what the task asked for. */
  readonly isFollowUp: boolean;
  /** True if nothing comes before or after it in its context, as with a call: nothing has to be remembered. Default false. */
  readonly standsAlone?: boolean;
  /** Aborted when the task is cancelled, its time is over, or the agent stops; not when a client hangs up. */
  readonly signal: AbortSignal;
}

export interface TaskArtifact {
  /** Parts with the same id belong to one artifact. */
  readonly artifactId: string;
  readonly name: string;
  readonly description?: string;
  readonly parts: readonly TaskPart[];
  /** Adds to the parts that were there. Default false. */
  readonly append?: boolean;
  /** Default true. */
  readonly lastChunk?: boolean;
}

/** What whoever follows the task sees before it ends. Never throws, and does nothing once the task has ended. */
export interface TaskReporter {
  working(text: string): void;
  artifact(artifact: TaskArtifact): void;
}

/** How a turn of a task ended. `text` becomes the agent's message; a failed task never says more than is safe. */
export interface TaskOutcome {
  readonly state: 'completed' | 'input_required' | 'rejected' | 'failed';
  readonly text?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The result of exactly one described piece of work, for programs: the answer of a call. A JSON object. */
  readonly output?: Readonly<Record<string, unknown>>;
}

/**
 * The seam to thinking: being an agent asks for a task to be done and does not see by what.
 *
 * A throw is a failed task: an AppError by its message, anything else by a fixed sentence; the abort reason is a
 * cancelled one.
 */
export interface TaskExecutor {
  execute(request: TaskRequest, reporter: TaskReporter): Promise<TaskOutcome>;
}
