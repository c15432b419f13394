import type { JsonObject, JsonValue } from '../json.js';
import type { Message } from '../messages.js';
import type { RunUsage } from '../model/usage.js';
import type { RunBudget } from '../result.js';

/** What a provider can enforce on its children. A request that needs more is refused before any child exists. */
export interface SubagentCapabilities {
  /** The child's result fits a JSON Schema. */
  readonly outputSchema: boolean;
  /** The child cannot start children of its own below a depth. */
  readonly depthLimit: boolean;
  /** The child sees only some tools. */
  readonly toolFilter: boolean;
  /** The child is told who it is. */
  readonly persona: boolean;
}

export const SUBAGENT_STOP_REASONS = ['completed', 'aborted', 'error', 'max-tokens', 'refusal'] as const;
export type SubagentStopReason = (typeof SUBAGENT_STOP_REASONS)[number];

/** A part of what the child is asked. */
export type SubagentPromptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string; readonly mimeType?: string };

/** Who asks. */
export interface SubagentParent {
  readonly agentId: string;
  readonly runId?: string;
  /** How many parents it has itself: 0 for an agent that a person or a program started. */
  readonly depth: number;
  /** Its history, for children that begin with it. Read when the child starts. */
  readonly history?: () => readonly Message[];
}

/** Names of tools, by the names under which the parent knows them. */
export interface SubagentToolFilter {
  /** Only these. */
  readonly include?: readonly string[];
  /** All but these. */
  readonly exclude?: readonly string[];
}

/** Settings of the child that every provider takes as far as it can. */
export interface SubagentAgentOptions {
  /** Turns at most; a provider's own smaller limit stays. */
  readonly maxTurns?: number;
  /** Tokens and requests at most; a provider's own smaller limits stay. */
  readonly budget?: RunBudget;
  /** `fresh`: the child knows its prompt only. `fork`: it begins with the parent's history. Default: the provider's. */
  readonly context?: 'fresh' | 'fork';
}

export interface SubagentRequest {
  /** For people: shown in logs and progress. */
  readonly label: string;
  readonly prompt: readonly SubagentPromptBlock[];
  readonly parent: SubagentParent;
  /** Aborting it cancels the child, at any time from before its start. */
  readonly signal: AbortSignal;
  readonly agentOptions?: SubagentAgentOptions;
  /** A JSON Schema that `structured` of the result fits. */
  readonly outputSchema?: JsonObject;
  /** The deepest child allowed: 1 for children of the first agent, and none of theirs. */
  readonly maxDepth?: number;
  readonly toolFilter?: SubagentToolFilter;
  /** Who the child is. */
  readonly persona?: string;
}

/** Something that a child did on its way. */
export type SubagentUpdate =
  | { readonly kind: 'turn_started'; readonly turn: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'tool_started'; readonly callId: string; readonly tool: string }
  | { readonly kind: 'tool_completed'; readonly callId: string; readonly tool: string; readonly failed: boolean }
  /** Updates that were dropped because nobody read them in time. */
  | { readonly kind: 'dropped'; readonly count: number };

export interface SubagentResult {
  readonly stopReason: SubagentStopReason;
  /** The child's answer; empty if it gave none. */
  readonly output: string;
  /** What fits the request's `outputSchema`; only then, and only with `completed`. */
  readonly structured?: JsonValue;
  /** What went wrong, for people and models: at most 4,096 bytes, without secrets. */
  readonly diagnostic?: string;
  /** Where the provider knows it. */
  readonly usage?: RunUsage;
}

/** A child at work. */
export interface SubagentRun {
  readonly id: string;
  /** Never rejects: whatever becomes of the child is in the result. */
  readonly result: Promise<SubagentResult>;
  /** To be read once; ends with the child. Bounded: what nobody reads is dropped, oldest first. */
  readonly updates: AsyncIterable<SubagentUpdate>;
  /** Asks the child to stop; `result` then tells. Idempotent, does nothing after the end. */
  cancel(reason?: string): void;
  /** Cancels, and resolves when nothing of the child is left. Idempotent; never rejects. */
  dispose(): Promise<void>;
}

/** One kind of child: in this process, a program, an agent elsewhere. */
export interface SubagentProvider {
  readonly capabilities: SubagentCapabilities;
  /**
   * Resolves only when a child is ready and has its prompt. A rejection means that no child is left, and none has done
   * anything.
   *
   * @throws SubagentStartError
   */
  start(request: SubagentRequest): Promise<SubagentRun>;
}
