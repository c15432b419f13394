import { randomUUID } from 'node:crypto';
import type { AgentApi } from '../agent/agent-api.js';
import { messageOf } from '../errors.js';
import { quietLogger, type HarnessLogger } from '../logger.js';
import { untilAborted } from '../tools/until-aborted.js';
import { ChildAgentSpec } from './child-agent-spec.js';
import { ChildUpdates } from './child-updates.js';
import { InProcessRun } from './in-process-run.js';
import { promptText } from './prompt-text.js';
import { safeDiagnostic } from './safe-diagnostic.js';
import { settledHistory } from './settled-history.js';
import { SubagentStartError } from './subagent-errors.js';
import type { SubagentProvider, SubagentRequest, SubagentRun } from './subagent-types.js';
import { SubmitResultHandler } from './submit-result-handler.js';
import { UpdateChannel } from './update-channel.js';

/**
 * Makes the agent of a child. Its options go through `spec.apply`; a child made without that is refused. The model may
 * be shared, handlers and the session may not.
 */
export type CreateChildAgent = (spec: ChildAgentSpec, signal: AbortSignal) => AgentApi | Promise<AgentApi>;

export interface InProcessSubagentOptions {
  readonly createAgent: CreateChildAgent;
  /** Whether children begin with their parent's history, where the request does not say. Default `fresh`. */
  readonly context?: 'fresh' | 'fork';
  readonly logger?: HarnessLogger;
  /** 32 hexadecimal digits, new each time. */
  readonly newId?: () => string;
}

/**
 * Subagents that are second agents in this process.
 *
 * @example
 * ```ts
 * registry.register('in-process', new InProcessSubagentProvider({
 *   createAgent: (spec) => new Agent(model, spec.apply({ handlers: [new FileTools(root)] })),
 * }));
 * ```
 */
export class InProcessSubagentProvider implements SubagentProvider {
  readonly capabilities = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true } as const;
  readonly #logger: HarnessLogger;
  readonly #newId: () => string;

  constructor(private readonly options: InProcessSubagentOptions) {
    this.#logger = options.logger ?? quietLogger;
    this.#newId = options.newId ?? (() => randomUUID().replaceAll('-', ''));
  }

  async start(request: SubagentRequest): Promise<SubagentRun> {
    const { signal, parent } = request;
    const submit = request.outputSchema === undefined ? undefined : new SubmitResultHandler(request.outputSchema);
    const history = this.#history(request);
    const id = this.#newId();
    const updates = new UpdateChannel();
    let agent: AgentApi | undefined;
    const spec = new ChildAgentSpec(request, {
      agentId: `${parent.agentId}.${id.slice(0, 8)}`,
      sink: new ChildUpdates((update) => updates.push(update)),
      submit,
      history: () => agent?.messages ?? [],
    });
    try {
      agent = await this.#create(spec, signal);
      if (!spec.applied) throw new Error('its options were not made with spec.apply');
      if (history.length > 0) agent.reset(history);
      await untilAborted(agent.start(), signal);
    } catch (error) {
      await this.#discard(agent);
      throw startError(error, signal);
    }
    return new InProcessRun({
      id,
      agent,
      task: promptText(request.prompt),
      signal,
      submit,
      updates,
      logger: this.#logger,
    });
  }

  /** An agent that comes after the request was cancelled is shut down. */
  async #create(spec: ChildAgentSpec, signal: AbortSignal): Promise<AgentApi> {
    signal.throwIfAborted();
    const making = Promise.resolve(this.options.createAgent(spec, signal));
    return untilAborted(making, signal, (late) => void this.#discard(late));
  }

  #history({ agentOptions, parent }: SubagentRequest): ReturnType<typeof settledHistory> {
    const context = agentOptions?.context ?? this.options.context ?? 'fresh';
    if (context === 'fresh') return [];
    if (parent.history === undefined) {
      throw new SubagentStartError(
        'subagent_no_history',
        'the parent has no history that the subagent could begin with',
      );
    }
    return settledHistory(parent.history());
  }

  async #discard(agent: AgentApi | undefined): Promise<void> {
    try {
      await agent?.shutdown();
    } catch (error) {
      this.#logger.warn('a subagent that was not started did not shut down well', { error: messageOf(error) });
    }
  }
}

function startError(error: unknown, signal: AbortSignal): SubagentStartError {
  if (signal.aborted)
    return new SubagentStartError('subagent_cancelled', 'cancelled before it started', { cause: error });
  return new SubagentStartError('subagent_start_failed', safeDiagnostic(messageOf(error)), { cause: error });
}
