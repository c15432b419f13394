import { Agent } from '../src/agent/agent.js';
import type { AgentOptions } from '../src/agent/agent-options.js';
import type { AgentEvent, AgentEventKind, AgentEventPayload } from '../src/events.js';
import { ScriptedModel, type ScriptedStep } from '../src/model/scripted-model.js';
import type { AgentRunResult } from '../src/result.js';
import { checkRuns } from './check-invariants.js';
import { LabTools } from './lab-tools.js';
import type { MemoryJournal } from './memory-journal.js';

export interface LabOptions extends Omit<AgentOptions, 'session'> {
  readonly session?: MemoryJournal;
  /** Called with every event, before anything else happens; may act upon the agent. */
  readonly onEvent?: (event: AgentEvent, lab: Lab) => void | Promise<void>;
}

/** One agent with a scripted model, whose events are kept and whose runs are checked. */
export class Lab {
  readonly model: ScriptedModel;
  readonly agent: Agent;
  readonly tools: LabTools;
  readonly events: AgentEvent[] = [];
  readonly results: AgentRunResult[] = [];
  readonly warnings: string[] = [];
  readonly #session: MemoryJournal | undefined;

  constructor(steps: readonly ScriptedStep[] | ScriptedModel, options: LabOptions = {}) {
    const { onEvent, ...agentOptions } = options;
    this.model = steps instanceof ScriptedModel ? steps : new ScriptedModel(steps);
    this.tools = new LabTools();
    this.#session = options.session;
    let ids = 0;
    this.agent = new Agent(this.model, {
      agentId: 'lab',
      handlers: [this.tools],
      logger: { warn: (message) => this.warnings.push(message) },
      newId: () => (ids += 1).toString(16).padStart(32, '0'),
      ...agentOptions,
      sinks: [{ emit: (event) => this.#take(event, onEvent) }, ...(options.sinks ?? [])],
    });
  }

  /** Every event as a short text, of all runs together. */
  get trace(): readonly string[] {
    return this.events.map(({ payload }) => textOf(payload));
  }

  /** The events of the last run. */
  get lastTrace(): readonly string[] {
    const runId = this.events.at(-1)?.runId;
    return this.events.filter((event) => event.runId === runId).map(({ payload }) => textOf(payload));
  }

  /** Runs a task and checks everything about it. */
  async run(task = 'go', options?: Parameters<Agent['run']>[1]): Promise<AgentRunResult> {
    const result = await this.agent.run(task, options);
    await this.check();
    return result;
  }

  /** Waits until nothing goes on, then checks every run so far. */
  async check(): Promise<void> {
    await this.agent.waitForIdle();
    const restored = this.#session?.messages;
    checkRuns(this.events, this.agent.messages, this.results, restored === undefined ? {} : { restored });
  }

  /** Waits until the model has been asked so many times. */
  async requested(times: number): Promise<void> {
    while (this.model.requests.length < times) await new Promise((resolve) => setImmediate(resolve));
  }

  /** All events of one kind. */
  of<K extends AgentEventKind>(kind: K): Extract<AgentEventPayload, { kind: K }>[] {
    return this.events.flatMap(({ payload }) =>
      payload.kind === kind ? [payload as Extract<AgentEventPayload, { kind: K }>] : [],
    );
  }

  async #take(event: AgentEvent, onEvent: LabOptions['onEvent']): Promise<void> {
    this.events.push(event);
    if (event.payload.kind === 'agent_finished') this.results.push(event.payload.result);
    await onEvent?.(event, this);
  }
}

/** Does something at every event of a kind. */
export function at(kind: AgentEventKind, act: (lab: Lab) => unknown): NonNullable<LabOptions['onEvent']> {
  return ({ payload }, lab) => {
    if (payload.kind === kind) act(lab);
  };
}

/** An event in a few words. */
export function textOf(payload: AgentEventPayload): string {
  switch (payload.kind) {
    case 'agent_started':
      return `agent_started ${payload.task}`;
    case 'turn_started':
    case 'turn_completed':
      return `${payload.kind} ${String(payload.turn)}`;
    case 'steering_applied':
      return `steering_applied ${payload.control.content} @${String(payload.targetTurn)}`;
    case 'steering_discarded':
      return `steering_discarded ${payload.control.content} ${payload.reason}`;
    case 'assistant_text_delta':
    case 'assistant_thinking_delta':
      return `${payload.kind} ${payload.delta}`;
    case 'tool_started':
      return `tool_started ${payload.toolCall.id}`;
    case 'tool_progressed':
      return `tool_progressed ${payload.toolCall.id} ${payload.update.message}`;
    case 'tool_completed':
      return `tool_completed ${payload.toolCall.id}${payload.result.cancelled ? ' cancelled' : ''}`;
    case 'compaction_started':
      return `compaction_started ${payload.request.trigger}`;
    case 'compaction_completed':
    case 'compaction_failed':
      return `${payload.kind} ${payload.result.status}`;
    case 'agent_finished':
      return `agent_finished ${payload.result.stopReason}`;
    default:
      return payload.kind;
  }
}
