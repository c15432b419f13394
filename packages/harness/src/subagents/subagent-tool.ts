import type { ToolEffect } from '../enums.js';
import { messageOf } from '../errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { Message } from '../messages.js';
import type { RunBudget } from '../result.js';
import { normalizeToolDefinition } from '../tools/normalize-tool-definition.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolCallContext, ToolHandler } from '../tools/tool-handler.js';
import { CallSupervisor, type ChildEnd } from './call-supervisor.js';
import { bothBudgets, smaller } from './merge-budgets.js';
import { safeDiagnostic } from './safe-diagnostic.js';
import type { SubagentRegistry } from './subagent-registry.js';
import { parseSubagentCall, subagentParameters, type SubagentCall } from './subagent-call.js';
import type { SubagentRequest, SubagentResult, SubagentToolFilter } from './subagent-types.js';
import { bothFilters } from './tool-filter.js';

export interface SubagentToolOptions {
  /** Default `subagent`. */
  readonly name?: string;
  /** Used where the model names none. Default the first that was registered. */
  readonly defaultProvider?: string;
  /** How many parents the agent has that uses the tool. Default 0. */
  readonly depth?: number;
  /** The deepest child; an agent at this depth is not offered the tool. Default 1. */
  readonly maxDepth?: number;
  /** The agent's history, for children that begin with it: `() => agent.messages`. */
  readonly history?: () => readonly Message[];
  /** Turns of a child at most, whatever the model asks for. */
  readonly maxTurns?: number;
  /** Limits of each child. */
  readonly budget?: RunBudget;
  /** What children may use at most. Providers that cannot hold them to it are refused then. */
  readonly toolFilter?: SubagentToolFilter;
  /** Default `side_effecting`; `read_only` lets several children run at the same time. */
  readonly effect?: ToolEffect;
  /** A child's whole time, in milliseconds. Default 1,800,000. */
  readonly timeoutMs?: number;
  /** How long a cancelled child is waited for, in milliseconds, before its result counts as unknown. Default 5,000. */
  readonly cancelGraceMs?: number;
  /** Children of this tool at the same time. Default 8. */
  readonly maxConcurrent?: number;
}

/** What a child's own tool keeps to. */
export interface ChildToolLimits {
  readonly depth: number;
  readonly history: () => readonly Message[];
  readonly maxDepth: number | undefined;
  readonly toolFilter: SubagentToolFilter | undefined;
  readonly maxTurns: number | undefined;
  readonly budget: RunBudget | undefined;
}

const UNKNOWN_OUTCOME = 'outcome unknown: the subagent had started and may have acted';
const UNKNOWN_START = 'outcome unknown: the subagent may still start before it is ended';

/** The tool with which a model hands a task to a child. Made by {@link subagentTool}. */
export class SubagentTool implements ToolHandler {
  readonly #supervisor: CallSupervisor;
  #offered: { readonly providers: string; readonly tools: readonly ToolDefinition[] } | undefined;

  constructor(
    private readonly registry: SubagentRegistry,
    private readonly options: SubagentToolOptions = {},
  ) {
    this.#supervisor = new CallSupervisor({
      timeoutMs: options.timeoutMs ?? 1_800_000,
      cancelGraceMs: options.cancelGraceMs ?? 5_000,
      maxConcurrent: options.maxConcurrent ?? 8,
    });
  }

  /** Nothing where children are not allowed or nobody provides any. */
  get tools(): readonly ToolDefinition[] {
    const providers = this.#depth < this.#maxDepth ? this.registry.list() : [];
    const key = providers.join(' ');
    if (this.#offered?.providers !== key) this.#offered = { providers: key, tools: this.#define(providers) };
    return this.#offered.tools;
  }

  get #depth(): number {
    return this.options.depth ?? 0;
  }

  get #maxDepth(): number {
    return this.options.maxDepth ?? 1;
  }

  /** The same tool for a child of the agent that has this one: one deeper, and within the child's own limits. */
  forChild(child: ChildToolLimits): SubagentTool {
    const { options } = this;
    const maxTurns = smaller(options.maxTurns, child.maxTurns);
    const budget = bothBudgets(options.budget, child.budget);
    const toolFilter = bothFilters(options.toolFilter, child.toolFilter);
    return new SubagentTool(this.registry, {
      ...options,
      depth: child.depth,
      maxDepth: smaller(this.#maxDepth, child.maxDepth) ?? this.#maxDepth,
      history: child.history,
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(budget === undefined ? {} : { budget }),
      ...(toolFilter === undefined ? {} : { toolFilter }),
    });
  }

  /** Cancels the children that are still there and waits until they are gone. */
  async stop(): Promise<void> {
    await this.#supervisor.stop();
  }

  async call(context: ToolCallContext): Promise<StepOutcome> {
    const call = parseSubagentCall(context.arguments);
    if (typeof call === 'string') return this.#failure(context, { started: false, error: call });
    const provider = call.provider ?? this.options.defaultProvider ?? this.registry.list()[0] ?? '';
    const label = call.label ?? provider;
    const end = await this.#supervisor.run({
      start: (signal) => this.registry.start(provider, this.#request(context, call, provider, label, signal)),
      label,
      signal: context.signal,
      progress: context.progress,
    });
    context.signal.throwIfAborted();
    return this.#outcome(context, provider, end);
  }

  #define(providers: readonly string[]): readonly ToolDefinition[] {
    if (providers.length === 0) return [];
    return [
      normalizeToolDefinition({
        name: this.options.name ?? 'subagent',
        description:
          'Hands a task to a subagent, waits for it and gives back its answer. The subagent sees only the task: put ' +
          'everything in that it has to know.',
        parameters: subagentParameters(providers),
        effect: this.options.effect ?? 'side_effecting',
      }),
    ];
  }

  #request(
    context: ToolCallContext,
    call: SubagentCall,
    provider: string,
    label: string,
    signal: AbortSignal,
  ): SubagentRequest {
    const { options } = this;
    const maxTurns = smaller(options.maxTurns, call.maxTurns);
    const toolFilter = bothFilters(options.toolFilter, call.tools === undefined ? undefined : { include: call.tools });
    // A child that owns its depth cannot be held to ours; that this agent is not too deep was seen to already.
    const canLimitDepth = this.registry.get(provider)?.capabilities.depthLimit === true;
    return {
      label,
      prompt: [{ type: 'text', text: call.task }],
      parent: {
        agentId: context.agentId,
        runId: context.runId,
        depth: this.#depth,
        ...(options.history === undefined ? {} : { history: options.history }),
      },
      signal,
      agentOptions: {
        ...(maxTurns === undefined ? {} : { maxTurns }),
        ...(options.budget === undefined ? {} : { budget: options.budget }),
        ...(call.context === undefined ? {} : { context: call.context }),
      },
      ...(call.outputSchema === undefined ? {} : { outputSchema: call.outputSchema }),
      ...(canLimitDepth ? { maxDepth: this.#maxDepth } : {}),
      ...(toolFilter === undefined ? {} : { toolFilter }),
      ...(call.persona === undefined ? {} : { persona: call.persona }),
    };
  }

  #outcome(context: ToolCallContext, provider: string, end: ChildEnd): StepOutcome {
    switch (end.kind) {
      case 'not_started':
        return this.#failure(context, { started: false, provider, error: safeDiagnostic(messageOf(end.error)) });
      case 'no_result':
        return this.#failure(context, {
          started: end.started,
          provider,
          error: `${end.reason}; ${end.started ? UNKNOWN_OUTCOME : UNKNOWN_START}`,
        });
      case 'ended':
        return end.result.stopReason === 'completed'
          ? new StepOutcome(end.result.structured ?? (end.result.output || '(no answer)'))
          : this.#unfinished(context, provider, end.result, end.timedOut);
    }
  }

  #unfinished(context: ToolCallContext, provider: string, result: SubagentResult, timedOut: boolean): StepOutcome {
    const reason = timedOut ? 'the subagent took too long' : (result.diagnostic ?? result.stopReason);
    return this.#failure(context, {
      started: true,
      provider,
      stop_reason: result.stopReason,
      error: `${reason}; ${UNKNOWN_OUTCOME}`,
      ...(result.output === '' ? {} : { output: result.output }),
    });
  }

  #failure(context: ToolCallContext, fields: JsonObject & { readonly error: string }): StepOutcome {
    const data: Record<string, JsonValue> = { status: 'error', tool: context.tool.name, ...fields };
    return new StepOutcome(data, { error: fields.error });
  }
}

/**
 * A tool `subagent {task, provider?, label?, …}` for the agent whose handlers it is put among. Its children get the
 * same tool, one deeper, if their options are made of the same handlers.
 */
export function subagentTool(registry: SubagentRegistry, options: SubagentToolOptions = {}): SubagentTool {
  return new SubagentTool(registry, options);
}
