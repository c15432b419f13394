import { randomUUID } from 'node:crypto';
import { createDelegate } from '@parley/agent';
import {
  outputCheck,
  SubagentCapabilityError,
  SubagentStartError,
  type SubagentProvider,
  type SubagentRequest,
  type SubagentRun,
} from '@parley/harness';
import type { A2aErrand, A2aSubagentOptions } from './a2a-subagent-options.js';
import { A2aSubagentRun, type OutputChecks } from './a2a-subagent-run.js';
import { HeldAgreements } from './held-agreements.js';

/**
 * Subagents that are agents elsewhere: found in the registry by what they can do, negotiated with, called over A2A, let
 * go of at the end. While no agent has the work, the next one is asked; after that never, because the work might be done
 * twice.
 *
 * @example
 * ```ts
 * registry.register('a2a', new A2aSubagentProvider({
 *   agent, registryUrl: 'http://127.0.0.1:8000',
 *   errand: { capability: 'summarize' },
 *   errands: { review: { capability: 'code_review@^1', parameters: { severity: 'warning' } } },
 * }));
 * ```
 */
export class A2aSubagentProvider implements SubagentProvider {
  /** `outputSchema` if some errand says what its agents hand in; a request for another one is refused by `start`. */
  readonly capabilities;
  readonly #options: A2aSubagentOptions;
  readonly #newId: () => string;

  constructor(options: A2aSubagentOptions) {
    this.#options = options;
    this.#newId = options.newId ?? randomUUID;
    const errands = [options.errand, ...Object.values(options.errands ?? {})];
    const outputSchema = errands.some((errand) => errand.outputSchema !== undefined);
    this.capabilities = { outputSchema, depthLimit: false, toolFilter: false, persona: false };
  }

  /**
   * Resolves with the first word of the agent that has taken the task.
   *
   * @throws SubagentStartError: nobody has agreed, or was called; no agreement is left. An agent that was called and may
   * have begun is never told of in this way: its run ends with `error` or `aborted`.
   */
  async start(request: SubagentRequest): Promise<SubagentRun> {
    const errand = this.#errandOf(request);
    const checks = checksOf(errand, request);
    if (request.signal.aborted) throw new SubagentStartError('subagent_cancelled', 'cancelled before it started');
    const { agent, releaseMs = 3_000, registryUrl, connect, limits, logger, candidates = {} } = this.#options;
    const held = new HeldAgreements(agent, candidates, releaseMs);
    const delegate = createDelegate({
      agent: held,
      registryUrl,
      ...(connect === undefined ? {} : { connect }),
      ...(limits === undefined ? {} : { limits }),
      ...(logger === undefined ? {} : { logger }),
    });
    const run = new A2aSubagentRun({ id: this.#newId(), errand, request, delegate, held, checks });
    await run.begun;
    return run;
  }

  #errandOf({ label }: SubagentRequest): A2aErrand {
    const { errand, errands = {} } = this.#options;
    return Object.hasOwn(errands, label) ? (errands[label] ?? errand) : errand;
  }
}

/** @throws SubagentStartError for a schema that nobody promised to keep to, or that cannot be used. */
function checksOf({ outputSchema }: A2aErrand, request: SubagentRequest): OutputChecks | undefined {
  if (request.outputSchema === undefined) return undefined;
  if (outputSchema === undefined) throw new SubagentCapabilityError('a2a', 'outputSchema');
  return { promised: outputCheck(outputSchema), wanted: outputCheck(request.outputSchema) };
}
