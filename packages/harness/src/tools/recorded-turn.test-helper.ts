import type { AgentEventPayload } from '../events.js';
import type { ToolCall, ToolMessage } from '../messages.js';
import type { RunObserver } from '../run-observer.js';
import { defineTool } from './define-tool.js';
import type { DefinedTool } from './define-tool.js';
import { toolHandler } from './tool-group.js';
import type { ToolCallContext } from './tool-handler.js';
import { ToolRuntime, type ToolRuntimeOptions } from './tool-runtime.js';
import type { ToolTurn } from './tool-turn.js';

let turns = 0;

/** A turn that keeps what it is told, and can be aborted. */
export interface RecordedTurn extends ToolTurn {
  readonly controller: AbortController;
  readonly events: AgentEventPayload[];
  readonly committed: ToolMessage[];
  /** `started c1`, `committed c1 c2`, `completed c1`, … in the order in which they came. */
  readonly log: string[];
}

export interface RecordedTurnOptions {
  readonly runId?: string;
  readonly observers?: readonly RunObserver[];
  /** Runs inside `emit`, after the event was kept. */
  readonly onEvent?: (payload: AgentEventPayload, turn: RecordedTurn) => unknown;
  readonly onCommit?: (messages: readonly ToolMessage[], turn: RecordedTurn) => unknown;
}

/** Calls as `name` or `name {"json": 1}`; their ids are c1, c2, … */
export function recordedTurn(calls: readonly (string | ToolCall)[], options: RecordedTurnOptions = {}): RecordedTurn {
  const controller = new AbortController();
  turns += 1;
  const turn: RecordedTurn = {
    agentId: 'agent',
    runId: options.runId ?? 'run',
    turn: turns,
    message: { role: 'assistant', content: null, toolCalls: calls.map(callOf) },
    controller,
    signal: controller.signal,
    observers: options.observers ?? [],
    events: [],
    committed: [],
    log: [],
    emit: async (payload) => {
      turn.events.push(payload);
      if ('toolCall' in payload) turn.log.push(`${payload.kind.replace('tool_', '')} ${payload.toolCall.id}`);
      await options.onEvent?.(payload, turn);
    },
    commit: async (messages) => {
      turn.committed.push(...messages);
      turn.log.push(`committed ${messages.map((message) => message.toolCallId).join(' ')}`);
      await options.onCommit?.(messages, turn);
    },
  };
  return turn;
}

function callOf(call: string | ToolCall, index: number): ToolCall {
  if (typeof call !== 'string') return call;
  const blank = call.indexOf(' ');
  const name = blank < 0 ? call : call.slice(0, blank);
  return { id: `c${index + 1}`, name, arguments: blank < 0 ? '{}' : call.slice(blank + 1) };
}

/** The content of the result of each call, in the order of completion. */
export function contents(turn: RecordedTurn): string[] {
  return completed(turn).map((payload) => payload.result.message.content);
}

export function completed(turn: RecordedTurn): Extract<AgentEventPayload, { kind: 'tool_completed' }>[] {
  return turn.events.filter((payload) => payload.kind === 'tool_completed');
}

/** The log without commits. */
export function order(turn: RecordedTurn): string[] {
  return turn.log.filter((line) => !line.startsWith('committed'));
}

/** A started runtime over tools. */
export async function started(
  tools: readonly DefinedTool[],
  options: Omit<ToolRuntimeOptions, 'handlers'> = {},
): Promise<ToolRuntime> {
  const runtime = new ToolRuntime({ ...options, handlers: [toolHandler(...tools)] });
  await runtime.start(new AbortController().signal);
  return runtime;
}

type Body = (args: Record<string, unknown>, context: ToolCallContext) => unknown;

export function write(name: string, run: Body): DefinedTool {
  return defineTool({ name, description: name, run });
}

export function read(name: string, run: Body): DefinedTool {
  return defineTool({ name, description: name, effect: 'read_only', run });
}

/** A tool that stays in its call until it is let go, one call after the other. */
export function gated(name: string, effect: 'read_only' | 'side_effecting' = 'read_only') {
  const waiting: PromiseWithResolvers<unknown>[] = [];
  let arrivals = 0;
  let onArrival: (() => void) | undefined;
  const tool = defineTool({
    name,
    description: name,
    effect,
    run: () => {
      const entry = Promise.withResolvers<unknown>();
      waiting.push(entry);
      arrivals += 1;
      onArrival?.();
      return entry.promise;
    },
  });
  return {
    tool,
    waiting,
    get arrivals() {
      return arrivals;
    },
    /** Resolves when so many calls have come in all. */
    async arrived(count: number): Promise<void> {
      while (arrivals < count) await new Promise<void>((resolve) => (onArrival = resolve));
    },
  };
}

/** Lets everything that needs no timer happen. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Never ends, whatever it is told. */
export function stubborn(): Promise<never> {
  return new Promise(() => undefined);
}

/** Ends with the signal's reason when it is aborted. */
export function untilSignal(context: ToolCallContext): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(context.signal.reason as Error);
    if (context.signal.aborted) onAbort();
    else context.signal.addEventListener('abort', onAbort, { once: true });
  });
}
