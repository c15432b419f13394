import type { Skill, SkillContext } from '@parley/agent';
import {
  SubagentStartError,
  type HarnessLogger,
  type SubagentProvider,
  type SubagentResult,
  type SubagentRun,
} from '@parley/harness';
import { AppError } from '@parley/service-kit';
import type { z } from 'zod';
import { stopIfAborted } from '../checkpoint.js';
import { defineSkill } from '../define-skill.js';
import type { ChildSlots } from './child-slots.js';
import { readAnswer, writeErrand } from './skill-errand.js';

export interface SkillInChildOptions {
  readonly provider: SubagentProvider;
  /** In whose name children are started. */
  readonly agentId: string;
  readonly slots: ChildSlots;
  /** The shape of what the skill gives; what a child says is not believed without. */
  readonly output: z.ZodType<Record<string, unknown>>;
  /** Whether the provider gives a child that has answered to the next piece of work. */
  readonly keepsChildren: boolean;
  /** Input of a first run that shows whether children can be started, and warms one up. Absent: there is none. */
  readonly trial?: unknown;
  /** Ends what the provider holds. */
  readonly close: () => Promise<void>;
  /** Hears of why a child failed, which callers are not told. */
  readonly logger: HarnessLogger;
}

/**
 * The same skill, done by a child: same input, same output, same refusals. The event loop is free meanwhile, and an
 * abort ends the child whatever it is doing.
 *
 * `run` throws beside what the skill throws: `unavailable` with code `subagent_not_started` or `subagent_failed` (also
 * if its time was over), `bad_gateway` with code `subagent_answer_invalid`, `too_many_requests` with `subagents_busy`.
 */
export class SkillInChild {
  readonly #skill: Skill;
  readonly #options: SkillInChildOptions;
  /** Children that have answered and are on their way out. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(skill: Skill, options: SkillInChildOptions) {
    this.#skill = skill;
    this.#options = options;
  }

  get skill(): Skill {
    const { trial, close } = this.#options;
    return defineSkill({
      ...this.#skill,
      run: (input: unknown, context: SkillContext) => this.#run(input, context),
      // What the skill itself would load is loaded by its children.
      prepare: async () => {
        if (trial !== undefined) await this.#run(trial, { parameters: {}, signal: AbortSignal.timeout(PREPARE_MS) });
      },
      close: async () => {
        await close();
        await Promise.all(this.#leaving);
      },
    });
  }

  async #run(input: unknown, { parameters, signal }: SkillContext): Promise<Record<string, unknown>> {
    const { capability } = this.#skill;
    stopIfAborted(signal);
    await this.#takeSlot(signal);
    let isAnswered = false;
    let run: SubagentRun | undefined;
    try {
      run = await start(capability, writeErrand({ tool: capability, input, parameters }), signal, this.#options);
      const result = await run.result;
      stopIfAborted(signal);
      isAnswered = result.stopReason === 'completed';
      return outputOf(capability, result, this.#options);
    } finally {
      const gone = this.#leave(run);
      // Whoever cancelled may count on it that nothing goes on. One that has answered is waited for only if it is kept:
      // then it is free at once, and the next piece of work must find it.
      if (!isAnswered || this.#options.keepsChildren) await gone;
    }
  }

  async #takeSlot(signal: AbortSignal): Promise<void> {
    try {
      await this.#options.slots.take(signal);
    } catch (error) {
      stopIfAborted(signal);
      throw error;
    }
  }

  #leave(run: SubagentRun | undefined): Promise<void> {
    const gone = (run?.dispose() ?? Promise.resolve()).then(() => {
      this.#options.slots.free();
      this.#leaving.delete(gone);
    });
    this.#leaving.add(gone);
    return gone;
  }
}

/** A machine that is busy with its own start takes its time. */
const PREPARE_MS = 60_000;

async function start(
  capability: string,
  text: string,
  signal: AbortSignal,
  { provider, agentId, logger }: SkillInChildOptions,
): Promise<SubagentRun> {
  try {
    return await provider.start({
      label: capability,
      prompt: [{ type: 'text', text }],
      parent: { agentId, depth: 0 },
      signal,
    });
  } catch (error) {
    stopIfAborted(signal);
    if (!(error instanceof SubagentStartError)) throw error;
    logger.warn(`${capability} could not be started in a process of its own`, { error });
    throw new AppError('unavailable', `${capability} could not be started in a process of its own.`, {
      code: 'subagent_not_started',
      cause: error,
    });
  }
}

function outputOf(
  capability: string,
  { stopReason, output, diagnostic }: SubagentResult,
  options: SkillInChildOptions,
): Record<string, unknown> {
  if (stopReason !== 'completed') {
    const cause = new Error(diagnostic ?? stopReason);
    options.logger.warn(`${capability} failed in a process of its own`, { stop_reason: stopReason, error: cause });
    throw new AppError('unavailable', `${capability} was not completed: the process that did it failed.`, {
      code: 'subagent_failed',
      cause,
    });
  }
  const answer = readAnswer(output);
  if (answer === undefined) throw invalidAnswer(capability, 'it is none');
  if ('error' in answer) throw answer.error;
  const read = options.output.safeParse(answer.output);
  if (!read.success) throw invalidAnswer(capability, read.error.message);
  return read.data;
}

function invalidAnswer(capability: string, why: string): AppError {
  return new AppError('bad_gateway', `What the process that did ${capability} answered cannot be used.`, {
    code: 'subagent_answer_invalid',
    cause: new Error(why),
  });
}
