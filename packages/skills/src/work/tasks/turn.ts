import type { Delegate, Skill, TaskRequest } from '@parley/agent';
import type { WorkOptions } from '../harness-run.js';
import type { ContextsOptions, LivingContext } from './contexts.js';
import type { TurnLedger } from './turn-ledger.js';

export interface TaskExecutorOptions extends WorkOptions {
  /** Has done by others what the skills do not cover. Absent: nobody is asked. */
  readonly delegate?: Delegate;
  /** What is remembered of contexts, and for how long. */
  readonly contexts?: Omit<ContextsOptions, 'newSessions'>;
  /** Ids of artifacts. Default: random UUIDs. */
  readonly newId?: () => string;
}

/** What every turn is done with. */
export interface TurnTools {
  readonly skills: readonly Skill[];
  readonly options: TaskExecutorOptions;
}

/** One turn, with what its context remembers. */
export interface Turn {
  readonly request: TaskRequest;
  readonly context: LivingContext;
  readonly ledger: TurnLedger;
}
