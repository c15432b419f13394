import type { BehaviorHook } from '../agent/agent-options.js';
import type { AgentEventPayload } from '../events.js';
import type { RunEvents } from '../events/event-hub.js';
import type { HarnessLogger } from '../logger.js';
import type { ModelAdapter } from '../model/model-adapter.js';
import { emptyRunUsage } from '../model/usage-accounting.js';
import type { RunUsage } from '../model/usage.js';
import type { AgentRunResult, RunBudget } from '../result.js';
import type { RunObserver } from '../run-observer.js';
import type { Cancellation } from './cancellation.js';
import type { RunCompactor, RunContextBuilder, RunPressure, RunSkills, RunTools } from './collaborators.js';
import type { History } from './history.js';
import type { RunLedger } from './run-ledger.js';
import type { RunPolicy } from './run-policy.js';
import type { SteeringQueue } from './steering-queue.js';

/** What all runs of one agent share. */
export interface RunServices {
  readonly agentId: string;
  readonly model: ModelAdapter;
  readonly tools: RunTools;
  /** Null without a folder of skills. */
  readonly skills: RunSkills | null;
  readonly contextBuilder: RunContextBuilder;
  /** Null if nobody watches the window. */
  readonly pressure: RunPressure | null;
  /** Null if nothing can be compacted. */
  readonly compactor: RunCompactor | null;
  readonly hooks: readonly BehaviorHook[];
  readonly observers: readonly RunObserver[];
  readonly policy: RunPolicy;
  readonly logger: HarnessLogger;
  readonly newId: () => string;
}

/** What belongs to one run alone. */
export interface RunParts {
  readonly runId: string;
  readonly events: RunEvents;
  readonly ledger: RunLedger;
  readonly history: History;
  readonly steering: SteeringQueue;
  readonly cancellation: Cancellation;
  readonly budget: RunBudget;
  /** Called before anybody else hears of the result. */
  readonly keepResult: (result: AgentRunResult) => void;
}

/** The state of one run, which the phases of its loop read and move on. */
export class Run {
  readonly runId: string;
  readonly events: RunEvents;
  readonly ledger: RunLedger;
  readonly history: History;
  readonly steering: SteeringQueue;
  readonly cancellation: Cancellation;
  readonly budget: RunBudget;
  readonly keepResult: (result: AgentRunResult) => void;
  /** The turn that goes on, from 1; 0 before the first. */
  turn = 0;
  usage: RunUsage = emptyRunUsage();
  /** Text of the answer that is being streamed; empty once it is committed. */
  partialText = '';
  /** Whether anything of that answer was shown: it cannot be asked for again then. */
  answerShown = false;
  /** Plain answers in a row, where a tool has to finish the run. */
  noToolAnswers = 0;
  /** Goes into the next request only. */
  reminder: string | null = null;
  /** The full text of the skill in use. */
  activeSkill: string | null = null;

  constructor(
    readonly services: RunServices,
    parts: RunParts,
  ) {
    this.runId = parts.runId;
    this.events = parts.events;
    this.ledger = parts.ledger;
    this.history = parts.history;
    this.steering = parts.steering;
    this.cancellation = parts.cancellation;
    this.budget = parts.budget;
    this.keepResult = parts.keepResult;
  }

  get agentId(): string {
    return this.services.agentId;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  emit(payload: AgentEventPayload): Promise<void> {
    return this.events.emit(payload);
  }

  /** @throws AgentCancelledError if the run was aborted. */
  throwIfAborted(): void {
    this.signal.throwIfAborted();
  }
}
