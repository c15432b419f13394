import type { AgentRunResult } from '../result.js';
import { abortable } from '../model/abortable.js';
import { SkillNotFoundError } from '../skills/skill-errors.js';
import { finishRun } from './finish-run.js';
import { observed } from './observed.js';
import type { Run } from './run.js';
import { endingOfError, type RunEnding } from './run-ending.js';
import { runLoop } from './run-loop.js';

/** What a run is to do, and what has to be ready for it. */
export interface RunAssignment {
  /** Null: go on from the history as it is. */
  readonly task: string | null;
  /** Name of a skill to use. */
  readonly skill: string | undefined;
  readonly sessionId: string | null;
  /** Starts what is not started. @throws what failed, after rolling back. */
  readonly startResources: (signal: AbortSignal) => Promise<void>;
}

type Phase = NonNullable<RunEnding['phase']>;

/** One run from its start to its result. Never rejects: whatever goes wrong is a result too. */
export function performRun(run: Run, assignment: RunAssignment): Promise<AgentRunResult> {
  const work = async (): Promise<AgentRunResult> => finishRun(run, await beginAndLoop(run, assignment));
  const { observers, model, logger } = run.services;
  if (observers.length === 0) return work();
  const { task, sessionId } = assignment;
  const intent = task === null ? 'continue' : 'task';
  const about = { agentId: run.agentId, runId: run.runId, task, intent, sessionId, modelName: model.name } as const;
  return observed(observers, (observer, inner: typeof work) => observer.aroundRun(about, inner), work, logger);
}

async function beginAndLoop(run: Run, assignment: RunAssignment): Promise<RunEnding> {
  let phase: Phase = 'start';
  try {
    run.throwIfAborted();
    await assignment.startResources(run.signal);
    phase = 'session';
    run.throwIfAborted();
    await openRun(run, assignment.task);
  } catch (error) {
    // Nothing is recorded and the history is as it was, but whoever listens hears of the run.
    await announce(run, assignment.task);
    return failedIn(phase, run, error);
  }
  await announce(run, assignment.task);
  try {
    phase = 'task_hook';
    await tellHandlers(run, assignment.task);
    phase = 'skill';
    selectSkill(run, assignment.skill);
  } catch (error) {
    return failedIn(phase, run, error);
  }
  return runLoop(run);
}

function failedIn(phase: Phase, run: Run, error: unknown): RunEnding {
  const ending = endingOfError(error, run.signal);
  return ending.stopReason === 'external_abort' ? ending : { ...ending, phase };
}

function openRun(run: Run, task: string | null): Promise<void> {
  const intent = task === null ? 'continue' : 'task';
  return run.ledger.open({ runId: run.runId, intent, task, signal: run.signal });
}

function announce(run: Run, task: string | null): Promise<void> {
  return run.emit(task === null ? { kind: 'agent_continued' } : { kind: 'agent_started', task });
}

function tellHandlers(run: Run, task: string | null): Promise<void> {
  const { agentId, runId, signal } = run;
  return abortable(run.services.tools.onTask({ agentId, runId, task, signal }), signal);
}

function selectSkill(run: Run, explicitName: string | undefined): void {
  const { skills } = run.services;
  if (skills === null && explicitName !== undefined) throw new SkillNotFoundError(explicitName, []);
  run.activeSkill = skills?.select(run.history.newestUserText, explicitName)?.text ?? null;
}
