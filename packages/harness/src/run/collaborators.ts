import type {
  CompactionDecision,
  CompactionPreparation,
  CompactionRequest,
  CompactionResult,
} from '../context/compaction-types.js';
import type { CompactionTrigger } from '../enums.js';
import type { Message } from '../messages.js';
import type { TaskContext } from '../tools/tool-handler.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolTurn, ToolTurnOutcome } from '../tools/tool-turn.js';

/** The tools of an agent, as a run uses them. */
export interface RunTools {
  readonly definitions: readonly ToolDefinition[];
  /** Tells handlers, then middlewares, that a run begins. */
  onTask(task: TaskContext): Promise<void>;
  /** Gives every call of the turn's message a result, whatever happens. */
  runTurn(turn: ToolTurn): Promise<ToolTurnOutcome>;
  /** Answers every call of the turn's message with an error and runs none. */
  refuseAll(turn: ToolTurn, errorText: string): Promise<void>;
}

/** The skills of an agent, as a run uses them. */
export interface RunSkills {
  /** Null if there are none. */
  readonly indexText: string | null;
  /** The skill that a text names, or the one asked for. @throws if there is no skill of that name. */
  select(newestUserText: string, explicitName?: string): { readonly name: string; readonly text: string } | null;
}

/** Puts a request together. */
export interface RunContextBuilder {
  build(parts: {
    readonly history: readonly Message[];
    readonly tools: readonly ToolDefinition[];
    readonly skillIndex: string | null;
    readonly activeSkill: string | null;
    readonly reminder: string | null;
  }): readonly Message[];
}

/** Watches how full the model's window is. */
export interface RunPressure {
  readonly compactsOnPressure: boolean;
  readonly compactsOnOverflow: boolean;
  /** How full a request with these messages and tools is. */
  evaluate(messages: readonly Message[], tools: readonly ToolDefinition[]): CompactionDecision;
  prepare(history: readonly Message[], trigger: CompactionTrigger): CompactionPreparation;
}

/** Shortens a history, and changes none itself. */
export interface RunCompactor {
  /** A request with an operation id of its own. */
  request(trigger: CompactionTrigger, preparation: CompactionPreparation): CompactionRequest;
  /** Never rejects: what goes wrong is in the result. `history` is null if it stays as it is. */
  run(operation: {
    readonly operationId: string;
    readonly trigger: CompactionTrigger;
    readonly preparation: CompactionPreparation;
    readonly signal: AbortSignal;
  }): Promise<{ readonly result: CompactionResult; readonly history: readonly Message[] | null }>;
}
