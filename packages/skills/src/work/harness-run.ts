import {
  Agent,
  openSession,
  SessionError,
  type AgentRunResult,
  type HarnessLogger,
  type ModelAdapter,
  type OpenedSession,
  type RunBudget,
  type RunObserver,
  type SessionStorage,
  type ToolHandler,
  type ToolMiddleware,
} from '@parley/harness';
import { AppError } from '@parley/service-kit';

export interface WorkOptions {
  readonly agentId: string;
  readonly model: ModelAdapter;
  /** Where runs are recorded, one session per context. Absent: nowhere. */
  readonly sessions?: SessionStorage;
  readonly observers?: readonly RunObserver[];
  /** Turns of one piece of work at most. Default 8. */
  readonly maxSteps?: number;
  readonly budget?: RunBudget;
  readonly logger?: HarnessLogger;
}

/** One run: what is asked, and what it may use. */
export interface RunPlan {
  readonly systemPrompt: string;
  readonly task: string;
  readonly handlers: readonly ToolHandler[];
  readonly middlewares?: readonly ToolMiddleware[];
  /** The session that the run goes on with; absent: none. */
  readonly contextId: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * One run of an agent that lives for it alone; what stays is the session.
 *
 * @throws AppError `unavailable` with code `journal_unavailable` for a session that cannot be opened.
 */
export async function runHarness(plan: RunPlan, options: WorkOptions): Promise<AgentRunResult> {
  const agent = await openAgent(plan, options);
  try {
    return await agent.run(plan.task, { signal: plan.signal });
  } finally {
    await agent.shutdown();
  }
}

/** @throws AppError `unavailable`: a run that did not complete is no answer. */
export function requireCompleted(result: AgentRunResult): void {
  if (result.stopReason === 'persistence_failed') throw withoutJournal(new Error(result.error ?? ''));
  if (result.status !== 'completed') throw notCompleted(result, result.error ?? result.stopReason);
}

export function notCompleted(result: AgentRunResult, why: string): AppError {
  return new AppError('unavailable', `The work was not completed: ${result.stopReason}.`, {
    code: 'work_failed',
    cause: new Error(why),
  });
}

/** How something was done, for whoever gets it. */
export function describeRun(result: AgentRunResult, model: ModelAdapter): Record<string, unknown> {
  return {
    run_id: result.runId,
    model: model.name,
    offline: model.offline === true,
    turns: result.turns,
    stop_reason: result.stopReason,
  };
}

async function openAgent(plan: RunPlan, options: WorkOptions): Promise<Agent> {
  const { agentId, model, observers = [], maxSteps = 8, budget, logger } = options;
  const { systemPrompt, handlers, middlewares = [] } = plan;
  const opened = await openContext(plan, options);
  const agent = new Agent(borrowed(model), {
    agentId,
    systemPrompt,
    handlers,
    middlewares,
    observers,
    runtimePolicy: { maxSteps, ...(budget === undefined ? {} : { budget }) },
    ...(opened === undefined ? {} : { session: opened.journal }),
    ...(logger === undefined ? {} : { logger }),
  });
  if (opened !== undefined && opened.session !== null) agent.restore(opened.session);
  return agent;
}

/** A run that a crash cut off is closed: the work is asked for again, or it is over. */
async function openContext(
  { contextId, signal }: RunPlan,
  { agentId, sessions }: WorkOptions,
): Promise<OpenedSession | undefined> {
  if (sessions === undefined || contextId === undefined) return undefined;
  return withJournal(
    openSession({ storage: sessions, sessionId: contextId, agentId, onUnfinished: 'abandon', signal }),
  );
}

/** @throws AppError `unavailable` with code `journal_unavailable` for what a journal could not do. */
export async function withJournal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof SessionError ? withoutJournal(error) : error;
  }
}

/** Work that is to be recorded and cannot be is not done: nobody could tell later what it was. */
function withoutJournal(cause: Error): AppError {
  return new AppError('unavailable', 'The journal of this work cannot be written.', {
    code: 'journal_unavailable',
    cause,
  });
}

/** All pieces of work share one model: an agent that ends must not stop it. */
function borrowed(model: ModelAdapter): ModelAdapter {
  return {
    name: model.name,
    ...(model.offline === undefined ? {} : { offline: model.offline }),
    stream: (request, signal) => model.stream(request, signal),
  };
}
