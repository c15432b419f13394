import type { Delegate, Skill, TaskExecutor } from '@parley/agent';
import { JsonlSessionStorage, modelFromEnv, OpenTelemetryObserver, type ModelAdapter } from '@parley/harness';
import type { Logger } from '@parley/service-kit';
import { pruneJournals } from './prune-journals.js';
import { workByHarness } from './work-by-harness.js';
import type { WorkOptions } from './harness-run.js';
import { OfflineAgentModel } from './offline/offline-agent-model.js';
import { createTaskExecutor } from './tasks/create-task-executor.js';
import type { WorkConfig } from './work-env.js';

export interface CreateWorkOptions {
  readonly agentId: string;
  readonly config: WorkConfig;
  readonly logger: Logger;
  /** Default: the one that the configuration describes. */
  readonly model?: ModelAdapter;
}

/** Journals are counted again after so many pieces of work. */
const PRUNE_EVERY = 100;

/**
 * The skills of an agent service, each done by the harness: one model for all of them, one run per piece of work, one
 * journal per context where a folder is given.
 */
export function createWork(skills: readonly Skill[], options: CreateWorkOptions): Skill[] {
  const { work, prune } = workOf(options, undefined);
  return skills.map((skill) => {
    const worked = workByHarness(skill, work);
    if (prune === undefined) return worked;
    return {
      ...worked,
      run: async (input, context) => {
        prune();
        return worked.run(input, context);
      },
    };
  });
}

export interface CreateAgentTasksOptions extends CreateWorkOptions {
  /** Has done by others what the skills do not cover. Absent: nobody is asked. */
  readonly delegate?: Delegate;
}

/**
 * The tasks of an agent service, done by the harness with the same model, bounds and journals as {@link createWork}:
 * one run per turn, one journal per context where a folder is given. See {@link createTaskExecutor}.
 */
export function createAgentTasks(skills: readonly Skill[], options: CreateAgentTasksOptions): TaskExecutor {
  const { delegate, config } = options;
  const { work, prune } = workOf(options, new OfflineAgentModel());
  const tasks = createTaskExecutor(skills, {
    ...work,
    contexts: { maxContexts: config.AGENT_MAX_SESSIONS },
    ...(delegate === undefined ? {} : { delegate }),
  });
  return {
    execute: (request, reporter) => {
      prune?.();
      return tasks.execute(request, reporter);
    },
  };
}

/** @param offline the model that stands in where none is configured; undefined: the harness's own. */
function workOf(
  options: CreateWorkOptions,
  offline: ModelAdapter | undefined,
): { readonly work: WorkOptions; readonly prune: (() => void) | undefined } {
  const { agentId, config, logger } = options;
  const model = options.model ?? modelFromEnv(openAiEnv(config), { logger, ...(offline && { offline }) });
  const folder = config.AGENT_SESSIONS_DIR;
  const work: WorkOptions = {
    agentId,
    model,
    observers: [new OpenTelemetryObserver()],
    maxSteps: config.AGENT_MAX_STEPS,
    budget: { maxTotalTokens: config.AGENT_MAX_RUN_TOKENS },
    logger,
    ...(folder === undefined ? {} : { sessions: new JsonlSessionStorage(folder, { logger }) }),
  };
  const prune = folder === undefined ? undefined : pruning(folder, config.AGENT_MAX_SESSIONS, logger);
  return { work, prune };
}

/** Too many journals are worth a warning, not a failed piece of work. */
function pruning(folder: string, keep: number, logger: Logger): () => void {
  let begun = 0;
  return () => {
    begun += 1;
    if (begun % PRUNE_EVERY !== 1) return;
    pruneJournals(folder, keep).catch((error: unknown) => {
      logger.warn('Old journals could not be removed', { error });
    });
  };
}

function openAiEnv(config: WorkConfig): Record<string, string | undefined> {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = config;
  return { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL };
}
