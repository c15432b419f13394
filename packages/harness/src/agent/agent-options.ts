import type { AutoCompactionPolicy, CompactionPolicy, Compactor } from '../context/compaction-types.js';
import type { BehaviorAction, FollowUpFailurePolicy } from '../enums.js';
import type { AgentEventSink } from '../events.js';
import type { HarnessLogger } from '../logger.js';
import type { AssistantMessage, Message, ToolMessage } from '../messages.js';
import type { RunBudget } from '../result.js';
import type { RunObserver } from '../run-observer.js';
import type { SessionJournal } from '../session/session-journal.js';
import type { ToolHandler, ToolMiddleware } from '../tools/tool-handler.js';

/** How a run behaves. Every field has a default. */
export interface RuntimePolicy {
  /** Turns at most. Default 20. */
  readonly maxSteps?: number;
  /** Only a tool that answers `complete` ends a run well; plain text is reminded of it. Default false. */
  readonly requireExplicitFinish?: boolean;
  /** Plain answers in a row that fail a run which requires an explicit finish. Default 3. */
  readonly maxNoToolResponses?: number;
  /** The same call so many times in a row is not executed and fails the run. Default 3. */
  readonly repeatLimit?: number;
  /** Contiguous read-only calls run at the same time. Default false. */
  readonly parallelToolCalls?: boolean;
  /** How many at the same time. Default 8. */
  readonly maxParallelToolCalls?: number;
  /** Limit of every run; a run's own `budget` replaces it. */
  readonly budget?: RunBudget;
  /**
   * One call's time from when its handler is reached, in milliseconds; then its signal is aborted and the model gets an
   * error result. Default none.
   */
  readonly toolTimeoutMs?: number;
  /** How long an aborted call is waited for, in milliseconds, before its outcome counts as unknown. Default 5,000. */
  readonly abortGraceMs?: number;
  /** One request's time from its start to its end, in milliseconds. Default 600,000. */
  readonly modelTimeoutMs?: number;
  /** The longest silence of a stream, in milliseconds. Default 120,000. */
  readonly modelIdleTimeoutMs?: number;
}

/** What a hook sees: copies, never the agent's own state. */
export interface TurnSnapshot {
  readonly agentId: string;
  readonly runId: string;
  readonly turn: number;
  readonly message: AssistantMessage;
  readonly toolMessages: readonly ToolMessage[];
  readonly history: readonly Message[];
}

export interface BehaviorDecision {
  readonly action: BehaviorAction;
  /** The run's output; default the turn's text. Only with `stop`. */
  readonly output?: string;
}

/** Decides between turns whether a run may go on. The first `stop` wins; undefined goes on. */
export interface BehaviorHook {
  afterTurn(
    snapshot: TurnSnapshot,
    signal: AbortSignal,
  ): Promise<BehaviorDecision | undefined> | BehaviorDecision | undefined;
}

export interface ContextOptions {
  readonly policy: CompactionPolicy;
  readonly compactor?: Compactor;
  /** Automatic compaction; without it pressure is only observed. */
  readonly auto?: AutoCompactionPolicy;
}

export interface AgentOptions {
  /** Default `agent`. */
  readonly agentId?: string;
  readonly systemPrompt?: string;
  readonly handlers?: readonly ToolHandler[];
  readonly middlewares?: readonly ToolMiddleware[];
  readonly runtimePolicy?: RuntimePolicy;
  readonly hooks?: readonly BehaviorHook[];
  /** A folder whose children hold a SKILL.md. */
  readonly skillsDir?: string;
  /** Where runs are recorded; without it history is in memory only. */
  readonly session?: SessionJournal;
  readonly context?: ContextOptions;
  readonly sinks?: readonly AgentEventSink[];
  readonly observers?: readonly RunObserver[];
  /** Default 16. */
  readonly steeringQueueCapacity?: number;
  /** Follow-ups not yet started. Default 16. */
  readonly followUpQueueCapacity?: number;
  /** Default `discard`. */
  readonly followUpFailurePolicy?: FollowUpFailurePolicy;
  readonly logger?: HarnessLogger;
  /** 32 hexadecimal digits, new each time. */
  readonly newId?: () => string;
}

export interface RunOptions {
  /** Name of a skill to use, as if the task had named it. */
  readonly skill?: string;
  /** Aborting it aborts the run. */
  readonly signal?: AbortSignal;
  readonly budget?: RunBudget;
}
