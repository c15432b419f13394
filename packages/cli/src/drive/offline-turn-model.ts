import {
  type Message,
  type ModelAdapter,
  type ModelRequest,
  type ModelStreamEvent,
  OfflineModel,
  type ToolCall,
  type ToolDefinition,
  usageOf,
} from '@parley/harness';
import { readTurnSteps, type TurnStep } from './turn-steps.js';

const INTRODUCTION =
  'No language model is configured: the offline driver has done what the message says in so many words, one after the other.';
const COMMAND_TOOL = 'bash';
const MAX_STEPS = 40;
const MAX_QUOTED = 1_200;

/** A step with the call that it is, or why it is none. */
interface Plan {
  readonly calls: readonly { readonly title: string; readonly name: string; readonly arguments: string }[];
  readonly notes: readonly string[];
}

/**
 * Plays a turn without a model and says so: runs the commands of fenced shell blocks and of lines that begin with `$ `,
 * calls the tools of lines such as `tool add {"a": 1, "b": 2}`, and tells what they gave. For a message with neither,
 * the harness's offline model looks for tools that fit its words.
 */
export class OfflineTurnModel implements ModelAdapter {
  readonly name = 'offline';
  readonly offline = true;
  readonly #words = new OfflineModel();

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    const open = openPart(request.messages);
    const asked = open.flatMap((message) => (message.role === 'user' ? [message.content] : []));
    const steps = asked.flatMap(readTurnSteps).slice(0, MAX_STEPS);
    if (steps.length === 0) {
      yield* this.#words.stream(request, signal);
      return;
    }
    await Promise.resolve();
    signal.throwIfAborted();
    const plan = planOf(steps, request.tools);
    const made = open.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
    const next = plan.calls[made.length];
    const content = next === undefined ? summaryOf(plan, made, open) : null;
    const toolCalls = next === undefined ? [] : [{ id: idFor(request.messages), ...callOf(next) }];
    if (content !== null) yield { type: 'text_delta', delta: content };
    const usage = usageOf(estimate(request.messages), Math.ceil((content ?? next?.arguments ?? '').length / 4) + 1);
    yield {
      type: 'completed',
      response: {
        message: { role: 'assistant', content, toolCalls, usage },
        usage,
        finishReason: next === undefined ? 'stop' : 'tool_calls',
      },
    };
  }
}

/** What has been asked and done since the last answer. */
function openPart(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex((message) => message.role === 'assistant' && message.toolCalls.length === 0);
  return messages.slice(last + 1);
}

function planOf(steps: readonly TurnStep[], tools: readonly ToolDefinition[]): Plan {
  const names = new Set(tools.map(({ name }) => name));
  const calls: Plan['calls'][number][] = [];
  const notes: string[] = [];
  for (const step of steps) {
    if (step.kind === 'unreadable') {
      notes.push(`The arguments are no JSON object: ${cut(step.line)}`);
      continue;
    }
    const call =
      step.kind === 'command'
        ? { title: `$ ${step.command}`, name: COMMAND_TOOL, arguments: JSON.stringify({ command: step.command }) }
        : { title: `${step.name} ${step.arguments}`, name: step.name, arguments: step.arguments };
    if (names.has(call.name)) calls.push(call);
    else notes.push(`There is no tool ${call.name} for: ${cut(call.title)}`);
  }
  return { calls, notes };
}

function summaryOf({ calls, notes }: Plan, made: readonly ToolCall[], open: readonly Message[]): string {
  const results = new Map(open.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one.content] as const] : [])));
  const told = calls.map(({ title }, index) => {
    const result = results.get(made[index]?.id ?? '') ?? '(no result)';
    return `${cut(title)}\n${result === '' ? '(no output)' : cut(result)}`;
  });
  return [INTRODUCTION, ...told, ...notes].join('\n\n');
}

function callOf({ name, arguments: text }: Plan['calls'][number]): Omit<ToolCall, 'id'> {
  return { name, arguments: text };
}

/** From the place in the history: the same every time. */
function idFor(messages: readonly Message[]): string {
  return `offline_${messages.length}`;
}

function estimate(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + Math.ceil((content?.length ?? 0) / 4), 0);
}

function cut(text: string): string {
  return text.length <= MAX_QUOTED
    ? text
    : `${text.slice(0, MAX_QUOTED)}… (${text.length - MAX_QUOTED} more characters)`;
}
