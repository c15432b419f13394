import type { Delegate, Skill, TaskExecutor } from '@parley/agent';
import { JsonlSessionStorage, modelFromEnv, OpenTelemetryObserver, type ModelAdapter } from '@parley/harness';
import type { Logger, Metrics } from '@parley/service-kit';
import { pruneJournals } from './prune-journals.js';
import { OfflineAgentModel } from './offline/offline-agent-model.js';
import { runMetrics } from './run-metrics.js';
import { createTaskExecutor } from './tasks/create-task-executor.js';
import type { WorkConfig } from './work-env.js';

/** Journals are counted again after so many turns and calls. */
const PRUNE_EVERY = 100;

export interface CreateAgentTasksOptions {
  readonly agentId: string;
  readonly config: WorkConfig;
  readonly logger: Logger;
  /** Default: the one that the configuration describes. */
  readonly model?: ModelAdapter;
  /** Has done by others what the skills do not cover. Absent: nobody is asked. */
  readonly delegate?: Delegate;
  /** Where runs and their tokens are counted. Absent: nowhere. */
  readonly metrics?: Metrics;
}

/**
 * The work of an agent service, tasks and calls alike: one model for all of it, one run per turn or call, one journal per
 * context where a folder is given. See {@link createTaskExecutor}.
 */
export function createAgentTasks(skills: readonly Skill[], options: CreateAgentTasksOptions): TaskExecutor {
  const { agentId, delegate, config, logger } = options;
  const folder = config.AGENT_SESSIONS_DIR;
  const tasks = createTaskExecutor(skills, {
    agentId,
    model: options.model ?? modelFromEnv(openAiEnv(config), { logger, offline: new OfflineAgentModel() }),
    observers: [new OpenTelemetryObserver(), ...(options.metrics === undefined ? [] : [runMetrics(options.metrics)])],
    maxSteps: config.AGENT_MAX_STEPS,
    budget: { maxTotalTokens: config.AGENT_MAX_RUN_TOKENS },
    logger,
    contexts: { maxContexts: config.AGENT_MAX_SESSIONS },
    ...(folder === undefined ? {} : { sessions: new JsonlSessionStorage(folder, { logger }) }),
    ...(delegate === undefined ? {} : { delegate }),
  });
  if (folder === undefined) return tasks;
  const prune = pruning(folder, config.AGENT_MAX_SESSIONS, logger);
  return {
    execute: (request, reporter) => {
      prune();
      return tasks.execute(request, reporter);
    },
  };
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
