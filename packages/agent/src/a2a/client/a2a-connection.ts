import type { AgentCard } from '@a2a-js/sdk';
import type { TaskArtifact, TaskPart } from '../task-executor.js';

export type A2aBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

/** `unknown`: a state that this version does not know. */
export type A2aTaskState =
  | 'submitted'
  | 'working'
  | 'input_required'
  | 'auth_required'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'unknown';

export type A2aMetadata = Readonly<Record<string, unknown>>;

export interface A2aMessage {
  readonly messageId: string;
  readonly role: 'user' | 'agent';
  readonly contextId: string;
  readonly taskId: string;
  readonly parts: readonly TaskPart[];
  readonly metadata: A2aMetadata;
}

export interface A2aTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: A2aTaskState;
  /** What the agent says to its state. */
  readonly message: A2aMessage | undefined;
  readonly artifacts: readonly TaskArtifact[];
  readonly history: readonly A2aMessage[];
  readonly metadata: A2aMetadata;
  /** Of the state; ISO 8601. */
  readonly timestamp: string | undefined;
}

export type A2aAnswer =
  { readonly kind: 'task'; readonly task: A2aTask } | { readonly kind: 'message'; readonly message: A2aMessage };

/** One thing that a stream tells. */
export type A2aUpdate =
  | A2aAnswer
  | {
      readonly kind: 'status';
      readonly taskId: string;
      readonly contextId: string;
      readonly state: A2aTaskState;
      readonly message: A2aMessage | undefined;
      readonly metadata: A2aMetadata;
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: TaskArtifact;
      readonly metadata: A2aMetadata;
    };

export interface A2aCallOptions {
  readonly signal?: AbortSignal;
  /** For the whole call. Default: of the connection. */
  readonly deadlineMs?: number;
  /** Beside those of the connection; they win. */
  readonly headers?: Readonly<Record<string, string>>;
  /** URIs of extensions to activate. */
  readonly extensions?: readonly string[];
}

export interface A2aSendOptions extends A2aCallOptions {
  /** Continues a conversation. Default: the agent opens one. */
  readonly contextId?: string;
  /** Answers what this task asked for. */
  readonly taskId?: string;
  /** Default: a random UUID. */
  readonly messageId?: string;
  /** Of the message. */
  readonly metadata?: A2aMetadata;
  /** Messages of the task that come back with it. Default: as the agent likes. */
  readonly historyLength?: number;
  /** Media types that the answer may have. Default: any. */
  readonly acceptedOutputModes?: readonly string[];
}

export interface A2aListFilter {
  readonly contextId?: string;
  readonly state?: A2aTaskState;
  /** 1-100. */
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts?: boolean;
}

export interface A2aTaskPage {
  readonly tasks: readonly A2aTask[];
  /** Undefined on the last page. */
  readonly nextPageToken: string | undefined;
  readonly totalSize: number;
}

/**
 * One agent as seen by whoever asks it to do something, over whichever binding its card offers.
 *
 * Every method throws AppError: what the agent answers (`task_not_found`, `agreement_ended`, ...), `peer_unreachable`
 * (unavailable), `peer_timeout` (deadline_exceeded), `peer_invalid_answer` (bad_gateway), `target_refused` (forbidden),
 * `cancelled` for an abort.
 */
export interface A2aConnection {
  readonly card: AgentCard;
  /** The binding in use. */
  readonly binding: string;
  /** `1.0`, or `0.3` with an older agent. */
  readonly protocolVersion: string;
  /** Sends a message and waits until its task rests (ended, or asks for something). */
  send(
    parts: readonly TaskPart[],
    options?: A2aSendOptions & {
      /** Does not wait: the task is answered as soon as there is one. */ readonly returnImmediately?: boolean;
    },
  ): Promise<A2aAnswer>;
  /**
   * Sends a message and follows its task until it rests. A stream that breaks off is taken up once more by the task's id.
   * Leaving the loop ends the stream, not the task.
   * @throws AppError bad_gateway `stream_broken` when it breaks off for good: what became of the task is not known.
   */
  stream(parts: readonly TaskPart[], options?: A2aSendOptions): AsyncIterable<A2aUpdate>;
  /** Follows a task that exists; begins with how it is. @throws AppError as `stream` does. */
  subscribe(taskId: string, options?: A2aCallOptions): AsyncIterable<A2aUpdate>;
  getTask(taskId: string, options?: A2aCallOptions & { readonly historyLength?: number }): Promise<A2aTask>;
  listTasks(filter?: A2aListFilter, options?: A2aCallOptions): Promise<A2aTaskPage>;
  /** @throws AppError failed_precondition `task_not_cancelable` when it has ended. */
  cancelTask(taskId: string, options?: A2aCallOptions): Promise<A2aTask>;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}

/** Whether nothing more happens to the task. */
export function isTerminal(state: A2aTaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected';
}

/** Whether the task waits for somebody, or has ended: a stream may end here. */
export function isResting(state: A2aTaskState): boolean {
  return isTerminal(state) || state === 'input_required' || state === 'auth_required';
}
