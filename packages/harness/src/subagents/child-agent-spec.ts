import type { AgentOptions } from '../agent/agent-options.js';
import type { AgentEventSink } from '../events.js';
import type { Message } from '../messages.js';
import type { RunBudget } from '../result.js';
import type { ToolHandler } from '../tools/tool-handler.js';
import { bothBudgets, smaller } from './merge-budgets.js';
import type { SubagentRequest } from './subagent-types.js';
import type { SubmitResultHandler } from './submit-result-handler.js';
import { SubagentTool } from './subagent-tool.js';
import { FilteredToolHandler } from './tool-filter.js';

export interface ChildAgentParts {
  readonly agentId: string;
  readonly sink: AgentEventSink;
  readonly submit: SubmitResultHandler | undefined;
  /** The child's own history, once it exists. */
  readonly history: () => readonly Message[];
}

const SUBMIT_PROMPT =
  'When the task is done, hand in its result with the tool submit_result; plain text does not count.';

/** What a child is to be, for whoever makes it. */
export class ChildAgentSpec {
  #applied = false;

  constructor(
    readonly request: SubagentRequest,
    private readonly parts: ChildAgentParts,
  ) {}

  get agentId(): string {
    return this.parts.agentId;
  }

  /** 1 for a child of the first agent. */
  get depth(): number {
    return this.request.parent.depth + 1;
  }

  /** True once `apply` was called: without it nothing of what the request asks for holds. */
  get applied(): boolean {
    return this.#applied;
  }

  /**
   * The options of the child, made of those that the host would give to any agent: persona, tool filter, depth,
   * limits and the tool for its result are put in. Handlers must be the child's own, or borrowed (`borrowHandler`): it
   * stops them when it ends.
   */
  apply(base: AgentOptions): AgentOptions {
    this.#applied = true;
    const systemPrompt = [this.request.persona, base.systemPrompt, this.parts.submit && SUBMIT_PROMPT]
      .filter((part) => part !== undefined && part !== '')
      .join('\n\n');
    return {
      ...base,
      agentId: this.agentId,
      systemPrompt,
      handlers: this.#handlers(base.handlers ?? []),
      runtimePolicy: { ...base.runtimePolicy, ...this.#limits(base) },
      sinks: [...(base.sinks ?? []), this.parts.sink],
    };
  }

  #handlers(handlers: readonly ToolHandler[]): ToolHandler[] {
    const { toolFilter } = this.request;
    const own = handlers.map((handler) => (handler instanceof SubagentTool ? this.#descend(handler) : handler));
    const seen = toolFilter === undefined ? own : own.map((handler) => new FilteredToolHandler(handler, toolFilter));
    return this.parts.submit === undefined ? seen : [...seen, this.parts.submit];
  }

  #descend(tool: SubagentTool): SubagentTool {
    const { maxDepth, toolFilter, agentOptions = {} } = this.request;
    return tool.forChild({
      depth: this.depth,
      history: this.parts.history,
      maxDepth,
      toolFilter,
      maxTurns: agentOptions.maxTurns,
      budget: agentOptions.budget,
    });
  }

  #limits({ runtimePolicy }: AgentOptions): { maxSteps?: number; budget?: RunBudget; requireExplicitFinish?: boolean } {
    const { maxTurns, budget: wanted } = this.request.agentOptions ?? {};
    const maxSteps = maxTurns === undefined ? undefined : smaller(runtimePolicy?.maxSteps ?? 20, maxTurns);
    const budget = bothBudgets(runtimePolicy?.budget, wanted);
    return {
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(budget === undefined ? {} : { budget }),
      ...(this.parts.submit === undefined ? {} : { requireExplicitFinish: true }),
    };
  }
}
